// Applies a content coding to a body as its bytes come (RFC 9110 §8.4).

/// Encodes a body from bytes that come in pieces of any size, in memory that its length has no part in.
public struct ContentEncoder: ~Copyable {
  /// How far a call of `encode` or `finish` came.
  public typealias Progress = CodingProgress

  /// 5: zlib is then about as fast as brotli is at its 5, and marks the stream `78 5E`, as Apple's Compression does.
  public static let levelDefault = 5

  private let stream: any StreamEncoder
  private let coding: ContentCoding
  private var wireBytes: UInt64 = 0
  private var isFinishing = false

  /// Creates an encoder; `deflate` is the zlib format.
  ///
  /// `level` is 0 (fast) to 9 (small) for gzip and deflate and 0 to 11 for brotli, and is clamped to that. Throws
  /// `.outOfMemory`.
  public init(_ coding: ContentCoding, level: Int = ContentEncoder.levelDefault) throws(CodingError) {
    self.coding = coding
    switch coding {
    case .gzip: self.stream = try DeflateStream(.gzip, level: level)
    case .deflate: self.stream = try DeflateStream(.deflate, level: level)
    case .brotli: self.stream = try BrotliEncoderStream(level: level)
    }
  }

  /// Encodes as much of `input` as fits into `scratch` from `offset` to its end; the encoder may hold bytes back.
  ///
  /// There must be room. If room is left afterwards, all of the input has been taken. Not to be called after `finish`.
  /// Throws `.outOfMemory` and `.internalFailure`.
  public mutating func encode(
    _ input: RawSpan, into scratch: inout [UInt8], at offset: Int = 0
  ) throws(CodingError) -> Progress {
    precondition(!isFinishing, "encode(_:into:at:) after finish(into:at:)")
    // SAFETY: the pointer lives only inside the closure.
    return try input.withUnsafeBytes { (source) throws(CodingError) -> Progress in
      try self.pump(source, into: &scratch, at: offset)
    }
  }

  /// Puts what the encoder held back and the end of the stream into `scratch` from `offset` to its end; to be called
  /// until `isDone`.
  ///
  /// There must be room. Throws `.outOfMemory` and `.internalFailure`.
  public mutating func finish(into scratch: inout [UInt8], at offset: Int = 0) throws(CodingError) -> Progress {
    isFinishing = true
    return try pump(UnsafeRawBufferPointer(start: nil, count: 0), into: &scratch, at: offset)
  }

  /// The bytes in that coding, as one stream; for `level` see `init(_:level:)`, which also says what is thrown.
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
    // SAFETY: the pointer lives only inside the closure, and the array's bytes are initialised.
    return try span.withUnsafeMutableBytes { (buffer) throws(CodingError) -> Progress in
      try self.pump(input, into: UnsafeMutableRawBufferPointer(rebasing: buffer[offset...]))
    }
  }

  private mutating func pump(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(CodingError) -> Progress {
    precondition(!output.isEmpty, "an encoder needs room in its output")
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
