// FrameParserTests: frames in any split, the limits of their headers, and masks.

import LupineOrigin
import LupineRandom
import Testing

@testable import LupineWebSocket

@Suite("Frames")
struct FrameParserTests {
  private struct Parsed: Equatable {
    var header: FrameHeader
    var payload: [UInt8]
  }

  /// Parses pieces of a stream, and returns the complete frames.
  private func parse(_ pieces: [ArraySlice<UInt8>]) throws(WebSocketError) -> [Parsed] {
    var parser = FrameParser()
    var frames: [Parsed] = []
    for piece in pieces {
      let piece = Array(piece)
      var cursor = 0
      loop: while true {
        switch try parser.next(piece.span, at: &cursor) {
        case .needMoreBytes: break loop
        case .header(let header): frames.append(Parsed(header: header, payload: []))
        case .payload(let range, _): frames[frames.count - 1].payload += piece[range]
        }
      }
      #expect(cursor == piece.count)
    }
    return frames
  }

  private static let sizes = [0, 1, 125, 126, 127, 65_535, 65_536, 70_000]

  @Test("a frame of any length is parsed whole, byte by byte, at every split of its start, and before another frame")
  func splits() throws {
    for size in Self.sizes {
      let payload = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
      let bytes = ServerFrame(2, payload, isFinal: size % 2 == 0).bytes
      let expected = [
        Parsed(
          header: FrameHeader(
            isFinal: size % 2 == 0, reservedBits: 0, opcode: .binary, payloadByteCount: UInt64(size)),
          payload: payload)
      ]
      #expect(try parse([bytes[...]]) == expected)
      #expect(try parse(bytes.indices.map { bytes[$0...$0] }) == expected)
      for split in 0..<min(bytes.count, 20) {
        #expect(try parse([bytes[..<split], bytes[split...]]) == expected)
      }
      #expect(try parse([(bytes + bytes)[...]]) == expected + expected)
    }
  }

  private static let broken: [(bytes: [UInt8], error: WebSocketError)] = [
    ([0x83, 0x00], .reservedOpcode(3)),
    ([0x8b, 0x00], .reservedOpcode(11)),
    ([0x82, 0x80, 1, 2, 3, 4], .maskedFrame),
    ([0x82, 126, 0x00, 0x7d], .malformedLength),
    ([0x82, 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff], .malformedLength),
    ([0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], .malformedLength),
  ]

  @Test("a frame with a reserved opcode, a mask or a malformed length is refused at every split", arguments: broken)
  func refused(_ bytes: [UInt8], _ error: WebSocketError) {
    for split in 0...bytes.count {
      #expect(throws: error) { try parse([bytes[..<split], bytes[split...]]) }
    }
  }

  @Test("a mask is known to be forbidden after two bytes, before the length has arrived")
  func maskIsRefusedEarly() {
    #expect(throws: WebSocketError.maskedFrame) { try parse([[0x82], [0xfe]]) }
  }

  @Test("masking equals XOR with the key's octets at every length, and masking twice restores the bytes")
  func masking() {
    var random = SplitMix64(seed: 1)
    for count in 0...130 {
      let prefix = count % 7
      let key = MaskingKey(UInt32(truncatingIfNeeded: random.next()))
      let octets = [key.octets.0, key.octets.1, key.octets.2, key.octets.3]
      let bytes = (0..<prefix + count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      var masked = bytes
      key.apply(to: &masked, from: prefix)
      #expect(masked[..<prefix] == bytes[..<prefix])
      #expect(Array(masked[prefix...]) == (0..<count).map { bytes[prefix + $0] ^ octets[$0 & 3] })
      key.apply(to: &masked, from: prefix)
      #expect(masked == bytes)
    }
  }

  @Test("a client's frame is masked, and has the shortest form of its length")
  func serialized() throws {
    for size in Self.sizes {
      let payload = (0..<size).map { UInt8(truncatingIfNeeded: $0 / 3) }
      var bytes: [UInt8] = []
      FrameHeader.append(
        .text, isFinal: false, isCompressed: true, payload: payload.span, key: MaskingKey(0x37fa_213d), to: &bytes)
      #expect(bytes.count == size + (size < 126 ? 6 : size < 65_536 ? 8 : 14))
      let frame = ServerFrame.remove(from: &bytes)
      #expect(
        frame == ServerFrame(1, payload, isFinal: false, reservedBits: 4, mask: [0x37, 0xfa, 0x21, 0x3d]))
      #expect(bytes.isEmpty)
    }
  }
}
