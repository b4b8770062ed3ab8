// StubFrame: the frames that a stub exchanges with a WebSocket task (RFC 6455 §5.2).

/// A frame of a WebSocket connection. The client of this package never fragments messages, and stubs agree to no compression.
struct StubFrame: Sendable {
  enum Opcode: UInt8 {
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10
  }

  var opcode: Opcode
  var payload: [UInt8]

  /// The frame as a server sends it, without a mask.
  var bytes: [UInt8] {
    var bytes: [UInt8] = [0x80 | opcode.rawValue]
    switch payload.count {
    case ..<126: bytes.append(UInt8(payload.count))
    case ..<0x1_0000: bytes += [126, UInt8(payload.count >> 8), UInt8(payload.count & 0xff)]
    default:
      bytes.append(127)
      bytes += (0..<8).reversed().map { UInt8(payload.count >> ($0 * 8) & 0xff) }
    }
    return bytes + payload
  }

  /// Removes the first frame of the client from `bytes`, and returns it. Returns nil if there is no complete frame.
  static func removeFirst(from bytes: inout [UInt8]) -> StubFrame? {
    guard bytes.count >= 2, let opcode = Opcode(rawValue: bytes[0] & 0x0f) else { return nil }
    var (count, start) = (Int(bytes[1] & 0x7f), 2)
    if count >= 126 {
      start = count == 126 ? 4 : 10
      guard bytes.count >= start else { return nil }
      count = bytes[2..<start].reduce(0) { $0 << 8 | Int($1) }
    }
    guard bytes.count >= start + 4 + count else { return nil }
    let mask = Array(bytes[start..<start + 4])
    let masked = bytes[start + 4..<start + 4 + count]
    let frame = StubFrame(opcode: opcode, payload: masked.enumerated().map { $1 ^ mask[$0 & 3] })
    bytes.removeFirst(start + 4 + count)
    return frame
  }
}
