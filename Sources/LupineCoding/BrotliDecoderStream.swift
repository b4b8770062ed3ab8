// Brotli (RFC 7932) through libbrotlidec.
import CLupineBrotli

/// One layer of brotli. What comes out is lent from the library's window, where it is anyway: not a byte is copied.
final class BrotliDecoderStream: StreamDecoder {
  private let decoder: OpaquePointer
  private(set) var isAtEnd = false
  /// Whether the library stopped because its window was full of bytes that nobody had read.
  private var wasFull = false

  init() throws(CodingError) {
    // "Large window" brotli, which RFC 7932 doesn't have, is off by default, so that a window is at most 16 MiB.
    guard let decoder = BrotliDecoderCreateInstance(nil, nil, nil) else {
      throw CodingError(.outOfMemory, coding: .brotli)
    }
    self.decoder = decoder
  }

  deinit {
    BrotliDecoderDestroyInstance(decoder)
  }

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(StreamFailure) -> DecodingStep {
    guard !isAtEnd else {
      if input.isEmpty { return DecodingStep() }
      throw StreamFailure(cause: .trailingBytes)
    }
    var step = DecodingStep()
    if BrotliDecoderHasMoreOutput(decoder) == BROTLI_FALSE {
      step.consumed = try fillWindow(UnsafeRawBufferPointer(rebasing: input.prefix(CodingLimits.brotliStepBytesMax)))
    }
    var count = output.count
    // SAFETY: the library's memory stays as it is until it is called again, which is what a step promises.
    let bytes = BrotliDecoderTakeOutput(decoder, &count)
    step.produced = UnsafeRawBufferPointer(start: bytes, count: count)
    isAtEnd = BrotliDecoderIsFinished(decoder) != BROTLI_FALSE
    step.mayHoldOutput = !isAtEnd && (wasFull || BrotliDecoderHasMoreOutput(decoder) != BROTLI_FALSE)
    return step
  }

  /// Decodes into the window; returns how many bytes were taken.
  private func fillWindow(_ input: UnsafeRawBufferPointer) throws(StreamFailure) -> Int {
    // SAFETY: the decoder reads at most the given count, which is the buffer's, and keeps copies of what it has read, not
    // the pointer; with no room it writes nowhere.
    var inputLeft = input.count
    var inputNext = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
    var room = 0
    let result = BrotliDecoderDecompressStream(decoder, &inputLeft, &inputNext, &room, nil, nil)
    let consumed = input.count - inputLeft
    if result == BROTLI_DECODER_RESULT_ERROR { throw StreamFailure(cause: cause(), consumed: consumed) }
    wasFull = result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT
    return consumed
  }

  private func cause() -> CodingError.Cause {
    let code = BrotliDecoderGetErrorCode(decoder)
    // decode.h: -1 to -16 are invalid input, -21 to -30 memory, the rest misuse.
    switch code.rawValue {
    case -30 ... -21:
      return .outOfMemory
    default:
      // SAFETY: the text is a constant of the library's.
      let text = BrotliDecoderErrorString(code).map { String(cString: $0) } ?? "no details"
      return -16 ... -1 ~= code.rawValue ? .corrupt(text) : .internalFailure(text)
    }
  }
}
