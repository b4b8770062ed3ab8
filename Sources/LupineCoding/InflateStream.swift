// InflateStream: decodes gzip (RFC 1952, with any number of members) and deflate (RFC 1950, or bare RFC 1951) with
// zlib's inflate.
import CLupineZlib

/// A decoder for one gzip or deflate coding of a body.
final class InflateStream: StreamDecoder {
  enum Format {
    case gzip
    case deflate

    var coding: ContentCoding { self == .gzip ? .gzip : .deflate }
    /// zlib's `windowBits` for the largest window. A flag means gzip instead of zlib's format.
    var windowBits: Int32 { self == .gzip ? MAX_WBITS + gzipFlag : MAX_WBITS }
  }

  private enum State {
    /// The decoder needs the first two bytes of the deflate data to determine whether the data has a zlib header. `held` is the
    /// first byte, or nil if it hasn't arrived yet.
    case beforeHeader(held: UInt8?)
    /// The decoder is within the compressed data. `member` is the number of the current gzip member, counted from 0. It is always 0
    /// for deflate.
    case inside(member: Int)
    /// The compressed data or a gzip member has ended. `member` is the number of the gzip member that ended.
    case ended(member: Int)
    /// The last gzip member has ended, and only zero bytes have followed it.
    case padding
  }

  private let format: Format
  private let stream: UnsafeMutablePointer<z_stream>
  private var state: State

  init(_ format: Format) throws(CodingError) {
    self.format = format
    self.state = format == .gzip ? .inside(member: 0) : .beforeHeader(held: nil)
    self.stream = try z_stream.allocated(format.coding) { lupine_inflateInit2($0, format.windowBits) }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  var isAtEnd: Bool {
    switch state {
    case .ended, .padding: true
    case .beforeHeader, .inside: false
    }
  }

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(StreamFailure) -> DecodingStep {
    switch state {
    case .inside(let member):
      return try inflate(input, into: output, member: member)
    case .beforeHeader(let held):
      return try decodeHeader(held, input, into: output)
    case .padding: return try skipPadding(input)
    case .ended(let member):
      guard let first = input.first else { return DecodingStep() }
      if format == .gzip, first == 0 { return try skipPadding(input) }
      // A gzip body consists of one or more consecutive members (RFC 1952 §2.2). Bytes that don't start like one aren't
      // a member.
      guard format == .gzip, first == Self.gzipMagic else { throw StreamFailure(cause: .trailingBytes) }
      inflateReset(stream)
      state = .inside(member: member + 1)
      return try inflate(input, into: output, member: member + 1)
    }
  }

  /// Skips zero bytes after the last gzip member. Some servers pad bodies with them, and gunzip ignores them too.
  private func skipPadding(_ input: UnsafeRawBufferPointer) throws(StreamFailure) -> DecodingStep {
    let count = input.prefix { $0 == 0 }.count
    guard count == input.count else { throw StreamFailure(cause: .trailingBytes, consumed: count) }
    state = .padding
    return DecodingStep(consumed: count)
  }

  /// Determines whether the deflate data has a zlib header, and then decodes the data. RFC 9110 §8.4.1.2 requires the header, but
  /// notes that some origins omit it.
  private func decodeHeader(
    _ held: UInt8?, _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(StreamFailure) -> DecodingStep {
    guard let next = input.first else { return DecodingStep() }
    guard let held else {
      state = .beforeHeader(held: next)
      return DecodingStep(consumed: 1)
    }
    if !Self.isZlibHeader(held, next) { inflateReset2(stream, -MAX_WBITS) }
    state = .inside(member: 0)
    // inflate always consumes the entire held byte: no code that produces a byte or ends a stream fits in 8 bits. SAFETY: the
    // pointer to the byte is only used inside the closure.
    _ = try withUnsafeBytes(of: held) { (byte) throws(StreamFailure) in
      do throws(StreamFailure) { _ = try inflate(byte, into: output, member: 0) } catch {
        throw StreamFailure(cause: error.cause)
      }
    }
    return try inflate(input, into: output, member: 0)
  }

  private func inflate(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, member: Int
  ) throws(StreamFailure) -> DecodingStep {
    // SAFETY: inflate reads at most avail_in bytes and writes at most avail_out bytes, which are the buffers' counts.
    // The pointers are reset below, so none outlives this call.
    stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_in = UInt32(input.count)
    stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_out = UInt32(output.count)
    let status = CLupineZlib.inflate(stream, Z_NO_FLUSH)
    let step = DecodingStep(
      consumed: input.count - Int(stream.pointee.avail_in),
      produced: UnsafeRawBufferPointer(rebasing: output.dropLast(Int(stream.pointee.avail_out))),
      mayHoldOutput: stream.pointee.avail_out == 0)
    stream.pointee.next_in = nil
    stream.pointee.next_out = nil

    switch status {
    case Z_OK, Z_BUF_ERROR:
      return step
    case Z_STREAM_END:
      state = .ended(member: member)
      return step
    default:
      throw StreamFailure(cause: cause(of: status, member: member), consumed: step.consumed)
    }
  }

  private func cause(of status: Int32, member: Int) -> CodingError.Cause {
    switch status {
    case Z_NEED_DICT:
      return .corrupt("it requires a preset dictionary, which HTTP doesn't support")
    case Z_MEM_ERROR:
      return .outOfMemory
    case Z_DATA_ERROR:
      // The first two bytes aren't those of a gzip member (RFC 1952 §2.3.1), so these are trailing bytes and not a damaged
      // member.
      if member > 0, stream.pointee.total_in <= 2 { return .trailingBytes }
      // SAFETY: msg is a constant of zlib.
      let text = stream.pointee.msg.map { String(cString: $0) } ?? "no details"
      return Self.checksumTexts.contains(text) ? .checksum(text) : .corrupt(text)
    default:
      return .internalFailure("inflate returned \(status)")
    }
  }

  // CMF and FLG (RFC 1950 §2.2): the method is 8, the window is at most 32 KiB, and the two bytes form a multiple of
  // 31.
  private static func isZlibHeader(_ cmf: UInt8, _ flg: UInt8) -> Bool {
    cmf & 0x0f == 8 && cmf >> 4 <= 7 && (UInt16(cmf) << 8 | UInt16(flg)).isMultiple(of: 31)
  }

  /// The first byte of a gzip member: ID1 (RFC 1952 §2.3.1).
  private static let gzipMagic: UInt8 = 0x1f
  /// The flag in zlib's parameter `windowBits` that selects the gzip format (zlib.h, inflateInit2).
  static let gzipFlag: Int32 = 16
  /// zlib's messages for wrong checksums and lengths. zlib reports other invalid data with the same status code, but with different
  /// messages.
  private static let checksumTexts: Set<String> = [
    "incorrect data check", "incorrect length check", "header crc mismatch",
  ]
}
