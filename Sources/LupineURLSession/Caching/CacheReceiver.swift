// CacheReceiver: the interfaces through which a `CacheExchange` calls its transfer and the engine.

import Foundation
import LupineEngine

/// The receiver of the response to a cached request, which comes from the origin or from the cache. `Transfer` conforms to this
/// protocol.
protocol CacheReceiver: ResponseSink {
  /// Receives the head of an origin's response, and returns whether to deliver or discard the body. `isTrusted` is false if the
  /// server failed to prove that it knows the password in the request's credential.
  func accept(_ head: ResponseHead) -> (disposition: BodyDisposition, isTrusted: Bool)
  /// Checks the head of an origin's response that the cache doesn't pass on, because the cache serves a stored response or sends
  /// the request again. Stores the cookies in the head and returns true. If the server fails to prove that it knows the password,
  /// receives the head as if it had been passed on, and returns false.
  func confirm(_ head: ResponseHead) -> Bool
  /// Receives the head of a stored response, and returns whether to deliver or discard the body. The cookies were already stored,
  /// and the server was verified, when the response arrived from the origin.
  func receive(served head: ResponseHead) -> BodyDisposition
  /// Receives a piece of the body of a stored response.
  func receive(served piece: Data)
  /// Receives a complete response that can be stored, and keeps it until the task's delegate has decided whether to store it.
  func keep(_ storable: StorableResponse)
  /// Ends the response with an error. Called instead of `finish` if the request can't be sent, or if only a stored response may
  /// answer the request but none is stored.
  func fail(_ error: URLError)
}

/// Sends the cache's requests to origins. `EngineClient` conforms to this protocol.
protocol CacheUpstream: AnyObject, Sendable {
  func submit(
    _ request: consuming EngineRequest, to sink: any ResponseSink, windowBytes: Int
  ) throws(URLError) -> ExchangeHandle
}
