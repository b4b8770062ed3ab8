// Held: a URLProtocol that answers only when a test permits it.

import Foundation
import LupineOrigin
import Synchronization

@testable import LupineURLSession

/// A URLProtocol that answers requests for "/held". It blocks its queue until the gate of its session is open. If the URL has the
/// query "late", it reports the response after the end.
final class Held: URLProtocol, @unchecked Sendable {
  final class Gates: Sendable {
    let (started, go, reported, stopped) = (Gate(), Gate(), Gate(), Gate())
    let stopCount = Mutex(0)
  }

  /// The gates of the task's session. The protocol stores them, because a task has no session after its end.
  private let gates = Mutex<Gates?>(nil)

  class override func canInit(with request: URLRequest) -> Bool { request.url?.path == "/held" }

  override func startLoading() {
    guard let gates = task?.protocolContext as? Gates, let url = request.url,
      let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: nil)
    else { return }
    self.gates.withLock { $0 = gates }
    gates.started.open()
    gates.go.waitBlocking()
    let isLate = url.query == "late"
    if !isLate { client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed) }
    client?.urlProtocol(self, didLoad: Data("held".utf8))
    client?.urlProtocolDidFinishLoading(self)
    if isLate { client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed) }
    gates.reported.open()
  }

  override func stopLoading() {
    guard let gates = gates.withLock({ $0 }) else { return }
    gates.stopCount.withLock { $0 += 1 }
    gates.stopped.open()
  }
}
