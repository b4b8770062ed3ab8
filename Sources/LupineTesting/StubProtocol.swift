// StubProtocol: the URLProtocol through which stubs answer requests.

import Dispatch
import Foundation
import LupineURLSession
import Synchronization

// Unchecked because its superclass is open. All state is protected by the Mutex.
/// Answers the requests of sessions whose configuration has stubs.
final class StubProtocol: URLProtocol, @unchecked Sendable {
  private let isStopped = Mutex(false)
  private let queue = DispatchQueue(label: "lupine.testing.stub")

  override class func canInit(with request: URLRequest) -> Bool { false }

  override class func canInit(with task: URLSessionTask) -> Bool { task.protocolContext is Stubs }

  override func startLoading() {
    guard let stubs = task?.protocolContext as? Stubs else { return }
    do throws(UnmatchedRequest) {
      let reply = try stubs.answer(RecordedRequest(request))
      let (seconds, attoseconds) = reply.delay.components
      if reply.delay <= .zero {
        send(reply)
      } else {
        let delay = TimeInterval(seconds) + TimeInterval(attoseconds) / 1e18
        queue.asyncAfter(deadline: .now() + min(delay, Self.delaySecondsMax)) { [weak self] in self?.send(reply) }
      }
    } catch {
      client?.urlProtocol(self, didFailWithError: error)
    }
  }

  override func stopLoading() { isStopped.withLock { $0 = true } }

  /// The maximum delay: 100 years, to stay far below the clock's maximum.
  private static let delaySecondsMax: TimeInterval = 100 * 365 * 24 * 60 * 60

  private func send(_ reply: StubReply) {
    guard !isStopped.withLock({ $0 }), let client, let url = request.url else { return }
    if reply.hasResponse {
      var fields = reply.headerFields
      if case .complete = reply.ending, !fields.keys.contains(where: { $0.lowercased() == "content-length" }) {
        fields["Content-Length"] = "\(reply.body.count)"
      }
      guard
        let response = HTTPURLResponse(
          url: url, statusCode: reply.status, httpVersion: "HTTP/1.1", headerFields: fields)
      else { return client.urlProtocol(self, didFailWithError: URLError(.badServerResponse)) }
      if let next = redirect(response) {
        return client.urlProtocol(self, wasRedirectedTo: next, redirectResponse: response)
      }
      client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
      for piece in reply.pieces { client.urlProtocol(self, didLoad: piece) }
    }
    switch reply.ending {
    case .complete: client.urlProtocolDidFinishLoading(self)
    case .failure(let error): client.urlProtocol(self, didFailWithError: error)
    }
  }

  /// Returns the request to which a response redirects, or nil if it doesn't redirect. As over the network (RFC 9110 §15.4), a
  /// 303, and a 301 or 302 of a POST, redirect to a GET without a body.
  private func redirect(_ response: HTTPURLResponse) -> URLRequest? {
    guard [301, 302, 303, 307, 308].contains(response.statusCode),
      let location = response.value(forHTTPHeaderField: "Location"),
      let url = URL(string: location, relativeTo: request.url)?.absoluteURL
    else { return nil }
    var next = request
    next.url = url
    let method = request.httpMethod ?? "GET"
    if response.statusCode == 303 && method != "HEAD" || [301, 302].contains(response.statusCode) && method == "POST" {
      next.httpMethod = "GET"
      next.httpBody = nil
      for name in ["Content-Type", "Content-Length"] { next.setValue(nil, forHTTPHeaderField: name) }
    }
    if url.host != request.url?.host || url.port != request.url?.port || url.scheme != request.url?.scheme {
      for name in ["Authorization", "Cookie"] { next.setValue(nil, forHTTPHeaderField: name) }
    }
    return next
  }
}
