// BrotliDecoderStream: decodes Brotli (RFC 7932) with libbrotlidec.
import CLupineBrotli

/// A decoder for one Brotli coding of a body. The decoded bytes stay in the Brotli library's memory and aren't copied.
final class BrotliDecoderStream: StreamDecoder {
  private let decoder: OpaquePointer
  private(set) var isAtEnd = false
  /// Whether the last call of the Brotli library stopped because its window was full of output that the caller hadn't read.
  private var wasFull = false

  init() throws(CodingError) {
    // "Large window" Brotli, which isn't part of RFC 7932, is off by default, so the window is at most 16 MiB.
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
    // SAFETY: the library doesn't change this memory until its next call, and a step's output is only valid until then.
    let bytes = BrotliDecoderTakeOutput(decoder, &count)
    step.produced = UnsafeRawBufferPointer(start: bytes, count: count)
    isAtEnd = BrotliDecoderIsFinished(decoder) != BROTLI_FALSE
    step.mayHoldOutput = !isAtEnd && (wasFull || BrotliDecoderHasMoreOutput(decoder) != BROTLI_FALSE)
    return step
  }

  /// Decodes input into the Brotli library's window, until the window is full or the input is consumed. Returns the number of
  /// consumed input bytes.
  private func fillWindow(_ input: UnsafeRawBufferPointer) throws(StreamFailure) -> Int {
    // SAFETY: the decoder reads at most the given count, which is the buffer's, and copies what it reads instead of
    // keeping the pointer. Without room for output, it writes nothing.
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
    // Error codes in decode.h: -1 to -16 mean invalid input, -21 to -30 lack of memory, and all others misuse of the library.
    switch code.rawValue {
    case -30 ... -21:
      return .outOfMemory
    default:
      // SAFETY: the text is a constant of the library.
      let text = BrotliDecoderErrorString(code).map { String(cString: $0) } ?? "no details"
      return -16 ... -1 ~= code.rawValue ? .corrupt(text) : .internalFailure(text)
    }
  }
}
