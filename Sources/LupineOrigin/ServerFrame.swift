// ServerFrame: WebSocket frames from the point of view of a server, which may break any rule.

/// A frame with arbitrary bits (RFC 6455 §5.2).
package struct ServerFrame: Sendable, Equatable {
  package var opcode: UInt8
  package var isFinal: Bool
  /// RSV1 to RSV3 as bits 2 to 0.
  package var reservedBits: UInt8
  package var payload: [UInt8]
  /// The four octets of the mask, or empty if the frame isn't masked.
  package var mask: [UInt8]

  package init(
    _ opcode: UInt8, _ payload: [UInt8] = [], isFinal: Bool = true, reservedBits: UInt8 = 0, mask: [UInt8] = []
  ) {
    self.opcode = opcode
    self.payload = payload
    self.isFinal = isFinal
    self.reservedBits = reservedBits
    self.mask = mask
  }

  package static func text(_ text: String, isFinal: Bool = true) -> ServerFrame {
    ServerFrame(1, Array(text.utf8), isFinal: isFinal)
  }

  package static func close(_ code: UInt16, _ reason: String = "") -> ServerFrame {
    ServerFrame(8, [UInt8(code >> 8), UInt8(code & 0xff)] + Array(reason.utf8))
  }

  /// The frame as a server sends it.
  package var bytes: [UInt8] {
    let maskBit: UInt8 = mask.isEmpty ? 0 : 0x80
    var bytes = [(isFinal ? 0x80 : 0) | (reservedBits << 4) | opcode]
    switch payload.count {
    case ..<126: bytes.append(maskBit | UInt8(payload.count))
    case ..<0x1_0000: bytes += [maskBit | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xff)]
    default:
      bytes.append(maskBit | 127)
      bytes += (0..<8).reversed().map { UInt8(payload.count >> ($0 * 8) & 0xff) }
    }
    guard !mask.isEmpty else { return bytes + payload }
    return bytes + mask + payload.enumerated().map { $0.element ^ mask[$0.offset & 3] }
  }

  /// Removes the first complete frame of a client from `bytes` and returns it unmasked. Returns nil if the frame is incomplete.
  package static func remove(from bytes: inout [UInt8]) -> ServerFrame? {
    guard bytes.count >= 2 else { return nil }
    let isMasked = bytes[1] & 0x80 != 0
    var (count, index) = (Int(bytes[1] & 0x7f), 2)
    if count >= 126 {
      let lengthBytes = count == 126 ? 2 : 8
      guard bytes.count >= 2 + lengthBytes else { return nil }
      count = bytes[2..<2 + lengthBytes].reduce(0) { $0 << 8 | Int($1) }
      index += lengthBytes
    }
    let maskCount = isMasked ? 4 : 0
    guard bytes.count >= index + maskCount + count else { return nil }
    let mask = Array(bytes[index..<index + maskCount])
    index += maskCount
    var payload = Array(bytes[index..<index + count])
    // A plain loop, because unoptimized sequences take minutes for the tests' large messages under AddressSanitizer.
    var offset = isMasked ? 0 : count
    while offset < count {
      payload[offset] ^= mask[offset & 3]
      offset += 1
    }
    let frame = ServerFrame(
      bytes[0] & 0x0f, payload, isFinal: bytes[0] & 0x80 != 0, reservedBits: bytes[0] >> 4 & 7, mask: mask)
    bytes.removeFirst(index + count)
    return frame
  }
}
