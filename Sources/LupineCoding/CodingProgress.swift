// CodingProgress: the result of one call of a decoder or an encoder.

/// The progress made by one call of `ContentDecoder` or `ContentEncoder`.
public struct CodingProgress: Sendable, Equatable {
  /// The number of input bytes that the decoder or encoder consumed, counted from the start of the input.
  public var consumed: Int
  /// The number of bytes that the decoder or encoder wrote to the output.
  public var produced: Int
  /// For a decoder, whether the body may end after the consumed input. For an encoder, whether it has written the end of the coded
  /// data.
  public var isDone: Bool
}
