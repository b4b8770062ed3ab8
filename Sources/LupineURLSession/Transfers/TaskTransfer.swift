// TaskTransfer: the interfaces between a task and its transfer, over HTTP or from a local resource.

import Foundation

/// Performs the request of one task: ``Transfer`` over HTTP, and ``LocalTransfer`` for `file:` and
/// `data:` URLs. Reports to a `TransferObserver`.
protocol TaskTransfer: AnyObject, Sendable {
  /// Starts the transfer. Called once.
  func send()
  /// Ends the transfer with `URLError.cancelled`, unless it has already ended.
  func cancel()
  /// Pauses or continues reading.
  ///
  /// `change` numbers the calls in the order in which they were decided. Threads may make them in a different order, so a call
  /// with a lower number than an earlier one has no effect.
  func setSuspended(_ isSuspended: Bool, change: Int)
  /// Adds `byteCount` bytes of the body to the window.
  func grant(_ byteCount: Int)

  /// The latest request, after redirects.
  var currentRequest: URLRequest { get }
  /// The final response's head, or nil before it has arrived.
  var response: URLResponse? { get }
  /// The final response's head if it is an HTTP response, or nil.
  var httpResponse: HTTPURLResponse? { get }
  /// The number of body bytes received, after decoding.
  var receivedByteCount: Int64 { get }
  /// The number of bytes of the request's body that were sent.
  var sentByteCount: Int64 { get }
  /// The length of the request's body in bytes, or nil if it is unknown.
  var bodyByteCount: UInt64? { get }
  /// The measurements. Read only after the end.
  var measurements: URLSessionTaskMetrics.Values { get }
  /// The error with which the task completes instead of the transfer's `URLError`. Nil by default.
  var failure: (any Error)? { get }
}

extension TaskTransfer {
  var failure: (any Error)? { nil }
}

/// Receives a transfer's events and makes its decisions. A task conforms to this protocol, which keeps transfers independent of
/// tasks, so that their tests need no session.
///
/// The methods are called one at a time on the queue on which the transfer delivers. The observer may call an `answer` closure
/// immediately or later, on any thread. Only the first call has an effect.
protocol TransferObserver: AnyObject, Sendable {
  /// Called when the response redirects. The observer must call `answer` with the request to
  /// send, or with nil to present the response itself.
  func transfer(
    isRedirectedTo request: URLRequest, by response: HTTPURLResponse,
    answer: @escaping @Sendable (URLRequest?) -> Void)
  /// Called when the server requires a credential.
  func transfer(
    isAskedFor challenge: URLAuthenticationChallenge,
    answer: @escaping @Sendable (URLAuthenticationChallenge.Outcome) -> Void)
  /// Whether the final response's head must be presented before the body is delivered.
  var decidesOnResponse: Bool { get }
  /// Called with the final response's head. The observer must call `answer` with whether it accepts the body.
  func transfer(didReceive response: URLResponse, answer: @escaping @Sendable (Bool) -> Void)
  /// Called with each piece of the body.
  func transfer(didReceive body: Data)
  /// Called with the total number of bytes of the request's body that were sent.
  func transfer(didSend byteCount: Int64)
  /// Called once, as the last method, when the transfer has ended.
  func transferDidEnd(_ error: URLError?)
}
