// ByteScan: searches bytes and compares names eight bytes at a time. This file has the wire layer's only unchecked
// memory accesses.

enum ByteScan {
  /// Returns the index of the first control character (below 0x20, or 0x7F) at or after `start`, or `bytes.count` if
  /// there is none.
  ///
  /// One pass both finds the end of a line and validates the line's bytes.
  static func firstControl(in bytes: borrowing Span<UInt8>, from start: Int) -> Int {
    let count = bytes.count
    var index = start
    // SAFETY: each load reads 8 bytes at `index`, and the loop's condition keeps index + 8 within the span.
    bytes.withUnsafeBufferPointer { buffer in
      let raw = UnsafeRawBufferPointer(buffer)
      while index <= count - 8 {
        let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
        if mayHaveControl(word) {
          let marks = bytesBelow0x20(word) | zeroBytes(word ^ 0x7F7F_7F7F_7F7F_7F7F)
          if marks != 0 {
            index += marks.trailingZeroBitCount / 8
            return
          }
        }
        index &+= 8
      }
      while index < count, buffer[index] >= 0x20, buffer[index] != 0x7F { index += 1 }
    }
    return index
  }

  /// Returns the index of the first byte at or after `start` that isn't a token character (RFC 9110 §5.6.2), or
  /// `bytes.count` if there is none.
  static func firstNonToken(in bytes: borrowing Span<UInt8>, from start: Int) -> Int {
    var index = start
    while true {
      index = firstUnusual(in: bytes, from: index)
      guard index < bytes.count, CharacterClass.token.contains(bytes[index]) else { return index }
      index += 1
    }
  }

  /// Returns whether the bytes equal `name`, ignoring ASCII case. `name` must be lowercase ASCII.
  ///
  /// Inlined, because the length of a literal `name` is then known when the comparison is compiled.
  @inline(__always)
  static func matches(_ bytes: borrowing Span<UInt8>, _ name: StaticString) -> Bool {
    guard bytes.count == name.utf8CodeUnitCount else { return false }
    // SAFETY: both buffers have the same length, and no load starts after the eighth byte from the end.
    return bytes.withUnsafeBufferPointer { buffer in
      let raw = UnsafeRawBufferPointer(buffer)
      let expected = UnsafeRawBufferPointer(start: name.utf8Start, count: raw.count)
      let last = raw.count - 8
      guard last >= 0 else { return raw.indices.allSatisfy { Byte.lowercased(raw[$0]) == expected[$0] } }
      var index = 0
      while true {
        let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
        let wanted = UInt64(littleEndian: expected.loadUnaligned(fromByteOffset: index, as: UInt64.self))
        guard lowercased(word) == wanted else { return false }
        guard index < last else { return true }
        index = min(index &+ 8, last)
      }
    }
  }

  // Skips letters and "-" eight at a time, because nearly all names consist only of these. Stops at any other byte. If there are
  // fewer than eight bytes in all, returns `start`.
  @inline(__always)
  private static func firstUnusual(in bytes: borrowing Span<UInt8>, from start: Int) -> Int {
    var index = start
    // SAFETY: each load reads 8 bytes at `index` or `last`, and neither exceeds `last`, the eighth byte from the end.
    bytes.withUnsafeBufferPointer { buffer in
      let raw = UnsafeRawBufferPointer(buffer)
      let last = raw.count - 8
      while index <= last {
        let marks = unusualBytes(UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)))
        if marks != 0 {
          index += marks.trailingZeroBitCount / 8
          return
        }
        index &+= 8
      }
      // The last eight bytes include a shorter rest. The marks of the bytes before the rest are shifted out.
      guard last >= 0, index < raw.count else { return }
      let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: last, as: UInt64.self))
      let marks = unusualBytes(word) >> UInt64(8 * (index - last))
      index = marks == 0 ? raw.count : index + marks.trailingZeroBitCount / 8
    }
    return index
  }

  // Adds a constant to the low 7 bits of each byte. The byte's top bit then shows whether the byte has reached a bound.
  // No sum carries into the next byte.
  @inline(__always)
  private static func unusualBytes(_ word: UInt64) -> UInt64 {
    let ascii = word & 0x7F7F_7F7F_7F7F_7F7F
    let lowercase = ascii | 0x2020_2020_2020_2020
    let letters = (lowercase &+ 0x1F1F_1F1F_1F1F_1F1F) & ~(lowercase &+ 0x0505_0505_0505_0505)  // "a"..."z"
    let hyphens = ~((ascii ^ 0x2D2D_2D2D_2D2D_2D2D) &+ 0x7F7F_7F7F_7F7F_7F7F)
    return (word | ~(letters | hyphens)) & 0x8080_8080_8080_8080
  }

  // Returns the eight bytes with "A"..."Z" replaced by "a"..."z".
  @inline(__always)
  private static func lowercased(_ word: UInt64) -> UInt64 {
    let ascii = word & 0x7F7F_7F7F_7F7F_7F7F
    let letters = (ascii &+ 0x3F3F_3F3F_3F3F_3F3F) & ~(ascii &+ 0x2525_2525_2525_2525) & ~word
    return word | (letters & 0x8080_8080_8080_8080) >> 2
  }

  // A cheap first test. False for eight bytes of visible ASCII and spaces, which is the usual case. True for control
  // characters, and also for bytes above 0x7F.
  @inline(__always)
  private static func mayHaveControl(_ word: UInt64) -> Bool {
    ((word &- 0x2020_2020_2020_2020) | (word &+ 0x0101_0101_0101_0101)) & 0x8080_8080_8080_8080 != 0
  }

  // These functions mark each matching byte by setting its top bit. The lowest mark is exact. Borrows may cause false marks
  // above it.
  @inline(__always)
  private static func bytesBelow0x20(_ word: UInt64) -> UInt64 {
    (word &- 0x2020_2020_2020_2020) & ~word & 0x8080_8080_8080_8080
  }

  @inline(__always)
  private static func zeroBytes(_ word: UInt64) -> UInt64 {
    (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
  }
}

extension String {
  /// Creates text from the span's bytes in UTF-8. Invalid bytes are replaced with U+FFFD.
  init(copying bytes: borrowing Span<UInt8>) {
    // SAFETY: the bytes are copied before the pointer's scope ends.
    self = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
  }
}

extension Array where Element == UInt8 {
  /// Creates an array with a copy of the span's bytes in `range`.
  package init(copying bytes: borrowing Span<UInt8>, _ range: Range<Int>) {
    // SAFETY: `extracting` checks the range, and the bytes are copied before the pointer's scope ends.
    self = bytes.extracting(range).withUnsafeBufferPointer { [UInt8]($0) }
  }

  /// Appends the UTF-8 bytes of the text.
  package mutating func append(copying text: String) {
    let bytes = text.utf8.span
    append(copying: bytes, 0..<bytes.count)
  }
}

extension RangeReplaceableCollection where Element == UInt8 {
  /// Appends the span's bytes in `range`. Inlinable, so that the compiler can specialize this method for the types of other
  /// modules.
  @inlinable
  package mutating func append(copying bytes: borrowing Span<UInt8>, _ range: Range<Int>) {
    // SAFETY: `extracting` checks the range, and the bytes are copied before the pointer's scope ends.
    bytes.extracting(range).withUnsafeBufferPointer { append(contentsOf: $0) }
  }
}
