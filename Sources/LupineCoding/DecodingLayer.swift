// DecodingLayer: one content coding of a body, with its decoder, its counters and its output buffer.

/// The decoder of one of a body's content codings, with its counters and output buffer. A `ContentDecoder` runs one layer for each
/// coding.
final class DecodingLayer {
  private let coding: ContentCoding?
  private let stream: any StreamDecoder
  /// The buffer to which this layer writes its output for the next layer. Nil in the last layer, which writes to the caller's
  /// buffer.
  private let buffer: UnsafeMutableRawBufferPointer?
  /// The decoded bytes that the next layer or the caller hasn't read yet. Valid until the next call of `decode`.
  private(set) var unread = UnsafeRawBufferPointer(start: nil, count: 0)
  private var codedBytes: UInt64 = 0
  private(set) var decodedBytes: UInt64 = 0
  /// Whether the decoder may produce more bytes without more input.
  private(set) var mayHoldOutput = false

  init(_ coding: ContentCoding, feedsAnother: Bool) throws(CodingError) {
    self.coding = coding
    switch coding {
    case .gzip: self.stream = try InflateStream(.gzip)
    case .deflate: self.stream = try InflateStream(.deflate)
    case .brotli: self.stream = try BrotliDecoderStream()
    #if Zstd
      case .zstd: self.stream = try ZstdDecoderStream()
    #endif
    }
    // SAFETY: allocated once, owned only by this object, and freed in deinit.
    self.buffer =
      feedsAnother ? .allocate(byteCount: CodingLimits.layerBufferBytes, alignment: 1) : nil
  }

  /// Creates the only decoding layer of a body without content codings, which passes the bytes through.
  init() {
    self.coding = nil
    self.stream = IdentityStream()
    self.buffer = nil
  }

  deinit {
    buffer?.deallocate()
  }

  var isLast: Bool { buffer == nil }

  var isAtEnd: Bool { stream.isAtEnd }

  /// Whether all decoded bytes of this layer have been read, and the layer can't produce more without more input.
  var isDrained: Bool { unread.isEmpty && (isAtEnd || !mayHoldOutput) }

  func markRead(_ count: Int) {
    unread = UnsafeRawBufferPointer(rebasing: unread.dropFirst(count))
  }

  /// Decodes `input` from its beginning, and sets `unread` to the decoded bytes. Returns the number of consumed input bytes.
  ///
  /// All of `unread` must have been read before the call. Only the last layer writes to `output`.
  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(CodingError) -> Int {
    precondition(unread.isEmpty, "decode(_:into:) was called before all input was consumed")
    let source = UnsafeRawBufferPointer(rebasing: input.prefix(CodingLimits.stepBytesMax))
    let target = UnsafeMutableRawBufferPointer(rebasing: (buffer ?? output).prefix(CodingLimits.stepBytesMax))
    let step: DecodingStep
    do throws(StreamFailure) { step = try stream.decode(source, into: target) } catch {
      codedBytes += UInt64(error.consumed)
      throw self.error(error.cause)
    }
    codedBytes += UInt64(step.consumed)
    decodedBytes += UInt64(step.produced.count)
    (unread, mayHoldOutput) = (step.produced, step.mayHoldOutput)
    return step.consumed
  }

  func error(_ cause: CodingError.Cause) -> CodingError {
    CodingError(cause, coding: coding, codedOffset: codedBytes)
  }
}

/// The result of one call of `StreamDecoder.decode`.
struct DecodingStep {
  /// The number of input bytes that the call of the decoder consumed.
  var consumed = 0
  /// The decoded bytes. They are in the caller's output buffer, the decoder's memory or the input, and are valid until the
  /// decoder's next call.
  var produced = UnsafeRawBufferPointer(start: nil, count: 0)
  /// Whether the decoder may produce more bytes without more input.
  var mayHoldOutput = false
}

/// The reason why a call of a decoder or encoder failed, and the number of input bytes that the call had consumed.
struct StreamFailure: Error {
  var cause: CodingError.Cause
  var consumed = 0
}

/// A decoder that wraps a compression library. If a call produces no output, either the call has consumed input, the decoder needs
/// more input, or the coded data has ended.
protocol StreamDecoder: AnyObject {
  /// Whether the coded data may end after the input consumed so far, and the caller has received all decoded bytes.
  var isAtEnd: Bool { get }

  /// Decodes `input` from its beginning. Produces at most as many bytes as `output` can hold, which is at least one. Neither buffer
  /// is larger than `CodingLimits.stepBytesMax`.
  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(StreamFailure) -> DecodingStep
}

/// The decoder of a body without codings, which passes the bytes through.
private final class IdentityStream: StreamDecoder {
  let isAtEnd = true

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(StreamFailure) -> DecodingStep {
    // SAFETY: the caller keeps a decoder's input alive while it uses the output.
    let piece = UnsafeRawBufferPointer(rebasing: input.prefix(output.count))
    return DecodingStep(consumed: piece.count, produced: piece)
  }
}
