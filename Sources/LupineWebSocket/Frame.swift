// Frame: the header of a frame (RFC 6455 §5.2), its parser for any split, and its serialization by a client.
//
//   frame = fin rsv1 rsv2 rsv3 opcode mask payload-length [masking-key] payload-data

/// The meaning of a frame's payload.
package enum Opcode: UInt8, Sendable {
  case continuation = 0x0
  case text = 0x1
  case binary = 0x2
  case close = 0x8
  case ping = 0x9
  case pong = 0xa

  /// Whether the frame is a control frame, which may occur between the fragments of a message.
  package var isControl: Bool { rawValue >= 0x8 }
}

/// The header of a frame from the server, without its length in encoded form.
package struct FrameHeader: Sendable, Equatable {
  /// Whether the frame ends its message.
  package var isFinal: Bool
  /// RSV1 to RSV3 as bits 2 to 0.
  package var reservedBits: UInt8
  package var opcode: Opcode
  package var payloadByteCount: UInt64
}

/// Parses the frames of a server from bytes in any split.
package struct FrameParser: Sendable {
  package enum Event: Equatable {
    case needMoreBytes
    case header(FrameHeader)
    /// Bytes of the payload at these positions. `isLast` is true for the last bytes of the frame, which may be none.
    case payload(Range<Int>, isLast: Bool)
  }

  private enum State {
    case header
    case payload(remaining: UInt64)
  }

  private var state = State.header
  /// The bytes of an incomplete header.
  private var held: [UInt8] = []

  package init() {}

  /// Parses bytes from `cursor` on and moves `cursor` past the parsed bytes.
  package mutating func next(
    _ bytes: borrowing Span<UInt8>, at cursor: inout Int
  ) throws(WebSocketError) -> Event {
    switch state {
    case .header:
      guard let header = try parseHeader(bytes, at: &cursor) else { return .needMoreBytes }
      state = .payload(remaining: header.payloadByteCount)
      return .header(header)
    case .payload(let remaining):
      guard remaining > 0 else {
        state = .header
        return .payload(cursor..<cursor, isLast: true)
      }
      guard cursor < bytes.count else { return .needMoreBytes }
      let count = Int(min(remaining, UInt64(bytes.count - cursor)))
      let range = cursor..<cursor + count
      cursor = range.upperBound
      let isLast = remaining == UInt64(count)
      state = isLast ? .header : .payload(remaining: remaining - UInt64(count))
      return .payload(range, isLast: isLast)
    }
  }

  private mutating func parseHeader(
    _ bytes: borrowing Span<UInt8>, at cursor: inout Int
  ) throws(WebSocketError) -> FrameHeader? {
    // Usually the header arrives whole.
    if held.isEmpty, bytes.count - cursor >= 2 {
      let byteCount = Self.headerByteCount(second: bytes[cursor + 1])
      if bytes.count - cursor >= byteCount {
        defer { cursor += byteCount }
        return try Self.header(bytes.extracting(cursor..<cursor + byteCount))
      }
    }
    while cursor < bytes.count {
      held.append(bytes[cursor])
      cursor += 1
      // The first byte and the mask bit are checked before the rest of the header arrives.
      if held.count == 2 { _ = try Self.start(held.span) }
      guard held.count >= 2, held.count == Self.headerByteCount(second: held[1]) else { continue }
      defer { held.removeAll(keepingCapacity: true) }
      return try Self.header(held.span)
    }
    return nil
  }

  private static func headerByteCount(second: UInt8) -> Int {
    switch second & 0x7f {
    case 126: 4
    case 127: 10
    default: 2
    }
  }

  /// Parses the first two bytes. The length is that in the second byte.
  private static func start(_ bytes: borrowing Span<UInt8>) throws(WebSocketError) -> FrameHeader {
    guard let opcode = Opcode(rawValue: bytes[0] & 0x0f) else { throw .reservedOpcode(bytes[0] & 0x0f) }
    // RFC 6455 §5.1: a client must close the connection if a frame is masked.
    guard bytes[1] & 0x80 == 0 else { throw .maskedFrame }
    return FrameHeader(
      isFinal: bytes[0] & 0x80 != 0, reservedBits: (bytes[0] >> 4) & 0x7, opcode: opcode,
      payloadByteCount: UInt64(bytes[1]))
  }

  private static func header(_ bytes: borrowing Span<UInt8>) throws(WebSocketError) -> FrameHeader {
    var header = try start(bytes)
    if header.payloadByteCount >= 126 {
      var length: UInt64 = 0
      for index in 2..<bytes.count { length = length << 8 | UInt64(bytes[index]) }
      let lengthMin: UInt64 = header.payloadByteCount == 126 ? 126 : 0x1_0000
      guard length >= lengthMin, length >> 63 == 0 else { throw .malformedLength }
      header.payloadByteCount = length
    }
    return header
  }
}

extension FrameHeader {
  /// The maximum length of a client's frame header: 14 bytes.
  private static let headerBytesMax = 14

  /// Appends a masked frame, as a client sends it.
  package static func append(
    _ opcode: Opcode, isFinal: Bool = true, isCompressed: Bool = false, payload: borrowing Span<UInt8>,
    key: MaskingKey, to output: inout [UInt8]
  ) {
    let count = payload.count
    if output.isEmpty { output.reserveCapacity(count + headerBytesMax) }
    output.append((isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode.rawValue)
    switch count {
    case ..<126: output.append(0x80 | UInt8(count))
    case ..<0x1_0000:
      output.append(0x80 | 126)
      for shift in stride(from: 8, through: 0, by: -8) { output.append(UInt8(truncatingIfNeeded: count >> shift)) }
    default:
      output.append(0x80 | 127)
      for shift in stride(from: 56, through: 0, by: -8) { output.append(UInt8(truncatingIfNeeded: count >> shift)) }
    }
    output.append(key.octets.0)
    output.append(key.octets.1)
    output.append(key.octets.2)
    output.append(key.octets.3)
    let start = output.count
    output.append(copying: payload, 0..<count)
    key.apply(to: &output, from: start)
  }
}
