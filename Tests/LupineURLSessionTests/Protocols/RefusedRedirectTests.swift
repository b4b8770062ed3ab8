// A redirect that a URLProtocol reports and the session's delegate doesn't follow.

import Foundation
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineURLSession

/// A URLProtocol that redirects requests for "/redirect". After that, it reports a part of a body when the test's delegate calls
/// `report`.
private final class Talkative: URLProtocol, @unchecked Sendable {
  class override func canInit(with request: URLRequest) -> Bool { request.url?.path == "/redirect" }

  override func startLoading() {
    guard let delegate = task?.protocolContext as? Refusing, let url = request.url,
      let response = HTTPURLResponse(url: url, statusCode: 302, httpVersion: "HTTP/1.1", headerFields: nil)
    else { return }
    delegate.report.withLock { $0 = { self.client?.urlProtocol(self, didLoad: Data("late".utf8)) } }
    client?.urlProtocol(self, wasRedirectedTo: URLRequest(url: url), redirectResponse: response)
  }
}

/// A session's delegate that doesn't follow redirects, and lets the URL protocol report a part of a body during the delivery of the
/// redirect's response.
private final class Refusing: NSObject, URLSessionDataDelegate, Sendable {
  let notes = Notes()
  let report = Mutex<(@Sendable () -> Void)?>(nil)

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    notes.add("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
    report.withLock { $0.take() }?()
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    notes.add("data \(String(decoding: data, as: UTF8.self))")
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    notes.add(error == nil ? "end" : "end \((error as? URLError)?.code.rawValue ?? 0)")
  }
}

@Suite(.timeLimit(.minutes(10))) struct RefusedRedirectTests {
  @Test("if a URLProtocol's redirect isn't followed, what the protocol reports afterward doesn't fail the task")
  func lateBody() async throws {
    let delegate = Refusing()
    try await withSession(delegate: delegate) {
      $0.protocolClasses = [Talkative.self]
      $0.protocolContext = delegate
    } _: { session in
      session.dataTask(with: try #require(URL(string: "http://a.stub/redirect"))).resume()
      #expect(await settles { delegate.notes.all.last?.hasPrefix("end") == true })
      #expect(delegate.notes.all == ["response 302", "end"])
    }
  }
}
