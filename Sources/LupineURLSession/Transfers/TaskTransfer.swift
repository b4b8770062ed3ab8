// TaskTransfer: the interfaces between a task and its transfer.

import Foundation

/// An object that performs the request of one task, and that reports its events to a `TransferObserver`: a ``Transfer`` over HTTP,
/// a ``LocalTransfer`` for `file:` and `data:` URLs, or a ``ProtocolTransfer`` with a ``URLProtocol``.
protocol TaskTransfer: AnyObject, Sendable {
  /// Starts the transfer by sending its request. Called once.
  func send()
  /// Ends the transfer with `URLError.cancelled`, unless it has already ended.
  func cancel()
  /// Pauses or continues reading the response.
  ///
  /// `change` numbers the changes of the task's state. Threads may call this method in a different order than the changes occurred
  /// in, so a call has no effect after a call with a higher number.
  func setSuspended(_ isSuspended: Bool, change: Int)
  /// Extends the receive window of a streamed body, so that the transfer may receive `byteCount` more bytes.
  func extendWindow(by byteCount: Int)
  /// Replaces the observer by one that calls `extendWindow(by:)`. Called before the previous observer has decided whether to accept
  /// the body.
  func setStreamingObserver(_ observer: any TransferObserver)

  /// The request that the transfer has sent most recently, after redirects.
  var currentRequest: URLRequest { get }
  /// The head of the final response. Nil until the transfer has received it.
  var response: URLResponse? { get }
  /// The head of the final response if it is an HTTP response. Nil before it has been received, and for other responses.
  var httpResponse: HTTPURLResponse? { get }
  /// The number of bytes of the response's body that were received so far, after content decoding.
  var receivedByteCount: Int64 { get }
  /// The number of bytes of the request's body that were sent so far.
  var sentByteCount: Int64 { get }
  /// The length of the request's body in bytes. Nil if it is unknown.
  var bodyByteCount: UInt64? { get }
  /// The metrics of the transfer's requests. Must be read only after the transfer has ended.
  var measurements: URLSessionTaskMetrics.Values { get }
  /// The error with which the task completes in place of the transfer's `URLError`. Nil by default.
  var failure: (any Error)? { get }
  /// Whether the response comes from the session's cache instead of the origin. False by default.
  var isServed: Bool { get }
  /// Removes and returns the complete response that the session's cache can store. Returns nil (the default) if there is none.
  func takeStorable() -> StorableResponse?
  /// Returns the complete response, with this body, in the form in which the session's cache stores it if the task's delegate has
  /// decided so, although the response isn't reusable by itself. Returns nil (the default) if the cache can't store it.
  func undecided(_ body: Data) -> StorableResponse?
}

extension TaskTransfer {
  var httpResponse: HTTPURLResponse? { response as? HTTPURLResponse }
  var failure: (any Error)? { nil }
  var isServed: Bool { false }
  func takeStorable() -> StorableResponse? { nil }
  func undecided(_ body: Data) -> StorableResponse? { nil }
}

extension TransferObserver {
  // These default implementations are sufficient for an observer without a session.
  func transferAwaitsNetwork() {}
  func transfer(isHandedOverTo request: URLRequest, redirectCount count: Int) {}
  func isAnsweredByProtocol(_ request: URLRequest) -> Bool { false }
  func credential(for space: URLProtectionSpace) -> URLCredential? { nil }
}

/// An object that receives a transfer's events and makes decisions for the transfer. `URLSessionTask` conforms to this protocol.
/// Transfers don't depend on that class, so that they can be tested without a session.
///
/// The methods are called one at a time, on the queue on which the transfer delivers its events. The observer may call an `answer`
/// closure immediately or later, on any thread. Only the first call of the closure has an effect.
protocol TransferObserver: AnyObject, Sendable {
  /// Called when a response is a redirect. The observer must call `answer` with the request to send, or with nil to make the
  /// redirect response the final response.
  func transfer(
    isRedirectedTo request: URLRequest, by response: HTTPURLResponse,
    answer: @escaping @Sendable (URLRequest?) -> Void)
  /// Returns the credential with which the observer would answer the first challenge for a protection space, or nil if it isn't
  /// known before the challenge. Called on any thread.
  func credential(for space: URLProtectionSpace) -> URLCredential?
  /// Called when a server or a proxy requires a credential. The observer must call `answer` with its decision about the challenge.
  func transfer(
    isAskedFor challenge: URLAuthenticationChallenge,
    answer: @escaping @Sendable (URLAuthenticationChallenge.Outcome) -> Void)
  /// Whether the observer decides to accept or refuse the body, and must therefore receive the head of the final response first.
  var decidesOnResponse: Bool { get }
  /// Called with the head of the final response. The observer must call `answer` with true to accept the body, or with false to
  /// cancel the transfer.
  func transfer(didReceive response: URLResponse, answer: @escaping @Sendable (Bool) -> Void)
  /// Called with each piece of the response's body.
  func transfer(didReceive body: Data)
  /// Called with the total number of bytes of the request's body that were sent so far.
  func transfer(didSend byteCount: Int64)
  /// Called once per transfer, when it begins to wait for a network.
  func transferAwaitsNetwork()
  /// Called last, in place of `transferDidEnd`, if a server has redirected to a request that a URLProtocol answers. `count` is the
  /// number of redirects, including this one.
  func transfer(isHandedOverTo request: URLRequest, redirectCount count: Int)
  /// Returns whether a URLProtocol answers the request, to which a server has redirected the transfer.
  func isAnsweredByProtocol(_ request: URLRequest) -> Bool
  /// Called last, when the transfer has ended. `error` is nil if the transfer has succeeded.
  func transferDidEnd(_ error: URLError?)
}
