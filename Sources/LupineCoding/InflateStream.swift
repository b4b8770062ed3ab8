// gzip (RFC 1952, with several members) and deflate (RFC 1950, or RFC 1951 without the wrapper) through zlib's inflate.
import CLupineZlib

/// One layer of gzip or deflate.
final class InflateStream: StreamDecoder {
  enum Format {
    case gzip
    case deflate
  }

  private enum State {
    /// deflate: it depends on the first two bytes whether there is a zlib header; the first one is held if it is here.
    case beforeHeader(held: UInt8?)
    /// gzip: in the member of that number, from 0; deflate: in the stream.
    case inside(member: Int)
    /// After the end of the member of that number.
    case ended(member: Int)
  }

  private let format: Format
  private let stream: UnsafeMutablePointer<z_stream>
  private var state: State

  init(_ format: Format) throws(CodingError) {
    self.format = format
    self.state = format == .gzip ? .inside(member: 0) : .beforeHeader(held: nil)
    // SAFETY: inflate's state points back to the z_stream, so it stays at one place on the heap until deinit.
    self.stream = .allocate(capacity: 1)
    self.stream.initialize(to: z_stream())
    let windowBits = format == .gzip ? MAX_WBITS + Self.gzipFlag : MAX_WBITS
    guard lupine_inflateInit2(stream, windowBits) == Z_OK else {
      // deinit runs from here too, and inflateEnd refuses a stream without a state.
      throw CodingError(.outOfMemory, coding: format == .gzip ? .gzip : .deflate)
    }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  var isAtEnd: Bool {
    if case .ended = state { true } else { false }
  }

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(StreamFailure) -> DecodingStep {
    switch state {
    case .inside(let member):
      return try inflate(input, into: output, member: member)
    case .beforeHeader(let held):
      return try decodeHeader(held, input, into: output)
    case .ended(let member):
      guard let first = input.first else { return DecodingStep() }
      // A gzip body is one or more members, one after the other (1952 §2.2); what does not begin as one is none.
      guard format == .gzip, first == Self.gzipMagic else { throw StreamFailure(cause: .trailingBytes) }
      inflateReset(stream)
      state = .inside(member: member + 1)
      return try inflate(input, into: output, member: member + 1)
    }
  }

  /// RFC 9110 §8.4.1.2 wants the zlib wrapper and notes that some origins leave it out.
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
    // inflate takes the held byte whole: no code that puts out a byte or ends a stream fits into 8 bits.
    // SAFETY: the pointer to the byte lives only inside the closure.
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
    // SAFETY: inflate reads at most avail_in bytes and writes at most avail_out, which are the buffers' counts; the
    // pointers are taken back below, so that none outlives this call.
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
      return .corrupt("it asks for a preset dictionary, which HTTP does not have")
    case Z_MEM_ERROR:
      return .outOfMemory
    case Z_DATA_ERROR:
      // Neither of the two bytes that open a member (1952 §2.3.1), so it is not a damaged member, but none.
      if member > 0, stream.pointee.total_in <= 2 { return .trailingBytes }
      // SAFETY: msg is a constant of zlib's.
      let text = stream.pointee.msg.map { String(cString: $0) } ?? "no details"
      return Self.checksumTexts.contains(text) ? .checksum(text) : .corrupt(text)
    default:
      return .internalFailure("inflate answered \(status)")
    }
  }

  // CMF and FLG (1950 §2.2): the method is 8, the window no larger than 32 KiB, and the two a multiple of 31.
  private static func isZlibHeader(_ cmf: UInt8, _ flg: UInt8) -> Bool {
    cmf & 0x0f == 8 && cmf >> 4 <= 7 && (UInt16(cmf) << 8 | UInt16(flg)).isMultiple(of: 31)
  }

  /// ID1 of RFC 1952 §2.3.1.
  private static let gzipMagic: UInt8 = 0x1f
  /// What zlib wants added to the window bits for gzip (zlib.h, inflateInit2).
  static let gzipFlag: Int32 = 16
  /// zlib tells a failed check from other invalid data only by its text.
  private static let checksumTexts: Set<String> = [
    "incorrect data check", "incorrect length check", "header crc mismatch",
  ]
}
