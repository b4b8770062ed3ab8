// Pieces of text that begin and end with whole characters' bytes (RFC 3629), wherever the network has cut them.

import Foundation

/// Moves the places where a body is cut, and keeps for the next piece what it takes from one.
protocol PieceAligner: Sendable {
  /// What was kept, and of `data` as much as can be understood without what follows.
  mutating func align(_ data: Data) -> Data
  /// What was kept, since nothing follows.
  mutating func takeRest() -> Data
}

/// A serializer that can make more of pieces if they are cut elsewhere.
protocol AlignedStreamSerializer: DataStreamSerializer {
  /// An aligner for one stream.
  var aligner: any PieceAligner { get }
}

/// Keeps the bytes of a character whose last byte hasn't come: at most 3.
struct UTF8Aligner: PieceAligner {
  private var kept = Data()

  mutating func align(_ data: Data) -> Data {
    let bytes = kept.isEmpty ? data : kept + data
    let count = Self.incompleteSuffixLength(of: bytes)
    kept = Data(bytes.suffix(count))
    return bytes.dropLast(count)
  }

  mutating func takeRest() -> Data {
    defer { kept = Data() }
    return kept
  }

  /// How many bytes at the end belong to a character that goes on; 0 if what is there can't become one.
  ///
  /// UTF8-2 = %xC2-DF UTF8-tail, UTF8-3 = ( %xE0 %xA0-BF / %xED %x80-9F / … ) UTF8-tail,
  /// UTF8-4 = ( %xF0 %x90-BF / %xF4 %x80-8F / … ) 2( UTF8-tail ), UTF8-tail = %x80-BF (RFC 3629 §4)
  private static func incompleteSuffixLength(of bytes: Data) -> Int {
    for (count, byte) in zip(1...3, bytes.reversed()) {
      if byte & 0xC0 == 0x80 { continue }
      let length =
        switch byte {
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: 1
        }
      guard count < length else { return 0 }
      // The second byte says that it is none of the forms that the RFC rules out.
      return count == 1 || allows(second: bytes[bytes.endIndex - count + 1], behind: byte) ? count : 0
    }
    return 0
  }

  private static func allows(second byte: UInt8, behind first: UInt8) -> Bool {
    switch first {
    case 0xE0: byte >= 0xA0
    case 0xED: byte <= 0x9F
    case 0xF0: byte >= 0x90
    case 0xF4: byte <= 0x8F
    default: true
    }
  }
}
