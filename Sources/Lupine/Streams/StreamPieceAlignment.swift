// `PieceAligner`: moves the boundaries of a body's pieces so that each piece contains only whole UTF-8 characters (RFC 3629).

import Foundation

/// Moves the boundaries between the pieces of a streamed body, so that no character is split between two pieces. The bytes of an
/// incomplete character are held back for the next piece.
protocol PieceAligner: Sendable {
  /// Returns the bytes that the previous call held back, followed by the bytes of `data` up to its last complete character. Holds
  /// back the rest of `data` for the next call.
  mutating func align(_ data: Data) -> Data
  /// Returns the bytes that the latest call of `align` held back. Called when no other piece follows.
  mutating func takeRest() -> Data
}

/// An aligner for UTF-8 text, which holds back the bytes of an incomplete character: at most 3.
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

  /// Returns the number of bytes at the end of `bytes` that begin an incomplete UTF-8 character. Returns 0 if there is no such
  /// character, or if no further bytes could make it valid.
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
      // The check of the second byte excludes the sequences that the RFC forbids.
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
