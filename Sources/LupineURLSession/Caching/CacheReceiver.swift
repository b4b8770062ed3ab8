// CacheReceiver: the interfaces through which a `CacheExchange` calls its transfer and the engine.

import Foundation
import LupineEngine

/// The receiver of a `CacheExchange`'s response, which comes from the origin or from a store. `Transfer` conforms to this protocol.
protocol CacheReceiver: ResponseSink {
  /// Receives a response head from the origin, and returns what to do with the body. `isTrusted` is false if the server failed to
  /// prove that it knows the password in the request's credential.
  func accept(_ head: ResponseHead) -> (disposition: BodyDisposition, isTrusted: Bool)
  /// Checks the head of an origin's response that the cache doesn't pass on, because it serves a stored response or sends the
  /// request again. Stores the head's cookies and returns true. If the server fails to prove that it knows the password, receives
  /// the head like one that is passed on, and returns false.
  func confirm(_ head: ResponseHead) -> Bool
  /// Receives the head of a stored response, and returns what to do with the body. The response's cookies were stored, and its
  /// server was verified, when the response arrived from the origin.
  func receive(served head: ResponseHead) -> BodyDisposition
  /// Receives a piece of the body of a stored response.
  func receive(served piece: Data)
  /// Receives a complete response that can be stored, and keeps it until the task's delegate has decided whether to store it.
  func keep(_ storable: StorableResponse)
  /// Ends the response with an error, in place of `finish`. Called if the request can't be sent, or if only a stored response may
  /// answer it but there is none.
  func fail(_ error: URLError)
}

/// Sends the cache's requests to origins. `EngineClient` conforms to this protocol.
protocol CacheUpstream: AnyObject, Sendable {
  func submit(
    _ request: consuming EngineRequest, to sink: any ResponseSink, windowBytes: Int
  ) throws(URLError) -> ExchangeHandle
}
