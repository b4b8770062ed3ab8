// One coding of a body: its stream decoder, its counters, and the buffer from which the next layer reads.

/// A stream decoder with what the chain needs to know of it.
final class DecodingLayer {
  private let coding: ContentCoding?
  private let stream: any StreamDecoder
  /// `nil` in the last layer, which fills the caller's output.
  private let buffer: UnsafeMutableRawBufferPointer?
  /// What came out and the next layer, or the caller, has still to read; there until the next call of `decode`.
  private(set) var unread = UnsafeRawBufferPointer(start: nil, count: 0)
  private var codedBytes: UInt64 = 0
  private(set) var decodedBytes: UInt64 = 0
  /// Whether more may come out without more input.
  private(set) var mayHoldOutput = false

  init(_ coding: ContentCoding, feedsAnother: Bool) throws(CodingError) {
    self.coding = coding
    switch coding {
    case .gzip: self.stream = try InflateStream(.gzip)
    case .deflate: self.stream = try InflateStream(.deflate)
    case .brotli: self.stream = try BrotliDecoderStream()
    }
    // SAFETY: allocated once, owned by this object alone, freed in deinit.
    self.buffer =
      feedsAnother ? .allocate(byteCount: CodingLimits.layerBufferBytes, alignment: 1) : nil
  }

  /// The only layer of a body without codings.
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

  /// Nothing more can come out of this layer without more input.
  var isDrained: Bool { unread.isEmpty && (isAtEnd || !mayHoldOutput) }

  func markRead(_ count: Int) {
    unread = UnsafeRawBufferPointer(rebasing: unread.dropFirst(count))
  }

  /// Decodes from the front of `input`, and returns how many bytes were taken; `unread` is what came out. To be called when
  /// everything was read; `output` is for the last layer.
  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(CodingError) -> Int {
    precondition(unread.isEmpty, "decode(_:into:) before everything was read")
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

/// What one call of a decoder took and gave.
struct DecodingStep {
  /// How many bytes of the input were taken.
  var consumed = 0
  /// What came out: in the output, or in memory of the decoder's own or in the input, where it stays until the next call.
  var produced = UnsafeRawBufferPointer(start: nil, count: 0)
  /// Whether more may come out without more input.
  var mayHoldOutput = false
}

/// Why a stream stopped, and how many bytes of the input it had taken.
struct StreamFailure: Error {
  var cause: CodingError.Cause
  var consumed = 0
}

/// One library's decoder. If nothing comes out, it has taken some of the input, or needs more of it, or is at its end.
protocol StreamDecoder: AnyObject {
  /// The coded data may end here, and all of it came out.
  var isAtEnd: Bool { get }

  /// Decodes from the front of `input`. No more comes out than there is room for in `output`, which is not empty; neither
  /// has more than `CodingLimits.stepBytesMax`.
  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(StreamFailure) -> DecodingStep
}

/// The stream of a body without codings.
private final class IdentityStream: StreamDecoder {
  let isAtEnd = true

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(StreamFailure) -> DecodingStep {
    // SAFETY: a decoder's input outlives what is made of it.
    let piece = UnsafeRawBufferPointer(rebasing: input.prefix(output.count))
    return DecodingStep(consumed: piece.count, produced: piece)
  }
}
