// JSONBuffer: the bytes of a document that is being written.

/// Its owner frees it.
struct JSONBuffer {
  // SAFETY: every method reserves room before it writes, and all accesses are below `capacity`.
  private(set) var start: UnsafeMutablePointer<UInt8>
  private(set) var count = 0
  private var capacity: Int
  // Eight slashes, or eight quotation marks if slashes aren't escaped.
  private let slashes: UInt64

  init(capacity: Int, escapesSlashes: Bool) {
    self.capacity = capacity
    start = .allocate(capacity: capacity)
    slashes = escapesSlashes ? 0x2F2F_2F2F_2F2F_2F2F : 0x2222_2222_2222_2222
  }

  func free() { start.deallocate() }

  /// The bytes at the offsets, which must be below `count`. They are valid until the next change.
  @inline(__always)
  func bytes(_ range: Range<Int>) -> JSONBytes {
    JSONBytes(start: UnsafePointer(start + range.lowerBound), count: range.count)
  }

  @inline(__always)
  mutating func reserve(_ more: Int) {
    if capacity &- count < more { grow(more) }
  }

  @inline(never)
  private mutating func grow(_ more: Int) {
    let larger = max(capacity * 2, count + more)
    // SAFETY: the new memory has room for the initialized bytes of the old memory, which nothing uses afterwards.
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
    memory.update(from: start, count: count)
    start.deallocate()
    start = memory
    capacity = larger
  }

  /// Appends one byte.
  @inline(__always)
  mutating func byte(_ byte: UInt8) {
    reserve(1)
    start[count] = byte
    count &+= 1
  }

  /// Appends four bytes, given in the order of the memory.
  @inline(__always)
  mutating func four(_ bytes: UInt32) {
    reserve(4)
    // SAFETY: there is room for four bytes. The type needs no alignment.
    UnsafeMutableRawPointer(start + count).storeBytes(of: bytes.littleEndian, as: UInt32.self)
    count &+= 4
  }

  mutating func bool(_ value: Bool) {
    if value {
      four(0x6575_7274)  // "true"
    } else {
      four(0x736C_6166)  // "fals"
      byte(0x65)
    }
  }

  @inline(__always)
  mutating func null() { four(0x6C6C_756E) }

  /// Appends a line end and two spaces for each level.
  @inline(never)
  mutating func line(level: Int) {
    byte(0x0A)
    indent(level: level)
  }

  @inline(never)
  mutating func indent(level: Int) {
    reserve(level * 2)
    (start + count).update(repeating: 0x20, count: level * 2)
    count += level * 2
  }

  // MARK: Strings

  /// Appends bytes without escaping.
  mutating func plain(_ bytes: JSONBytes) {
    reserve(bytes.count)
    (start + count).update(from: bytes.start, count: bytes.count)
    count += bytes.count
  }

  /// Appends a text without escaping.
  mutating func plain(_ text: String) { text.withJSONBytes { plain($0) } }

  /// Appends a string with quotation marks.
  @inline(__always)
  mutating func string(_ text: String) { text.withJSONBytes { _ = string($0) } }

  /// Appends well-formed UTF-8 as a string, with the escapes that RFC 8259 §7 requires, in Foundation's form. Returns whether all
  /// characters are ASCII.
  @inline(__always)
  mutating func string(_ bytes: JSONBytes) -> Bool {
    // Whole words are stored, so there has to be room for eight bytes beyond the last one.
    reserve(bytes.count &+ 10)
    start[count] = 0x22
    count &+= 1
    var index = 0
    var high: UInt64 = 0
    while true {
      let rest = bytes.count &- index
      let word = rest >= 8 ? bytes.word(at: index) : bytes.shortWord(at: index)
      let length = min(rest, 8)
      // SAFETY: see above. The type needs no alignment.
      UnsafeMutableRawPointer(start + count).storeBytes(of: word.littleEndian, as: UInt64.self)
      high |= word
      let marks = special(word) & (UInt64.max >> UInt64(64 &- length &* 8))
      if marks == 0 || length == 0 {
        count &+= length
        index &+= length
        if rest <= 8 { break }
      } else {
        let plain = marks.trailingZeroBitCount / 8
        count &+= plain
        index &+= plain
        escape(bytes[index], rest: bytes.count &- index)
        index &+= 1
      }
    }
    start[count] = 0x22
    count &+= 1
    return high & JSONBytes.highBits == 0
  }

  // Sets the top bit of each byte that has to be escaped. Borrows may cause false marks above the lowest one, which is exact.
  @inline(__always)
  private func special(_ bytes: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = bytes ^ 0x2222_2222_2222_2222
    let backslashes = bytes ^ 0x5C5C_5C5C_5C5C_5C5C
    let solidi = bytes ^ slashes
    let found =
      ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes) | ((solidi &- ones) & ~solidi)
      | ((bytes &- 0x2020_2020_2020_2020) & ~bytes)
    return found & JSONBytes.highBits
  }

  // Appends the escape of a byte, and makes room for the other bytes of the string, including the byte.
  @inline(never)
  private mutating func escape(_ byte: UInt8, rest: Int) {
    reserve(rest &+ 6 &+ 10)
    start[count] = 0x5C
    let letter: UInt8 =
      switch byte {
      case 0x08: 0x62
      case 0x09: 0x74
      case 0x0A: 0x6E
      case 0x0C: 0x66
      case 0x0D: 0x72
      case 0x00...0x1F: 0x75
      default: byte
      }
    start[count + 1] = letter
    count += 2
    guard letter == 0x75 else { return }
    start[count] = 0x30
    start[count + 1] = 0x30
    start[count + 2] = 0x30 + byte >> 4
    start[count + 3] = byte & 0xF < 10 ? 0x30 + byte & 0xF : 0x57 + byte & 0xF
    count += 4
  }

  // MARK: Numbers

  @inline(__always)
  mutating func integer<T: FixedWidthInteger>(_ value: T) {
    guard T.bitWidth <= 64 else { return plain(String(value)) }
    digits(UInt64(truncatingIfNeeded: value.magnitude), isNegative: T.isSigned && value < 0)
  }

  // Twenty digits and a sign at most.
  mutating func digits(_ magnitude: UInt64, isNegative: Bool) {
    reserve(21)
    if isNegative {
      start[count] = 0x2D
      count &+= 1
    }
    var length = 1
    var bound: UInt64 = 10
    while length < 20, magnitude >= bound {
      length &+= 1
      bound = bound &* 10
    }
    var rest = magnitude
    var index = count &+ length
    while index > count {
      index &-= 1
      let quotient = rest / 10
      start[index] = 0x30 &+ UInt8(truncatingIfNeeded: rest &- quotient &* 10)
      rest = quotient
    }
    count &+= length
  }

  /// Appends a finite number in the form of its `description`, but without ".0" at the end.
  mutating func double(_ value: Double) {
    let magnitude = value.magnitude
    // Whole numbers below 2^53 are written as such by `description`.
    if magnitude < 0x1p53, magnitude == magnitude.rounded(.towardZero) {
      return digits(UInt64(magnitude), isNegative: value.sign == .minus)
    }
    // Two decimal numbers with at most 15 digits aren't the same double, so a number with 15 digits that rounds to the value is
    // its shortest representation. Below 1e-4, `description` writes an exponent.
    if magnitude >= 1e-4, magnitude < 1e7 {
      let scaled = (magnitude * 1e8).rounded()
      // Both operands are exact, so that the quotient is the double that is nearest to the decimal number.
      if scaled < 1e15, scaled / 1e8 == magnitude {
        return fraction(UInt64(scaled), isNegative: value < 0)
      }
    }
    description(value.description)
  }

  // Appends a number of hundred millionths.
  private mutating func fraction(_ scaled: UInt64, isNegative: Bool) {
    var (whole, rest) = scaled.quotientAndRemainder(dividingBy: 100_000_000)
    digits(whole, isNegative: isNegative)
    var length = 8
    while rest % 10 == 0, length > 1 {
      rest /= 10
      length -= 1
    }
    reserve(9)
    start[count] = 0x2E
    whole = rest
    for index in stride(from: count + length, to: count, by: -1) {
      start[index] = 0x30 &+ UInt8(truncatingIfNeeded: whole % 10)
      whole /= 10
    }
    count += length + 1
  }

  /// As `double`.
  mutating func float(_ value: Float) { description(value.description) }

  private mutating func description(_ text: String) {
    plain(text)
    if count >= 2, start[count - 1] == 0x30, start[count - 2] == 0x2E { count -= 2 }
  }

  // MARK: Sorting

  /// Replaces the bytes from `offset` on by as many others.
  mutating func replace(from offset: Int, by bytes: JSONBytes) {
    // SAFETY: the caller passes as many bytes as there are.
    (start + offset).update(from: bytes.start, count: bytes.count)
  }
}

extension JSONBytes {
  /// The fewer than eight bytes from `offset` to the end, and zeros.
  @inline(__always)
  func shortWord(at offset: Int) -> UInt64 {
    let rest = count &- offset
    if rest >= 4 {
      // Both halves are within the bytes, and overlap.
      return UInt64(half(at: offset)) | UInt64(half(at: count &- 4)) << UInt64((rest &- 4) &* 8)
    }
    guard rest > 0 else { return 0 }
    let middle = rest / 2
    return UInt64(self[offset]) | UInt64(self[offset &+ middle]) << UInt64(middle &* 8)
      | UInt64(self[count &- 1]) << UInt64((rest &- 1) &* 8)
  }
}

extension String {
  /// Calls the closure with the string's bytes in UTF-8.
  @inline(__always)
  func withJSONBytes<Result>(_ body: (JSONBytes) -> Result) -> Result {
    // SAFETY: the pointer is used only while the closure runs. An empty string has no address.
    utf8.span.withUnsafeBufferPointer { buffer in
      guard let start = buffer.baseAddress else { return JSONBytes.withEmpty(body) }
      return body(JSONBytes(start: start, count: buffer.count))
    }
  }
}

extension JSONBytes {
  @inline(never)
  fileprivate static func withEmpty<Result>(_ body: (JSONBytes) -> Result) -> Result {
    withUnsafePointer(to: UInt8(0)) { body(JSONBytes(start: $0, count: 0)) }
  }
}
