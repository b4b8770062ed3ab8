// ContentEncoder: encodes a body with a content coding incrementally (RFC 9110 §8.4).

/// Applies a content coding to a body of any length, which the caller passes in chunks of any size. The encoder's memory is
/// constant.
public struct ContentEncoder: ~Copyable {
  /// The numbers of bytes that a call of `encode` or `finish` consumed and produced.
  public typealias Progress = CodingProgress

  /// The default compression level: 5. At this level, zlib is about as fast as Brotli, and a `deflate` stream starts with the
  /// bytes `78 5E`, as with Apple's Compression.
  public static let levelDefault = 5

  private let stream: any StreamEncoder
  private let coding: ContentCoding
  private var wireBytes: UInt64 = 0
  private var isFinishing = false

  /// Creates an encoder for a content coding. `deflate` uses the zlib format.
  ///
  /// - Parameters:
  ///   - coding: The content coding to apply.
  ///   - level: The compression level, from 0 (fastest) to 9 (smallest) for gzip and deflate and to 11 for Brotli, and from 1 to 19
  ///     for Zstandard. A level outside that range is replaced by the nearest one. 5 by default.
  /// - Throws: `CodingError` with the cause `.outOfMemory`.
  public init(_ coding: ContentCoding, level: Int = ContentEncoder.levelDefault) throws(CodingError) {
    self.coding = coding
    switch coding {
    case .gzip: self.stream = try DeflateStream(.gzip, level: level)
    case .deflate: self.stream = try DeflateStream(.deflate, level: level)
    case .brotli: self.stream = try BrotliEncoderStream(level: level)
    #if Zstd
      case .zstd: self.stream = try ZstdEncoderStream(level: level)
    #endif
    }
  }

  /// Encodes `input` and writes the coded bytes to `scratch`, starting at the index `offset`. The encoder may buffer bytes until a
  /// later call.
  ///
  /// `scratch` must have room for at least one byte after `offset`. If room is left afterward, all of `input` has been consumed.
  /// Don't call this method after `finish`.
  ///
  /// - Throws: `CodingError` with the cause `.outOfMemory` or `.internalFailure`.
  public mutating func encode(
    _ input: RawSpan, into scratch: inout [UInt8], at offset: Int = 0
  ) throws(CodingError) -> Progress {
    precondition(!isFinishing, "encode(_:into:at:) was called after finish(into:at:)")
    // SAFETY: the pointer is only used inside the closure.
    return try input.withUnsafeBytes { (source) throws(CodingError) -> Progress in
      try self.pump(source, into: &scratch, at: offset)
    }
  }

  /// Writes the buffered bytes and the end of the coded data to `scratch`, starting at the index `offset`. Call this method until
  /// the result's `isDone` is true.
  ///
  /// `scratch` must have room for at least one byte after `offset`.
  ///
  /// - Throws: `CodingError` with the cause `.outOfMemory` or `.internalFailure`.
  public mutating func finish(into scratch: inout [UInt8], at offset: Int = 0) throws(CodingError) -> Progress {
    isFinishing = true
    return try pump(UnsafeRawBufferPointer(start: nil, count: 0), into: &scratch, at: offset)
  }

  /// Encodes a complete body, and returns the coded bytes. See `init(_:level:)` for `level` and the errors.
  public static func encode(
    _ bytes: [UInt8], as coding: ContentCoding, level: Int = ContentEncoder.levelDefault
  ) throws(CodingError) -> [UInt8] {
    var encoder = try ContentEncoder(coding, level: level)
    var result: [UInt8] = []
    var scratch = [UInt8](repeating: 0, count: CodingLimits.scratchBytes)
    var offset = 0
    while offset < bytes.count {
      let progress = try encoder.encode(bytes.span.bytes.extracting(offset...), into: &scratch)
      offset += progress.consumed
      result += scratch[..<progress.produced]
    }
    var isDone = false
    while !isDone {
      let progress = try encoder.finish(into: &scratch)
      result += scratch[..<progress.produced]
      isDone = progress.isDone
    }
    return result
  }

  private mutating func pump(
    _ input: UnsafeRawBufferPointer, into scratch: inout [UInt8], at offset: Int
  ) throws(CodingError) -> Progress {
    var span = scratch.mutableSpan
    // SAFETY: the pointer is only used inside the closure, and the array's bytes are initialized.
    return try span.withUnsafeMutableBytes { (buffer) throws(CodingError) -> Progress in
      try self.pump(input, into: UnsafeMutableRawBufferPointer(rebasing: buffer[offset...]))
    }
  }

  private mutating func pump(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(CodingError) -> Progress {
    precondition(!output.isEmpty, "the encoder's output buffer is empty")
    var progress = Progress(consumed: 0, produced: 0, isDone: false)
    repeat {
      let step: EncodingStep
      do throws(StreamFailure) {
        step = try stream.encode(
          UnsafeRawBufferPointer(rebasing: input[progress.consumed...].prefix(CodingLimits.stepBytesMax)),
          into: UnsafeMutableRawBufferPointer(
            rebasing: output[progress.produced...].prefix(CodingLimits.stepBytesMax)), isFinishing: isFinishing)
      } catch {
        throw CodingError(error.cause, coding: coding, codedOffset: wireBytes)
      }
      progress.consumed += step.consumed
      progress.produced += step.produced
      wireBytes += UInt64(step.produced)
      if step.consumed == 0 && step.produced == 0 { break }
    } while !stream.isAtEnd && progress.produced < output.count
    progress.isDone = stream.isAtEnd
    return progress
  }
}
