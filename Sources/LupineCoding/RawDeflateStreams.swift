// RawDeflateStreams: raw deflate data (RFC 1951) in messages that are flushed one by one, as permessage-deflate needs it
// (RFC 7692 §7.2).
internal import CLupineZlib

/// The window sizes of raw deflate streams, as binary logarithms of their size in bytes.
package enum RawDeflateWindow {
  /// The window sizes that RFC 7692 §7.1.2 permits: 256 bytes to 32 KiB.
  package static let bitsRange = 8...15
  /// The size in bytes of the buffer that receives zlib's output, on the stack: 16 KiB, the payload of one TLS record.
  fileprivate static let scratchBytes = 16 << 10
}

// Unchecked because of the pointer, which only this value uses: it can't be copied.
/// Compresses messages with raw deflate. Each message ends with a sync flush, so that the peer can decode it at once.
package struct RawDeflateEncoder: ~Copyable, @unchecked Sendable {
  private let stream: UnsafeMutablePointer<z_stream>

  /// Creates an encoder whose data can be decoded with a window of `1 << windowBits` bytes, from 8 to 15 bits.
  ///
  /// zlib can't encode raw deflate with a window of 8 bits. The encoder then uses 9 bits: zlib refers back by at most the window
  /// minus 262 bytes (zlib.h, deflateInit2; deflate.h, MIN_LOOKAHEAD), thus by 250 bytes, which fit in a window of 256 bytes.
  package init(windowBits: Int, level: Int = ContentEncoder.levelDefault) throws(CodingError) {
    precondition(RawDeflateWindow.bitsRange.contains(windowBits), "a window has 8 to 15 bits")
    let memoryLevel = DeflateStream.memoryLevel
    stream = try z_stream.allocated(.deflate) {
      lupine_deflateInit2($0, Int32(min(max(level, 0), 9)), -Int32(max(windowBits, 9)), memoryLevel)
    }
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
  }

  /// Compresses a message and appends the result to `output`, without the last four bytes `00 00 FF FF` of the sync flush (RFC 7692
  /// §7.2.1).
  package mutating func encode(_ message: borrowing Span<UInt8>, into output: inout [UInt8]) throws(CodingError) {
    guard !message.isEmpty else {
      // A second sync flush in a row would produce nothing. RFC 7692 §7.2.3.6 defines this form of an empty message.
      output.append(0)
      return
    }
    // SAFETY: the pointer is only used inside the closure.
    try message.withUnsafeBufferPointer { (source) throws(CodingError) in
      var offset = 0
      while offset < source.count {
        let count = min(source.count - offset, CodingLimits.stepBytesMax)
        let isLast = offset + count == source.count
        try deflate(source.baseAddress.map { $0 + offset }, count, flush: isLast ? Z_SYNC_FLUSH : Z_NO_FLUSH, &output)
        offset += count
      }
    }
    output.removeLast(RawInflateDecoder.flushTail.count)
  }

  /// Forgets the previous messages, so that the next message can be decoded without them.
  package mutating func reset() { deflateReset(stream) }

  private mutating func deflate(
    _ source: UnsafePointer<UInt8>?, _ count: Int, flush: Int32, _ output: inout [UInt8]
  ) throws(CodingError) {
    // SAFETY: deflate reads at most avail_in bytes and writes at most avail_out bytes, which are the buffers' counts. The pointers
    // are reset below, so none outlives this call.
    let status = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: RawDeflateWindow.scratchBytes) { scratch in
      stream.pointee.next_in = source
      stream.pointee.avail_in = UInt32(count)
      defer {
        stream.pointee.next_in = nil
        stream.pointee.next_out = nil
      }
      while true {
        stream.pointee.next_out = scratch.baseAddress
        stream.pointee.avail_out = UInt32(scratch.count)
        let status = CLupineZlib.deflate(stream, flush)
        output.append(contentsOf: scratch.dropLast(Int(stream.pointee.avail_out)))
        // The flush is complete when zlib leaves room in the buffer (zlib.h, deflate).
        guard status == Z_OK, stream.pointee.avail_out == 0 else { return status }
      }
    }
    // Z_BUF_ERROR means that the output had filled the buffer exactly, and nothing was left.
    guard status == Z_OK || status == Z_BUF_ERROR else {
      throw CodingError(.internalFailure("deflate returned \(status)"), coding: .deflate)
    }
  }
}

// Unchecked because of the pointer, which only this value uses: it can't be copied.
/// Decompresses messages that are coded with raw deflate.
package struct RawInflateDecoder: ~Copyable, @unchecked Sendable {
  /// The end of a sync flush, which senders omit from a message (RFC 7692 §7.2.1): an empty stored block without its header bits.
  static let flushTail: [UInt8] = [0x00, 0x00, 0xff, 0xff]

  private let stream: UnsafeMutablePointer<z_stream>
  /// Whether the latest decoded block was marked as the last one of the stream. More blocks may follow nevertheless (RFC 7692
  /// §7.2.3.4).
  private var isAtEnd = false
  private var codedByteCount: UInt64 = 0

  /// Creates a decoder with a window of `1 << windowBits` bytes, from 8 to 15 bits. Uses at least 9 bits, because versions of zlib
  /// before 1.2.9 encoded with 9 bits if 8 were requested.
  package init(windowBits: Int) throws(CodingError) {
    precondition(RawDeflateWindow.bitsRange.contains(windowBits), "a window has 8 to 15 bits")
    stream = try z_stream.allocated(.deflate) { lupine_inflateInit2($0, -Int32(max(windowBits, 9))) }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  /// Decodes a part of a message and appends the result to `output`. Throws `.decodedBytesMax` as soon as `output` would contain
  /// more than `countMax` bytes, so that a short message can't fill the memory.
  package mutating func decode(
    _ part: borrowing Span<UInt8>, into output: inout [UInt8], countMax: Int
  ) throws(CodingError) {
    // SAFETY: the pointer is only used inside the closure.
    try part.withUnsafeBufferPointer { (source) throws(CodingError) in
      var offset = 0
      while offset < source.count {
        let count = min(source.count - offset, CodingLimits.stepBytesMax)
        try decode(UnsafeBufferPointer(rebasing: source[offset..<offset + count]), into: &output, countMax: countMax)
        offset += count
      }
    }
  }

  /// Decodes the rest of a message, whose last part has been passed to `decode`. Throws `.truncated` if the message ends within a
  /// block.
  package mutating func finishMessage(into output: inout [UInt8], countMax: Int) throws(CodingError) {
    if isAtEnd { return try restart() }
    try decode(Self.flushTail.span, into: &output, countMax: countMax)
    // zlib.h, inflate: bit 7 of data_type is set between two blocks.
    guard stream.pointee.data_type & 128 != 0 else { throw error(.truncated) }
  }

  /// Forgets the previous messages, because the next one doesn't refer to them.
  package mutating func reset() {
    inflateReset(stream)
    isAtEnd = false
  }

  private mutating func decode(
    _ source: UnsafeBufferPointer<UInt8>, into output: inout [UInt8], countMax: Int
  ) throws(CodingError) {
    // SAFETY: inflate reads at most avail_in bytes and writes at most avail_out bytes, which are the buffers' counts. The pointers
    // are reset below, so none outlives this call.
    stream.pointee.next_in = source.baseAddress
    stream.pointee.avail_in = UInt32(source.count)
    defer {
      stream.pointee.next_in = nil
      stream.pointee.next_out = nil
    }
    try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: RawDeflateWindow.scratchBytes) { scratch in
      Result { () throws(CodingError) in try inflateAll(through: scratch, into: &output, countMax: countMax) }
    }.get()
  }

  /// Decodes the bytes that the stream's `next_in` refers to.
  private mutating func inflateAll(
    through scratch: UnsafeMutableBufferPointer<UInt8>, into output: inout [UInt8], countMax: Int
  ) throws(CodingError) {
    while true {
      if isAtEnd {
        guard stream.pointee.avail_in > 0 else { return }
        try restart()
      }
      let left = stream.pointee.avail_in
      stream.pointee.next_out = scratch.baseAddress
      stream.pointee.avail_out = UInt32(scratch.count)
      let status = inflate(stream, Z_NO_FLUSH)
      codedByteCount += UInt64(left - stream.pointee.avail_in)
      let produced = scratch.dropLast(Int(stream.pointee.avail_out))
      guard produced.count <= countMax - output.count else { throw error(.decodedBytesMax(UInt64(countMax))) }
      output.append(contentsOf: produced)
      switch status {
      case Z_STREAM_END: isAtEnd = true
      case Z_OK where stream.pointee.avail_out == 0 || stream.pointee.avail_in > 0: break
      // Z_BUF_ERROR means that there is neither input nor pending output.
      case Z_OK, Z_BUF_ERROR: return
      case Z_MEM_ERROR: throw error(.outOfMemory)
      // SAFETY: msg is a constant of zlib.
      default: throw error(.corrupt(stream.pointee.msg.map { String(cString: $0) } ?? "inflate returned \(status)"))
      }
    }
  }

  /// Continues after a block that was marked as the last one, with the same window. The window isn't copied: every two bytes of a
  /// message can be such a block, and copying 32 KiB for each would occupy the loop for a second per MiB.
  private mutating func restart() throws(CodingError) {
    isAtEnd = false
    let status = inflateResetKeep(stream)
    guard status == Z_OK else { throw error(.internalFailure("inflateResetKeep returned \(status)")) }
  }

  private func error(_ cause: CodingError.Cause) -> CodingError {
    CodingError(cause, coding: .deflate, codedOffset: codedByteCount)
  }
}

extension z_stream {
  /// Allocates a stream and initializes its state with `initialize`. Throws `.outOfMemory` if that fails.
  static func allocated(
    _ coding: ContentCoding, _ initialize: (UnsafeMutablePointer<z_stream>) -> Int32
  ) throws(CodingError) -> UnsafeMutablePointer<z_stream> {
    // SAFETY: the state points back to the z_stream, so it keeps its address on the heap until the owner's deinit.
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    guard initialize(stream) == Z_OK else {
      stream.deallocate()
      throw CodingError(.outOfMemory, coding: coding)
    }
    return stream
  }
}
