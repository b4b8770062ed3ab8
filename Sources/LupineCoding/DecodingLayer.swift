// One coding of a body: its stream decoder, its counters, and the buffer from which the next layer reads.

/// A stream decoder with what the chain needs to know of it.
final class DecodingLayer {
  private let coding: ContentCoding?
  private let stream: any StreamDecoder
  /// `nil` in the last layer, which fills the caller's output.
  private let buffer: UnsafeMutableRawBufferPointer?
  private var unreadRange = 0..<0
  private var codedBytes: UInt64 = 0
  private(set) var decodedBytes: UInt64 = 0
  /// The last call filled its target, so that more may come without more input.
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
    self.stream = CopyStream()
    self.buffer = nil
  }

  deinit {
    buffer?.deallocate()
  }

  var isAtEnd: Bool { stream.isAtEnd }

  /// Nothing more can come out of this layer without more input.
  var isDrained: Bool { unread.isEmpty && (isAtEnd || !mayHoldOutput) }

  /// What the next layer has still to read.
  var unread: UnsafeRawBufferPointer {
    // SAFETY: `unreadRange` covers only bytes that a stream has written, and the buffer outlives every call of `pump`.
    guard let buffer else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    return UnsafeRawBufferPointer(rebasing: buffer[unreadRange])
  }

  /// Where the stream may write, empty until the next layer has read everything; `nil` for the caller's output.
  var room: UnsafeMutableRawBufferPointer? {
    // SAFETY: the whole buffer is handed out only while no byte of it is to be read.
    guard let buffer else { return nil }
    return unreadRange.isEmpty ? buffer : UnsafeMutableRawBufferPointer(rebasing: buffer[..<0])
  }

  func markRead(_ count: Int) {
    unreadRange = (unreadRange.lowerBound + count)..<unreadRange.upperBound
  }

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(CodingError) -> CodingStep {
    // Clamped here, so that a target that has been filled is told from one that has not.
    let source = UnsafeRawBufferPointer(rebasing: input.prefix(CodingLimits.stepBytesMax))
    let target = UnsafeMutableRawBufferPointer(rebasing: output.prefix(CodingLimits.stepBytesMax))
    let step: CodingStep
    do throws(StreamFailure) { step = try stream.decode(source, into: target) } catch {
      codedBytes += UInt64(error.consumed)
      throw self.error(error.cause)
    }
    codedBytes += UInt64(step.consumed)
    decodedBytes += UInt64(step.produced)
    mayHoldOutput = step.produced == target.count
    if buffer != nil { unreadRange = 0..<step.produced }
    return step
  }

  func error(_ cause: CodingError.Cause) -> CodingError {
    CodingError(cause, coding: coding, codedOffset: codedBytes)
  }
}

/// What one call of a stream took and gave, in bytes.
struct CodingStep {
  var consumed = 0
  var produced = 0
}

/// Why a stream stopped, and how many bytes of the input it had taken.
struct StreamFailure: Error {
  var cause: CodingError.Cause
  var consumed = 0
}

/// One library's decoder. It stops only if the output is full, the input used up, or the stream at its end.
protocol StreamDecoder: AnyObject {
  /// The coded data may end here.
  var isAtEnd: Bool { get }

  /// Decodes from the front of `input` to the front of `output`, which is not empty; neither has more than
  /// `CodingLimits.stepBytesMax`.
  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(StreamFailure) -> CodingStep
}

/// The stream of a body without codings.
private final class CopyStream: StreamDecoder {
  let isAtEnd = true

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(StreamFailure) -> CodingStep {
    let count = min(input.count, output.count)
    // SAFETY: both buffers have `count` bytes, and the input and the output of a chain never overlap.
    output.copyMemory(from: UnsafeRawBufferPointer(rebasing: input[..<count]))
    return CodingStep(consumed: count, produced: count)
  }
}
