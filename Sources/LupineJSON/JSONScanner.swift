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

  // The innermost open container: the index of its word, or 0 if there is none, and the word, which has the container's elements
  // so far, and its parent's index in place of its end. It is written to the tape while one of the elements is open.
  private var container = 0
  private var word = JSONWord(.array, length: 0, position: 0)
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
    tape.append(JSONWord(.null, length: 0, position: 0))
  }

  // JSON-text = ws value ws (RFC 8259 §2). Inlined, so that the scanner's state is in registers.
  @inline(__always)
  private mutating func scan() -> Bool {
    var expectsKey = false
    while true {
      tape.makeRoom(at: offset)
      guard let byte = next() else { return false }
      if byte == 0x22 {
        guard string(isKey: expectsKey) else { return false }
        if expectsKey {
          guard next() == 0x3A else { return false }
          offset &+= 1
          expectsKey = false
          continue
        }
      } else {
        guard !expectsKey else { return false }
        switch byte {
        case 0x2D, 0x30...0x39:
          guard number() else { return false }
        case 0x7B:
          guard open(.object), let byte = next() else { return false }
          expectsKey = byte != 0x7D
          if expectsKey { continue }
          word = JSONWord(.object, length: 0, position: word.position)
        case 0x5B:
          guard open(.array), let byte = next() else { return false }
          if byte != 0x5D { continue }
          word = JSONWord(.array, length: 0, position: word.position)
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
      }
      // A comma, or the ends of containers.
      while true {
        guard container != 0 else { return next() == nil }
        guard let byte = next() else { return false }
        if byte == 0x2C {
          offset &+= 1
          word.countElement()
          expectsKey = word.isObject
          break
        }
        guard byte == (word.isObject ? 0x7D : 0x5D) else { return false }
        offset &+= 1
        close()
      }
    }
  }

  // Begins a container, which counts one element. The caller corrects the word of an empty one.
  @inline(__always)
  private mutating func open(_ kind: JSONWord.Kind) -> Bool {
    depth &+= 1
    guard depth <= Self.depthMax else { return false }
    if container != 0 { tape[container] = word }
    word = JSONWord(kind, length: 1, position: container)
    container = tape.count
    tape.append(word)
    // The word for the reader's progress.
    if kind == .object { tape.append(JSONWord(bits: 0)) }
    offset &+= 1
    return true
  }

  // Writes the final word of a container, and restores the state of its parent.
  @inline(__always)
  private mutating func close() {
    let parent = word.position
    if word.isObject, word.length == 0 { tape.removeLast() }
    tape[container] = JSONWord(word.kind, length: word.length, position: tape.count)
    depth &-= 1
    container = parent
    // Without a parent, this is the word for null, which is no object.
    word = tape[parent]
  }

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
    tape.append(JSONWord(kind, length: length, position: offset))
    offset &+= length
    return true
  }

  // string = quotation-mark *char quotation-mark (RFC 8259 §7)
  @inline(__always)
  private mutating func string(isKey: Bool) -> Bool {
    let start = offset &+ 1
    let end = bytes.endOfPlainASCII(from: start)
    guard end < bytes.count else { return false }
    guard bytes[end] == 0x22 else { return unusualString(from: start, plainUntil: end, isKey: isKey) }
    tape.append(JSONWord(.asciiText, length: end &- start, position: start))
    offset = end &+ 1
    return true
  }

  // A string with escapes or characters beyond ASCII.
  @inline(__always)
  private mutating func unusualString(from start: Int, plainUntil index: Int, isKey: Bool) -> Bool {
    guard let (kind, end) = Self.unusualString(bytes, from: start, plainUntil: index) else { return false }
    if isKey { word.makeIrregular() }
    tape.append(JSONWord(kind, length: end &- start, position: start))
    offset = end &+ 1
    return true
  }

  // Returns the string's kind, and the offset of its closing quotation mark, or nil if the string isn't valid.
  @inline(never)
  private static func unusualString(
    _ bytes: JSONBytes, from start: Int, plainUntil index: Int
  ) -> (JSONWord.Kind, end: Int)? {
    var high: UInt64 = 0
    var end = bytes.endOfPlainText(from: index, high: &high)
    guard end < bytes.count else { return nil }
    var kind = JSONWord.Kind.unicodeText
    if bytes[end] != 0x22 {
      kind = .escapedText
      guard let closing = endOfEscapedText(bytes, from: end, high: &high) else { return nil }
      end = closing
    }
    if high & JSONBytes.highBits != 0 {
      // A sequence of several bytes can't continue over an escape, which is ASCII.
      guard bytes.part(at: start, count: end &- start).isUnicode else { return nil }
    }
    return (kind, end)
  }

  // Returns the offset of the closing quotation mark.
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
    tape.append(JSONWord(kind, length: index &- start, position: start))
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
