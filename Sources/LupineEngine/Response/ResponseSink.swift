// Where a response goes.

/// What is to become of a response's body.
public enum BodyDisposition: Sendable {
  /// It is handed over as it comes.
  case deliver
  /// It is of no interest: the exchange ends once a short rest has been read, so that the connection can be used again,
  /// or else at once; see `EngineConfiguration.drainedBytesMax`.
  case discard
}

/// Receives one exchange's response, on the engine's loop.
///
/// The calls come in order: any number of informational heads, at most one head, any number of body pieces, exactly one
/// `finish`. They must return quickly, since the loop serves nobody else meanwhile.
public protocol ResponseSink: AnyObject, Sendable {
  /// An interim response (1xx) came.
  func receive(informational head: ResponseHead)
  /// The final response's head came. With `.discard`, `finish` follows, without a trailer section.
  func receive(head: ResponseHead) -> BodyDisposition
  /// A piece of the body, decoded if the request asks for it. The bytes are valid only during the call.
  func receive(body bytes: borrowing Span<UInt8>)
  /// The exchange has ended: with the trailer section, or with an error.
  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics)
  /// The loop has done what was due at this moment: whoever collects what comes can hand it on now.
  ///
  /// Called behind every turn in which something of the response was handed over or something of the request's body was
  /// taken, unless the exchange has ended in it. `sentBodyByteCount` is how much of that body was taken so far.
  func turnEnded(sentBodyByteCount: UInt64)
}

extension ResponseSink {
  /// Interim responses are ignored by those who don't ask for them.
  public func receive(informational head: ResponseHead) {}

  /// Whoever deals with each piece at once need not know.
  public func turnEnded(sentBodyByteCount: UInt64) {}
}
