// DocumentSource: random JSON documents, most of them valid, with everything that decoders disagree about.

package import LupineRandom

package struct DocumentSource {
  package var random: SplitMix64
  // The number of values that may still be written, so that documents end.
  private var budget = 0
  private var text: [UInt8] = []

  package init(seed: UInt64) { random = SplitMix64(seed: seed) }

  /// The keys of documents and types: with underscores, beyond ASCII, canonically equivalent, empty, long.
  package static let keys = [
    "a", "b", "c", "d", "id", "name", "userName", "user_name", "created_at", "createdAt", "_private_key_", "__", "_x",
    "x_", "a__b", "ab1", "line_1", "line1", "size_2x", "UPPER_case", "ABC", "HTTP_URL", "é", "e\u{301}", "K",
    "\u{212A}",
    "", "kind-of", "kind_of-thing", "a.b_c", "a_rather_long_name_of_a_key", "aRatherLongNameOfAKey", "0", "1", "12",
    "-3",
    "super", "left", "right", "value", "_0", "tag", "next", "children", "date", "data", "url", "price", "straße_1",
    "_é",
  ]

  static let numbers = [
    "0", "-0", "1", "-1", "7", "127", "128", "-128", "-129", "255", "256", "32767", "32768", "65535", "65536",
    "2147483647",
    "2147483648", "-2147483648", "4294967295", "4294967296", "9007199254740991", "9007199254740992", "9007199254740993",
    "-9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
    "18446744073709551615", "18446744073709551616", "12345678901234567890", "-12345678901234567890",
    "170141183460469231731687303715884105727", "340282366920938463463374607431768211456", "1.0", "-1.0", "1e2", "1E+2",
    "1e-2", "100e-2", "0.0", "-0.0", "0e5", "0e-999999", "1.5", "-1.5e-3", "1e400", "-1e400", "1e-400", "-1e-400",
    "5e-324", "2e-324", "3e-324", "2.2250738585072014e-308", "2.2250738585072011e-308", "1.7976931348623157e308",
    "1.7976931348623159e308", "0.1", "0.30000000000000004", "3.4028235e38", "3.4028236e38", "1e-45", "7e-46",
    "1.401298464324817e-45", "16777217", "16777217.0", "9007199254740993.0", "9007199254740993.00000000000000001",
    "0.000000000000000000000000000000000000000000000000001", "1e99999999999999999999", "1e-99999999999999999999",
    "123456789012345678901234567890e-20", "12e0", "1.0e1", "255.0", "255.9999999999999999999", "1e18", "1e19", "1e20",
  ]

  static let strings = [
    "", "a", "text", "a text of more than fifteen bytes", "é", "\u{1F600}", "\\u00e9", "\\ud83d\\ude00",
    "\\n\\t\\\"\\\\",
    "\\/", "2024-03-05T06:07:08Z", "2024-02-30T06:07:08Z", "2024-03-05T06:07:08+01:00", "2024-03-05T06:07:08.5Z",
    "1582-10-10T00:00:00Z", "0001-01-01T00:00:00Z", "2024-3-5T6:7:8Z", "2024-12-31T23:59:60Z", "2024-12-31T24:00:00Z",
    "aGVsbG8=", "aGVsbG8", "aGVs bG8=", "https://example.com/a?b=c", "http://[", "a b", "Infinity", "-Infinity", "NaN",
    "\\u0049nfinity", "1", "1.5", "true", "E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "left", "right", "one", "two",
    "\\u0000",
    "en_US", "\u{212A}", "\u{FEFF}", "日本語のテキスト",
  ]

  /// Texts that are no valid value, or not everywhere.
  static let faults = [
    "01", "-", "1.", ".5", "1e", "1e+", "+1", "--1", "nul", "True", "NaN", "\"", "\"\\x\"", "\"\\ud800\"",
    "\"\\udc00\"",
    "\"\\ud800\\u0041\"", "\"\\u12\"", "\"\u{1}\"", "{", "[", "]", "}", ",", ":", "[1,]", "{\"a\":1,}", "//", "1 2",
    "\"a\"b",
    "{\"a\" 1}", "{a:1}", "'a'", "\u{FEFF}1", "0x10", "1e5.5", "-Infinity", "\"\\uD83D\"",
  ]

  private static let invalidBytes: [[UInt8]] = [
    [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22],
    [0x22, 0xE2, 0x82, 0x22], [0x22, 0x80, 0x22], [0x00], [0x22, 0x00, 0x22], [0x22, 0xF0, 0x80, 0x80, 0x80, 0x22],
  ]

  /// Returns a document. If a type is named, its usual form is likely.
  package mutating func document(shape: Shape? = nil) -> [UInt8] {
    text = []
    budget = random.number(1...40)
    if random.number(0...40) == 0 { text = [0xEF, 0xBB, 0xBF] }
    blanks()
    if let shape, random.number(0...9) > 0 { write(shape) } else { value(depth: 0) }
    blanks()
    if random.number(0...7) == 0 { mutate() }
    return text
  }

  private mutating func blanks() {
    guard random.number(0...5) == 0 else { return }
    for _ in 0...random.number(0...3) { text.append(random.pick([0x20, 0x0A, 0x0D, 0x09])) }
  }

  private mutating func add(_ string: String) { text += string.utf8 }

  private mutating func value(depth: Int) {
    budget -= 1
    let kinds = budget > 0 && depth < 6 ? 13 : 9
    switch random.number(0...kinds) {
    case 0: add(random.pick(["null", "true", "false"]))
    case 1: add("null")
    case 2, 3: number()
    case 4, 5, 6: string()
    case 7: number()
    case 8: if random.number(0...30) == 0 { add(random.pick(Self.faults)) } else { string() }
    case 9: if random.number(0...60) == 0 { text += random.pick(Self.invalidBytes) } else { add("true") }
    case 10, 11: array(depth: depth)
    default: object(depth: depth)
    }
  }

  private mutating func number() {
    switch random.number(0...4) {
    case 0: add(random.pick(Self.numbers))
    case 1: add("\(random.number(-1000...1000))")
    case 2: add("\(Double(random.number(-100_000...100_000)) / 100)")
    case 3:
      let double = Double(bitPattern: random.next())
      add(double.isFinite ? "\(double)" : "0")
    default:
      var digits = "\(random.next())"
      if random.number(0...1) == 0 {
        let index = digits.index(digits.startIndex, offsetBy: random.number(1...digits.count - 1))
        digits.insert(".", at: index)
        if index == digits.indices.last { digits += "5" }
      }
      add(digits + (random.number(0...1) == 0 ? "e\(random.number(-40...40))" : ""))
    }
  }

  private mutating func string() {
    add("\"")
    add(random.pick(Self.strings))
    add("\"")
  }

  private mutating func key(_ name: String? = nil) {
    let name = name ?? random.pick(Self.keys)
    add("\"")
    if random.number(0...40) == 0, let first = name.unicodeScalars.first, first.value < 0x10000 {
      let digits = String(first.value, radix: 16)
      add("\\u" + String(repeating: "0", count: 4 - digits.count) + digits + String(name.unicodeScalars.dropFirst()))
    } else {
      add(name)
    }
    add("\"")
    blanks()
    add(":")
    blanks()
  }

  private mutating func array(depth: Int) {
    add("[")
    for index in 0..<random.number(0...5) {
      if index > 0 { add(",") }
      blanks()
      value(depth: depth + 1)
      blanks()
    }
    add("]")
  }

  private mutating func object(depth: Int) {
    // Beyond sixteen keys, the decoder makes an index.
    let count = random.number(0...8) == 0 ? random.number(15...45) : random.number(0...6)
    add("{")
    for index in 0..<count {
      if index > 0 { add(",") }
      blanks()
      key()
      value(depth: depth + 1)
      blanks()
    }
    add("}")
  }

  private mutating func mutate() {
    for _ in 0...random.number(0...2) where !text.isEmpty {
      let index = random.number(0...text.count - 1)
      switch random.number(0...4) {
      case 0: text.removeSubrange(index...)
      case 1: text.remove(at: index)
      case 2: text.insert(random.pick(Array("{}[]\",:0-e.\\u\u{0}é ".utf8)), at: index)
      case 3: text[index] = UInt8(truncatingIfNeeded: random.next())
      default: text.insert(contentsOf: random.pick(Self.faults).utf8, at: index)
      }
    }
  }

  // MARK: Documents for a type

  /// The form of a type's documents.
  package indirect enum Shape: Sendable {
    case any, number, whole, string, truth, date, side, uuid
    case list(Shape)
    case optional(Shape)
    case dictionary(Shape)
    case object([(String, Shape)])
    case oneOf([Shape])
    /// A nested value of the type itself, whose form is the argument of `write`.
    case recursive
  }

  private mutating func write(_ shape: Shape, in whole: Shape? = nil, depth: Int = 0) {
    let whole = whole ?? shape
    budget -= 1
    if random.number(0...80) == 0 { return value(depth: depth) }
    switch shape {
    case .any: value(depth: depth)
    case .number: number()
    case .whole: add("\(random.number(0...120))")
    case .side: add(random.pick(["\"left\"", "\"right\""]))
    case .uuid: add("\"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\"")
    case .string: string()
    case .truth: add(random.pick(["true", "false"]))
    case .date:
      add(
        "\"\(2000 + random.number(0...40))-0\(random.number(1...9))-1\(random.number(0...9))T0\(random.number(0...9)):11:12Z\""
      )
    case .optional(let shape):
      if random.number(0...2) == 0 || budget < 0 { add("null") } else { write(shape, in: whole, depth: depth) }
    case .list(let shape):
      add("[")
      for index in 0..<(budget < 0 || depth > 5 ? 0 : random.number(0...4)) {
        if index > 0 { add(",") }
        write(shape, in: whole, depth: depth + 1)
      }
      add("]")
    case .dictionary(let shape):
      add("{")
      for index in 0..<(budget < 0 || depth > 5 ? 0 : random.number(0...4)) {
        if index > 0 { add(",") }
        key(random.number(0...2) == 0 ? "\(random.number(-9...9))" : nil)
        write(shape, in: whole, depth: depth + 1)
      }
      add("}")
    case .object(var members):
      if random.number(0...3) == 0 { members.shuffle(using: &random) }
      if random.number(0...5) == 0, let member = members.last { members.append(member) }
      if random.number(0...7) == 0 { members.removeLast() }
      add("{")
      var isFirst = true
      for (name, shape) in members {
        if !isFirst { add(",") }
        isFirst = false
        if random.number(0...5) == 0 {
          key()
          value(depth: depth + 2)
          add(",")
        }
        key(name)
        write(shape, in: whole, depth: depth + 1)
        blanks()
      }
      add("}")
    case .oneOf(let shapes): write(random.pick(shapes), in: whole, depth: depth)
    case .recursive: if budget < 0 || depth > 5 { add("null") } else { write(whole, in: whole, depth: depth + 1) }
    }
  }
}
