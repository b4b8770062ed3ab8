// TaskTransfer: the interfaces between a task and its transfer.

import Foundation

/// An object that performs the request of one task and reports to a `TransferObserver`: a ``Transfer`` over HTTP, a
/// ``LocalTransfer`` for `file:` and `data:` URLs, or a ``ProtocolTransfer`` with a ``URLProtocol``.
protocol TaskTransfer: AnyObject, Sendable {
  /// Starts the transfer. Called once.
  func send()
  /// Ends the transfer with `URLError.cancelled`, unless it has already ended.
  func cancel()
  /// Pauses or continues reading the response.
  ///
  /// `change` numbers the task's changes of state in order. Several threads may call this method in a different order, so a call
  /// has no effect if an earlier call had a higher number.
  func setSuspended(_ isSuspended: Bool, change: Int)
  /// Extends the receive window by `byteCount` bytes of the response's body.
  func extendWindow(by byteCount: Int)
  /// Replaces the observer, and limits the receive window to `windowBytes` bytes of the response's body. Called before the earlier
  /// observer has answered whether it accepts the body.
  func setObserver(_ observer: any TransferObserver, windowBytes: Int)

  /// The latest request of the transfer, after redirects.
  var currentRequest: URLRequest { get }
  /// The head of the final response. Nil until it has arrived.
  var response: URLResponse? { get }
  /// The head of the final response if it is an HTTP response. Nil otherwise.
  var httpResponse: HTTPURLResponse? { get }
  /// The number of bytes of the response's body received so far, after content decoding.
  var receivedByteCount: Int64 { get }
  /// The number of bytes of the request's body sent so far.
  var sentByteCount: Int64 { get }
  /// The length of the request's body in bytes. Nil if it is unknown.
  var bodyByteCount: UInt64? { get }
  /// The measurements of the transfer's requests. Must be read only after the transfer has ended.
  var measurements: URLSessionTaskMetrics.Values { get }
  /// The error with which the task completes instead of the transfer's `URLError`. Nil by default.
  var failure: (any Error)? { get }
  /// Whether the response comes from the session's cache instead of the origin. False by default.
  var isServed: Bool { get }
  /// Removes and returns the complete response that the session's cache can store. Returns nil if there is none, which is the
  /// default.
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

/// An object that receives a transfer's events and makes its decisions. `URLSessionTask` conforms to this protocol. Transfers don't
/// depend on that class, so that they can be tested without a session.
///
/// The methods are called one at a time on the queue on which the transfer delivers. The observer may call an `answer` closure
/// immediately or later, on any thread. Only the first call of the closure has an effect.
protocol TransferObserver: AnyObject, Sendable {
  /// Called when a response redirects. The observer must call `answer` with the request to send, or with nil to make the response
  /// that redirects the final response.
  func transfer(
    isRedirectedTo request: URLRequest, by response: HTTPURLResponse,
    answer: @escaping @Sendable (URLRequest?) -> Void)
  /// Called when a server or a proxy requires a credential. The observer must call `answer` with its decision.
  func transfer(
    isAskedFor challenge: URLAuthenticationChallenge,
    answer: @escaping @Sendable (URLAuthenticationChallenge.Outcome) -> Void)
  /// Whether the observer must receive the head of the final response before the body is delivered.
  var decidesOnResponse: Bool { get }
  /// Called with the head of the final response. The observer must call `answer`: with true to accept the body, or with false to
  /// cancel the transfer.
  func transfer(didReceive response: URLResponse, answer: @escaping @Sendable (Bool) -> Void)
  /// Called with each piece of the response's body.
  func transfer(didReceive body: Data)
  /// Called with the total number of bytes of the request's body sent so far.
  func transfer(didSend byteCount: Int64)
  /// Called once, when the transfer begins to wait for a network.
  func transferAwaitsNetwork()
  /// The last call, instead of `transferDidEnd`, if a URLProtocol answers the request to which a server has redirected. `count` is
  /// the number of redirects, including this one.
  func transfer(isHandedOverTo request: URLRequest, redirectCount count: Int)
  /// Returns whether a URLProtocol answers the request, to which a server has redirected.
  func isAnsweredByProtocol(_ request: URLRequest) -> Bool
  /// The last call, when the transfer has ended. `error` is nil if the transfer has succeeded.
  func transferDidEnd(_ error: URLError?)
}
