// JSONBytes: searches and comparisons of a document's bytes, eight at a time.

/// The bytes of a document, or a part of them, in memory that this type doesn't own.
struct JSONBytes {
  let start: UnsafePointer<UInt8>
  let count: Int

  @inline(__always)
  init(start: UnsafePointer<UInt8>, count: Int) {
    self.start = start
    self.count = count
  }

  @inline(__always)
  subscript(index: Int) -> UInt8 { start[index] }

  @inline(__always)
  func part(at offset: Int, count: Int) -> JSONBytes { JSONBytes(start: start + offset, count: count) }

  var buffer: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: start, count: count) }

  /// Reads eight bytes at `offset`. The caller has checked that `offset + 8` is at most `count`.
  @inline(__always)
  func word(at offset: Int) -> UInt64 {
    // SAFETY: see above. The type needs no alignment.
    UInt64(littleEndian: UnsafeRawPointer(start + offset).loadUnaligned(as: UInt64.self))
  }

  /// Reads four bytes at `offset`. The caller has checked that `offset + 4` is at most `count`.
  @inline(__always)
  func half(at offset: Int) -> UInt32 {
    // SAFETY: see above. The type needs no alignment.
    UInt32(littleEndian: UnsafeRawPointer(start + offset).loadUnaligned(as: UInt32.self))
  }

  /// Returns whether both parts have the same bytes.
  @inline(__always)
  func equals(_ other: JSONBytes) -> Bool {
    guard count == other.count else { return false }
    // Each load below starts at least as many bytes as it reads before the end of both parts. The last two overlap.
    if count >= 8 {
      var index = 0
      while index < count - 8 {
        if word(at: index) != other.word(at: index) { return false }
        index &+= 8
      }
      return word(at: count - 8) == other.word(at: count - 8)
    }
    if count >= 4 { return half(at: 0) == other.half(at: 0) && half(at: count - 4) == other.half(at: count - 4) }
    var index = 0
    while index < count {
      if start[index] != other.start[index] { return false }
      index &+= 1
    }
    return true
  }

  /// A number that is the same for equal bytes, from the length and at most sixteen bytes. A peer can choose bytes with a given
  /// number, so no more than a few comparisons may depend on it.
  @inline(__always)
  var weakHash: UInt64 {
    var mixed = UInt64(truncatingIfNeeded: count)
    if count >= 8 {
      mixed ^= word(at: 0) ^ (word(at: count - 8) &* 0xFF51_AFD7_ED55_8CCD)
    } else if count >= 4 {
      mixed ^= UInt64(half(at: 0)) << 8 ^ UInt64(half(at: count - 4)) << 32
    } else if count > 0 {
      mixed ^= UInt64(start[0]) << 8 ^ UInt64(start[count / 2]) << 16 ^ UInt64(start[count - 1]) << 24
    }
    mixed ^= mixed >> 29
    return mixed &* 0x9E37_79B9_7F4A_7C15
  }

  /// Returns the offset, at or after `offset`, of the first quotation mark, backslash, control character (below 0x20) or byte above
  /// 0x7F, or `count` if there is none.
  @inline(__always)
  func endOfPlainASCII(from offset: Int) -> Int {
    var index = offset
    while index <= count &- 8 {
      let bytes = word(at: index)
      // Sets the top bit of each byte to find. Borrows come only from such bytes, so the lowest one is exact.
      let found =
        ((bytes ^ Self.quotes) &- Self.ones) | ((bytes ^ Self.backslashes) &- Self.ones) | (bytes &- Self.spaces)
        | bytes
      if found & Self.highBits != 0 { return index &+ (found & Self.highBits).trailingZeroBitCount / 8 }
      index &+= 8
    }
    return endOfPlainASCII(bytewiseFrom: index)
  }

  @inline(never)
  private func endOfPlainASCII(bytewiseFrom offset: Int) -> Int {
    var index = offset
    while index < count, start[index] >= 0x20, start[index] < 0x80, start[index] != 0x22, start[index] != 0x5C {
      index &+= 1
    }
    return index
  }

  /// Returns the offset, at or after `offset`, of the first quotation mark, backslash or control character (below 0x20), or
  /// `count` if there is none. Sets bits of `high` if there are bytes above 0x7F before it.
  @inline(__always)
  func endOfPlainText(from offset: Int, high: inout UInt64) -> Int {
    var index = offset
    while index <= count - 8 {
      let bytes = word(at: index)
      let marks = Self.special(bytes)
      if marks != 0 {
        let marked = marks.trailingZeroBitCount & ~7
        high |= bytes & ((1 << UInt64(marked)) &- 1)
        return index &+ marked / 8
      }
      high |= bytes
      index &+= 8
    }
    while index < count {
      let byte = start[index]
      if byte < 0x20 || byte == 0x22 || byte == 0x5C { return index }
      high |= UInt64(byte)
      index &+= 1
    }
    return count
  }

  /// The bits of `high` that are set by bytes above 0x7F.
  static let highBits: UInt64 = 0x8080_8080_8080_8080

  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let quotes = ones * 0x22
  private static let backslashes = ones * 0x5C
  private static let spaces = ones * 0x20

  // Sets the top bit of each byte that is a quotation mark, a backslash or a control character. Borrows may cause false marks
  // above the lowest one, which is exact.
  @inline(__always)
  private static func special(_ bytes: UInt64) -> UInt64 {
    let (quotes, backslashes) = (bytes ^ Self.quotes, bytes ^ Self.backslashes)
    let found =
      ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes) | ((bytes &- spaces) & ~bytes)
    return found & highBits
  }

  /// Whether the bytes are well-formed UTF-8 (RFC 3629 §4).
  var isUnicode: Bool {
    var index = 0
    while index < count {
      if index <= count - 8, word(at: index) & Self.highBits == 0 {
        index &+= 8
        continue
      }
      let lead = start[index]
      if lead < 0x80 {
        index &+= 1
        continue
      }
      // The number of bytes after the first one, and the range of the second one. The other bytes are 0x80...0xBF.
      let rest: Int
      let second: ClosedRange<UInt8>
      switch lead {
      case 0xC2...0xDF: (rest, second) = (1, 0x80...0xBF)
      case 0xE0: (rest, second) = (2, 0xA0...0xBF)
      case 0xE1...0xEC, 0xEE, 0xEF: (rest, second) = (2, 0x80...0xBF)
      case 0xED: (rest, second) = (2, 0x80...0x9F)
      case 0xF0: (rest, second) = (3, 0x90...0xBF)
      case 0xF1...0xF3: (rest, second) = (3, 0x80...0xBF)
      case 0xF4: (rest, second) = (3, 0x80...0x8F)
      default: return false
      }
      guard count - index > rest, second.contains(start[index + 1]) else { return false }
      var next = 2
      while next <= rest {
        guard start[index + next] & 0xC0 == 0x80 else { return false }
        next += 1
      }
      index &+= rest + 1
    }
    return true
  }
}
