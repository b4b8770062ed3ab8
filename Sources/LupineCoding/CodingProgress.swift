// What one call of a decoder or an encoder did.

/// How far one call of `ContentDecoder` or `ContentEncoder` came.
public struct CodingProgress: Sendable, Equatable {
  /// How many bytes of the input were taken, from its front.
  public var consumed: Int
  /// How many bytes were put into the output.
  public var produced: Int
  /// For a decoder, that the body may end here; for an encoder, that all of the end has been put out.
  public var isDone: Bool
}
