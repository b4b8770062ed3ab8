// JSONScanner: checks a document against RFC 8259 and writes its tape, in one pass without recursion.

/// Reads a JSON text (RFC 8259 §2) in UTF-8.
struct JSONScanner {
  /// The largest number of containers within each other. RFC 8259 sets no limit; Foundation's JSONDecoder allows 512.
  static let depthMax = 512

  /// Documents must be shorter than this number of bytes, because a word of the tape has 28 bits for a length. Foundation decodes
  /// longer ones.
  static let documentBytesMax = 256 << 20

  /// The index of a tape's word for `null`, which stands for a missing value, and the index of the document's value.
  static let missing = 0
  static let root = 1

  private let bytes: JSONBytes
  private var offset = 0
  private var tape: JSONTape

  // The innermost open container: the index of its first word, or 0 if there is none, and the number of its elements. While one of
  // its elements is open, its word has this state, and its parent's index in place of its end.
  private var container = 0
  private var isObject = false
  private var isRegular = true
  private var elements = 0
  private var depth = 0

  /// Returns the document's tape, which the caller has to free, or nil if the bytes are no valid document or exceed a limit.
  static func tape(of bytes: JSONBytes) -> JSONTape? {
    guard bytes.count < documentBytesMax else { return nil }
    var scanner = JSONScanner(bytes)
    guard scanner.scan() else {
      scanner.tape.free()
      return nil
    }
    return scanner.tape
  }

  private init(_ bytes: JSONBytes) {
    self.bytes = bytes
    tape = JSONTape(byteCount: bytes.count)
    tape.append(JSONWord(.null, length: 0, position: 0), at: 0)
  }

  // JSON-text = ws value ws (RFC 8259 §2). Inlined, so that the scanner's state is in registers.
  @inline(__always)
  private mutating func scan() -> Bool {
    while true {
      // A value, in an object after its key.
      if isObject {
        guard next() == 0x22, let kind = string(), next() == 0x3A else { return false }
        if kind != .asciiText { isRegular = false }
        offset &+= 1
      }
      elements &+= 1
      guard let byte = next() else { return false }
      switch byte {
      case 0x22:
        guard string() != nil else { return false }
      case 0x2D, 0x30...0x39:
        guard number() else { return false }
      case 0x7B:
        guard open(object: true), let byte = next() else { return false }
        if byte != 0x7D { continue }
      case 0x5B:
        guard open(object: false), let byte = next() else { return false }
        if byte != 0x5D { continue }
      case 0x74:
        guard literal(0x6575_7274, 4, .isTrue) else { return false }
      case 0x66:
        guard offset <= bytes.count - 5, bytes[offset + 4] == 0x65, literal(0x736C_6166, 5, .isFalse) else {
          return false
        }
      case 0x6E:
        guard literal(0x6C6C_756E, 4, .null) else { return false }
      default: return false
      }
      // A comma, or the ends of containers.
      while true {
        guard depth > 0 else { return next() == nil }
        guard let byte = next() else { return false }
        if byte == 0x2C {
          offset &+= 1
          break
        }
        guard byte == (isObject ? 0x7D : 0x5D) else { return false }
        offset &+= 1
        close()
      }
    }
  }

  @inline(__always)
  private mutating func open(object: Bool) -> Bool {
    depth &+= 1
    guard depth <= Self.depthMax else { return false }
    if container != 0 {
      tape[container] = JSONWord(kind, length: elements, position: tape[container].position)
    }
    let index = tape.count
    tape.append(JSONWord(.array, length: 0, position: container), at: offset)
    // The word for the reader's progress.
    if object { tape.append(JSONWord(bits: 0), at: offset) }
    (container, isObject, isRegular, elements) = (index, object, true, 0)
    offset &+= 1
    return true
  }

  // Writes the final word of a container, and restores the state of its parent.
  @inline(__always)
  private mutating func close() {
    let parent = tape[container].position
    if isObject, elements == 0 { tape.removeLast() }
    tape[container] = JSONWord(kind, length: elements, position: tape.count)
    depth &-= 1
    container = parent
    guard parent != 0 else { return }
    let word = tape[parent]
    isObject = word.kind != .array
    isRegular = word.kind != .irregularObject
    elements = word.length
  }

  @inline(__always)
  private var kind: JSONWord.Kind { isObject ? (isRegular ? .object : .irregularObject) : .array }

  // Skips white space, and returns the next byte, or nil at the end.
  // ws = *( %x20 / %x09 / %x0A / %x0D ) (RFC 8259 §2)
  @inline(__always)
  private mutating func next() -> UInt8? {
    while offset < bytes.count {
      let byte = bytes[offset]
      guard byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
      offset &+= 1
    }
    return nil
  }

  // `text` is the first four bytes in the order of the memory.
  @inline(__always)
  private mutating func literal(_ text: UInt32, _ length: Int, _ kind: JSONWord.Kind) -> Bool {
    guard offset <= bytes.count - 4, bytes.half(at: offset) == text else { return false }
    tape.append(JSONWord(kind, length: length, position: offset), at: offset)
    offset &+= length
    return true
  }

  // string = quotation-mark *char quotation-mark (RFC 8259 §7). Returns nil if it isn't valid.
  @inline(__always)
  private mutating func string() -> JSONWord.Kind? {
    let start = offset &+ 1
    var high: UInt64 = 0
    var end = bytes.endOfPlainText(from: start, high: &high)
    guard end < bytes.count else { return nil }
    var kind = JSONWord.Kind.asciiText
    if bytes[end] != 0x22 {
      kind = .escapedText
      guard let closing = Self.endOfEscapedText(bytes, from: end, high: &high) else { return nil }
      end = closing
    }
    if high & JSONBytes.highBits != 0 {
      // A sequence of several bytes can't continue over an escape, which is ASCII.
      guard bytes.part(at: start, count: end &- start).isUnicode else { return nil }
      if kind == .asciiText { kind = .unicodeText }
    }
    tape.append(JSONWord(kind, length: end &- start, position: start), at: end)
    offset = end &+ 1
    return kind
  }

  // Returns the offset of the closing quotation mark.
  @inline(never)
  private static func endOfEscapedText(_ bytes: JSONBytes, from start: Int, high: inout UInt64) -> Int? {
    var index = start
    while index < bytes.count {
      switch bytes[index] {
      case 0x22: return index
      case 0x5C:
        guard let length = JSONEscape.length(in: bytes, at: index) else { return nil }
        index = bytes.endOfPlainText(from: index + length, high: &high)
      default: return nil  // a control character
      }
    }
    return nil
  }

  // number = [ minus ] int [ frac ] [ exp ] (RFC 8259 §6)
  @inline(__always)
  private mutating func number() -> Bool {
    let start = offset
    var index = offset
    if bytes[index] == 0x2D { index &+= 1 }
    guard index < bytes.count else { return false }
    if bytes[index] == 0x30 {
      index &+= 1
    } else {
      guard skipDigits(&index) else { return false }
    }
    var kind = JSONWord.Kind.integer
    if index < bytes.count, bytes[index] == 0x2E {
      kind = .decimal
      index &+= 1
      guard skipDigits(&index) else { return false }
    }
    if index < bytes.count, bytes[index] | 0x20 == 0x65 {
      kind = .decimal
      index &+= 1
      if index < bytes.count, bytes[index] == 0x2B || bytes[index] == 0x2D { index &+= 1 }
      guard skipDigits(&index) else { return false }
    }
    tape.append(JSONWord(kind, length: index &- start, position: start), at: index)
    offset = index
    return true
  }

  // 1*DIGIT. Returns whether there is at least one.
  @inline(__always)
  private func skipDigits(_ index: inout Int) -> Bool {
    let start = index
    while index < bytes.count, bytes[index] &- 0x30 < 10 { index &+= 1 }
    return index > start
  }
}
