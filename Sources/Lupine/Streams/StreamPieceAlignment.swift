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
  private static func incompleteSuffixLength(of bytes: Data) -> Int {
    // The last character begins at the last byte that doesn't continue one (RFC 3629 §3).
    for (count, byte) in zip(1...3, bytes.reversed()) where byte & 0xC0 != 0x80 {
      let last = bytes.suffix(count)
      do throws(UTF8.ValidationError) {
        _ = try UTF8Span(validating: last.span)
        return 0
      } catch {
        return error.kind == .truncatedScalar ? count : 0
      }
    }
    return 0
  }
}
