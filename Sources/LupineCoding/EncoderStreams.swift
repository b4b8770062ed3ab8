// EncoderStreams: encoders for gzip (RFC 1952) and zlib (RFC 1950) with zlib's deflate, and for Brotli (RFC 7932) with
// libbrotlienc.
import CLupineBrotli
import CLupineZlib

/// An encoder that wraps a compression library. A call returns only when the output buffer is full or all input has been consumed.
protocol StreamEncoder: AnyObject {
  /// Whether the encoder has written the end of the coded data.
  var isAtEnd: Bool { get }

  /// Encodes `input` from its beginning, and writes the coded bytes to the beginning of `output`, which is never empty. If
  /// `isFinishing` is true, `input` is empty, and the encoder writes the end of the coded data. Neither buffer is larger than
  /// `CodingLimits.stepBytesMax`.
  func encode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, isFinishing: Bool
  ) throws(StreamFailure) -> EncodingStep
}

/// The numbers of bytes that one call of an encoder consumed and produced.
struct EncodingStep {
  var consumed = 0
  var produced = 0
}

final class DeflateStream: StreamEncoder {
  private let stream: UnsafeMutablePointer<z_stream>
  private(set) var isAtEnd = false

  init(_ format: InflateStream.Format, level: Int) throws(CodingError) {
    stream = try z_stream.allocated(format.coding) {
      lupine_deflateInit2($0, Int32(min(max(level, 0), 9)), format.windowBits, Self.memoryLevel)
    }
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
  }

  func encode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, isFinishing: Bool
  ) throws(StreamFailure) -> EncodingStep {
    guard !isAtEnd else { return EncodingStep() }
    // SAFETY: deflate reads at most avail_in bytes and writes at most avail_out bytes, which are the buffers' counts.
    // The pointers are reset below, so none outlives this call.
    stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_in = UInt32(input.count)
    stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_out = UInt32(output.count)
    let status = deflate(stream, isFinishing ? Z_FINISH : Z_NO_FLUSH)
    let step = EncodingStep(
      consumed: input.count - Int(stream.pointee.avail_in), produced: output.count - Int(stream.pointee.avail_out))
    stream.pointee.next_in = nil
    stream.pointee.next_out = nil
    switch status {
    case Z_OK, Z_BUF_ERROR: break
    case Z_STREAM_END: isAtEnd = true
    default: throw StreamFailure(cause: .internalFailure("deflate returned \(status)"))
    }
    return step
  }

  /// The level of memory usage that is passed to zlib's deflateInit2: 8, zlib's default (zconf.h, DEF_MEM_LEVEL), which uses about
  /// 128 KiB.
  static let memoryLevel: Int32 = 8
}

final class BrotliEncoderStream: StreamEncoder {
  private let encoder: OpaquePointer

  init(level: Int) throws(CodingError) {
    guard let encoder = BrotliEncoderCreateInstance(nil, nil, nil) else {
      throw CodingError(.outOfMemory, coding: .brotli)
    }
    self.encoder = encoder
    let quality = min(max(level, Int(BROTLI_MIN_QUALITY)), Int(BROTLI_MAX_QUALITY))
    BrotliEncoderSetParameter(encoder, BROTLI_PARAM_QUALITY, UInt32(quality))
  }

  deinit {
    BrotliEncoderDestroyInstance(encoder)
  }

  var isAtEnd: Bool { BrotliEncoderIsFinished(encoder) == BROTLI_TRUE }

  func encode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, isFinishing: Bool
  ) throws(StreamFailure) -> EncodingStep {
    guard !isAtEnd else { return EncodingStep() }
    // SAFETY: the encoder reads and writes at most the given counts, which are those of the buffers. It copies what it
    // reads instead of keeping the pointers.
    var inputLeft = input.count
    var inputNext = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
    var outputLeft = output.count
    var outputNext = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
    let operation = isFinishing ? BROTLI_OPERATION_FINISH : BROTLI_OPERATION_PROCESS
    let isFine = BrotliEncoderCompressStream(
      encoder, operation, &inputLeft, &inputNext, &outputLeft, &outputNext, nil)
    // The library fails only if memory runs out or the library is misused. The requirements of `StreamEncoder` exclude misuse.
    guard isFine == BROTLI_TRUE else { throw StreamFailure(cause: .outOfMemory) }
    return EncodingStep(consumed: input.count - inputLeft, produced: output.count - outputLeft)
  }
}
