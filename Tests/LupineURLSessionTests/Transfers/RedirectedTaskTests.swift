// RedirectedTaskTests: the requests in a redirected task's properties and delegate calls, and the URL in its error.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct RedirectedTaskTests {
  /// A delegate that records the requests that redirects propose and the task's end. It follows redirects unless it is silent.
  private final class Witness: NSObject, URLSessionDataDelegate {
    let proposed = Recorder<URLRequest>()
    let ended = Recorder<(any Error)?>()
    private let isSilent: Bool

    init(isSilent: Bool = false) { self.isSilent = isSilent }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      proposed.record(request)
      if !isSilent { completionHandler(request) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      ended.record(error)
    }
  }

  @Test("the request that a redirect proposes has the fields, timeout and cache policy of the task's original request")
  func proposal() async throws {
    try await withServer { request in
      request.path == "/there" ? .text("there") : Reply(status: 302, fields: ["Location": "/there"])
    } _: { origin in
      let witness = Witness()
      try await withSession(delegate: witness) { session in
        var request = origin.request("/moved")
        request.timeoutInterval = 77
        request.cachePolicy = .reloadIgnoringLocalCacheData
        request.mainDocumentURL = URL(string: origin.url)
        request.setValue("1", forHTTPHeaderField: "X-Own")
        let (original, target) = (request, URL(string: origin.url + "/there"))
        request.url = target
        let task = session.dataTask(with: original)
        task.resume()
        #expect(await witness.proposed.next() == request)
        let end = try #require(await witness.ended.next())
        #expect(end == nil && task.originalRequest == original)
        #expect(task.currentRequest == request && task.response?.url == target)
      }
    }
  }

  @Test("a delegate may change the timeout of a redirected request, and a changed request still bypasses other caches")
  func changedTimeout() throws {
    let session = URLSession(configuration: .ephemeral)
    defer { session.invalidateAndCancel() }
    var proposed = URLRequest(url: try #require(URL(string: "http://a.test/")))
    proposed.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
    var chosen = proposed
    chosen.timeoutInterval = 5
    chosen.setValue("1", forHTTPHeaderField: "X-Own")
    let next = try session.client.convert(proposed)
    let adjusted = try session.client.adjust(next, from: proposed, to: chosen)
    #expect(next.timeouts.firstByte == .seconds(60) && adjusted.timeouts.firstByte == .seconds(5))
    #expect(adjusted.timeouts.total == next.timeouts.total)
    #expect(adjusted.fields.first("Cache-Control") == "no-cache" && adjusted.fields.first("Pragma") == "no-cache")
    #expect(adjusted.fields.first("X-Own") == "1")
  }

  @Test("after too many redirects, the error contains the URL of the last request, and there is no response")
  func limit() async throws {
    // The path is the number of redirects so far.
    try await withServer { request in
      Reply(status: 302, fields: ["Location": "/\((Int(request.path.dropFirst()) ?? 0) + 1)"])
    } _: { origin in
      try await withSession {
        $0.redirectRule.countMax = 3
      } _: { session in
        let tasks = Recorder<URLSessionTask>()
        let result = await outcome { handler in
          let task = session.dataTask(with: origin.request("/0"), completionHandler: handler)
          tasks.record(task)
          return task
        }
        let error = try #require(result.error as? URLError)
        #expect(error.code == .httpTooManyRedirects && error.failingURL == URL(string: origin.url + "/3"))
        #expect(result.data == nil && result.response == nil && origin.requestCount == 4)
        let task = try #require(await tasks.next())
        #expect(task.response == nil)
      }
    }
  }

  @Test("a task whose delegate never answers a redirect stays in progress until it is cancelled")
  func silent() async throws {
    try await withServer { _ in
      Reply(status: 302, fields: ["Location": "/there"])
    } _: { origin in
      let witness = Witness(isSilent: true)
      try await withSession(delegate: witness) { session in
        let task = session.dataTask(with: origin.request())
        task.resume()
        #expect(await witness.proposed.next()?.url?.path == "/there")
        #expect(task.state == .running && origin.requestCount == 1)
        task.cancel()
        #expect((await witness.ended.next() as? URLError)?.code == .cancelled)
        #expect(task.response == nil && origin.requestCount == 1)
      }
    }
  }
}
