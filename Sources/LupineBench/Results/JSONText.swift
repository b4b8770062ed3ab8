// JSONText: writes JSON objects member by member, in the order of the calls.

#if Bench
  /// A JSON value as text.
  struct JSONText {
    let text: String

    init(_ number: Int) { text = "\(number)" }
    init(_ number: UInt64) { text = "\(number)" }
    init(_ flag: Bool) { text = flag ? "true" : "false" }
    /// A number with up to nine decimals.
    init(_ number: Double) { text = number.text(atMost: 9) }
    init(_ string: String) { text = Self.quoted(string) }
    init(_ elements: [JSONText]) { text = "[" + elements.map(\.text).joined(separator: ",") + "]" }
    init(_ members: KeyValuePairs<String, JSONText?>) {
      self.init(members: members.map { ($0.key, $0.value) })
    }
    /// An object. Members without a value are left out.
    init(members: [(String, JSONText?)]) {
      text =
        "{" + members.compactMap { key, value in value.map { "\(Self.quoted(key)):\($0.text)" } }.joined(separator: ",")
        + "}"
    }

    private static func quoted(_ string: String) -> String {
      string.unicodeScalars.reduce(into: "\"") { text, scalar in
        switch scalar {
        case "\"", "\\":
          text += "\\"
          text.unicodeScalars.append(scalar)
        case "\u{0}"..<" ", "\u{7F}":
          let digits = String(scalar.value, radix: 16)
          text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: text.unicodeScalars.append(scalar)
        }
      } + "\""
    }
  }
#endif
