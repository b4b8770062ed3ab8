// CacheReceiver: the interfaces through which a `CacheExchange` calls its transfer and the engine.

import Foundation
import LupineEngine

/// Receives the response of a `CacheExchange`, whether it comes from the origin or from a store. `Transfer` conforms to it.
protocol CacheReceiver: ResponseSink {
  /// Receives a response head from the origin. `isTrusted` is false if the server failed to prove that it knows the password in
  /// the request's credential.
  func accept(_ head: ResponseHead) -> (disposition: BodyDisposition, isTrusted: Bool)
  /// Receives a response head from the origin that isn't delivered: either a stored response is served instead, or the request is
  /// sent again. If the server failed to prove that it knows the password, delivers the head after all and returns false.
  func confirm(_ head: ResponseHead) -> Bool
  /// Receives the head of a stored response. Its cookies were stored, and its server was verified, when the response arrived
  /// from the origin.
  func receive(served head: ResponseHead) -> BodyDisposition
  /// Receives a piece of the body of a stored response.
  func receive(served piece: Data)
  /// Receives a complete response, and keeps it until the task's delegate decides whether it is stored.
  func keep(_ storable: StorableResponse)
  /// Called in place of `finish` if the request can't be sent.
  func fail(_ error: URLError)
}

/// Sends a cache's requests to origins. `EngineClient` conforms to it.
protocol CacheUpstream: AnyObject, Sendable {
  func submit(
    _ request: consuming EngineRequest, to sink: any ResponseSink, windowBytes: Int
  ) throws(URLError) -> ExchangeHandle
}
