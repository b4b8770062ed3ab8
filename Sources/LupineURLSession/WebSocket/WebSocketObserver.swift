// WebSocketObserver: receives the events of a WebSocket task's transfer: the opening handshake and the end.

import Foundation
import LupineEngine

/// Passes the events of a transfer to its WebSocket task.
final class WebSocketObserver: TransferObserver {
  private let task: URLSessionWebSocketTask

  init(_ task: URLSessionWebSocketTask) { self.task = task }

  func transfer(
    isRedirectedTo request: URLRequest, by response: HTTPURLResponse,
    answer: @escaping @Sendable (URLRequest?) -> Void
  ) {
    task.transfer(isRedirectedTo: request, by: response, answer: answer)
  }

  func transfer(
    isAskedFor challenge: URLAuthenticationChallenge,
    answer: @escaping @Sendable (URLAuthenticationChallenge.Outcome) -> Void
  ) { task.transfer(isAskedFor: challenge, answer: answer) }

  var decidesOnResponse: Bool { true }

  func transfer(didReceive response: URLResponse, answer: @escaping @Sendable (Bool) -> Void) {
    task.transfer(didReceive: response, answer: answer)
  }

  /// Does nothing. The engine passes the frames to the task's channel.
  func transfer(didReceive body: Data) {}

  /// Does nothing, because frames aren't the body of a request.
  func transfer(didSend byteCount: Int64) {}

  func transferAwaitsNetwork() { task.transferAwaitsNetwork() }

  func transferDidEnd(_ error: URLError?) { task.transferDidEnd(error) }
}
