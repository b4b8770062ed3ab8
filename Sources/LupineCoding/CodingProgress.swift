// CodingProgress: the result of one call of a decoder or an encoder.

/// The progress made by one call of `ContentDecoder` or `ContentEncoder`.
public struct CodingProgress: Sendable, Equatable {
  /// The number of bytes consumed from the start of the input.
  public var consumed: Int
  /// The number of bytes produced.
  public var produced: Int
  /// For a decoder, whether the body may end here. For an encoder, whether the stream has been written completely.
  public var isDone: Bool
}
