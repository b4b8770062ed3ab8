// TaskTransfer: the interface of a task to its transfer, over HTTP or from a local resource.

import Foundation

/// The work on one task's request: ``Transfer`` over HTTP, ``LocalTransfer`` for `file:` and `data:` URLs. It reports to a
/// `TransferObserver`.
protocol TaskTransfer: AnyObject, Sendable {
  /// Starts the transfer; called once.
  func send()
  /// Ends the transfer with `URLError.cancelled`.
  func cancel()
  /// Stops reading, or goes on.
  func setPaused(_ isPaused: Bool)
  /// Adds that many bytes of the body to the window.
  func grant(_ byteCount: Int)

  /// The request as redirects have left it.
  var currentRequest: URLRequest { get }
  /// The final response's head, once it has arrived.
  var response: URLResponse? { get }
  /// The final response's head if it is one of HTTP.
  var httpResponse: HTTPURLResponse? { get }
  /// Bytes of the body that were received, decoded.
  var receivedByteCount: Int64 { get }
  /// Bytes of the request's body that were sent.
  var sentByteCount: Int64 { get }
  /// The length of the request's body, or nil if it is unknown.
  var bodyByteCount: UInt64? { get }
  /// The measurements; called after the end.
  var measurements: URLSessionTaskMetrics.Values { get }
}

extension Transfer: TaskTransfer {
  var response: URLResponse? { httpResponse }
}
