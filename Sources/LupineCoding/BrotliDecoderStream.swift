// Brotli (RFC 7932) through libbrotlidec.
import CLupineBrotli

/// One layer of brotli.
final class BrotliDecoderStream: StreamDecoder {
  private let decoder: OpaquePointer
  private(set) var isAtEnd = false

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
  ) throws(StreamFailure) -> CodingStep {
    guard !isAtEnd else {
      if input.isEmpty { return CodingStep() }
      throw StreamFailure(cause: .trailingBytes)
    }
    // SAFETY: the decoder reads and writes at most the given counts, which are those of the buffers, and keeps copies
    // of what it has read, not the pointers.
    var inputLeft = input.count
    var inputNext = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
    var outputLeft = output.count
    var outputNext = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
    let result = BrotliDecoderDecompressStream(
      decoder, &inputLeft, &inputNext, &outputLeft, &outputNext, nil)
    let step = CodingStep(consumed: input.count - inputLeft, produced: output.count - outputLeft)
    switch result {
    case BROTLI_DECODER_RESULT_SUCCESS:
      isAtEnd = true
      return step
    case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT, BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT:
      return step
    default:
      throw StreamFailure(cause: cause(), consumed: step.consumed)
    }
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
