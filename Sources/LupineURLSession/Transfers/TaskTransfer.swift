// TaskTransfer: the interfaces between a task and its transfer.

import Foundation

/// Performs the request of one task: ``Transfer`` over HTTP, ``LocalTransfer`` for `file:` and `data:` URLs, and
/// ``ProtocolTransfer`` with a ``URLProtocol``. Reports to a `TransferObserver`.
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
  /// Extends the receive window by `byteCount` bytes of the body.
  func extendWindow(by byteCount: Int)
  /// Replaces the observer, and limits the receive window to `windowBytes` bytes of the body. Called before the earlier observer
  /// has answered whether it accepts the body.
  func setObserver(_ observer: any TransferObserver, windowBytes: Int)

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
  /// The measurements of the transfer's requests. Read only after the transfer has ended.
  var measurements: URLSessionTaskMetrics.Values { get }
  /// The error with which the task completes instead of the transfer's `URLError`. Nil by default.
  var failure: (any Error)? { get }
  /// Whether the response comes from the session's cache. False by default.
  var isServed: Bool { get }
  /// Removes and returns the complete response that the session's cache may store. Nil by default.
  func takeStorable() -> StorableResponse?
}

extension TaskTransfer {
  var failure: (any Error)? { nil }
  var isServed: Bool { false }
  func takeStorable() -> StorableResponse? { nil }
}

extension TransferObserver {
  // The defaults are for an observer without a session.
  func transferAwaitsNetwork() {}
  func transfer(isHandedOverTo request: URLRequest, redirectCount count: Int) {}
  func isAnsweredByProtocol(_ request: URLRequest) -> Bool { false }
}

/// Receives a transfer's events and makes its decisions. A task conforms to this protocol. Transfers don't depend on tasks, so
/// that transfers can be tested without a session.
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
  /// Whether the final response's head must be presented to the observer before the body is delivered.
  var decidesOnResponse: Bool { get }
  /// Called with the final response's head. The observer must call `answer`, with true to accept the body.
  func transfer(didReceive response: URLResponse, answer: @escaping @Sendable (Bool) -> Void)
  /// Called with each piece of the body.
  func transfer(didReceive body: Data)
  /// Called with the total number of bytes of the request's body that were sent.
  func transfer(didSend byteCount: Int64)
  /// Called once, when the transfer begins to wait for a network.
  func transferAwaitsNetwork()
  /// Called last, instead of `transferDidEnd`, when a URLProtocol answers the request to which a server has redirected. `count`
  /// is the number of redirects, including this one.
  func transfer(isHandedOverTo request: URLRequest, redirectCount count: Int)
  /// Returns whether a URLProtocol answers a request to which a server has redirected.
  func isAnsweredByProtocol(_ request: URLRequest) -> Bool
  /// Called last and only once, when the transfer has ended. `error` is nil if the transfer has succeeded.
  func transferDidEnd(_ error: URLError?)
}
