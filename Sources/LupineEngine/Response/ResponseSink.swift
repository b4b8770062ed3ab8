// ResponseSink: receives a response from the engine.

/// A sink's decision about the body of a response.
public enum BodyDisposition: Sendable {
  /// The engine delivers the body to the sink as it arrives.
  case deliver
  /// The engine discards the body. If the rest of the body is short, the exchange ends after the engine has read the rest, so that
  /// the connection can be reused. Otherwise the exchange ends immediately; see `EngineConfiguration.drainedBytesMax`.
  case discard
}

/// Receives the response of one exchange, on one of the engine's event loops.
///
/// The calls come in this order: any number of informational heads, at most one head, any number of body pieces, and exactly one
/// `finish`. Each call must return quickly, because it blocks the loop.
public protocol ResponseSink: AnyObject, Sendable {
  /// Called with each interim response (1xx). By default, does nothing.
  func receive(informational head: ResponseHead)
  /// Called with the head of the final response. Returns whether the sink wants the body. After `.discard`, `finish` follows with
  /// an empty trailer section.
  func receive(head: ResponseHead) -> BodyDisposition
  /// Called with each piece of the response body, decoded if the request's `decodesContent` is true. The bytes are valid only
  /// during the call.
  func receive(body bytes: borrowing Span<UInt8>)
  /// Called when the exchange has ended, with the trailer section or the error, and with the exchange's metrics.
  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics)
  /// Called at the end of an iteration of the loop, so that a sink can process all pieces of the body from that iteration together.
  /// By default, does nothing.
  ///
  /// Called only if the exchange hasn't ended, and if the iteration has delivered part of the response or has taken bytes of the
  /// request's body to send. `sentBodyByteCount` is the number of bytes of the request's body taken so far.
  func turnEnded(sentBodyByteCount: UInt64)
}

extension ResponseSink {
  /// Does nothing: by default, a sink ignores interim responses (1xx).
  public func receive(informational head: ResponseHead) {}

  /// Does nothing. This default is for sinks that process each piece immediately.
  public func turnEnded(sentBodyByteCount: UInt64) {}
}
