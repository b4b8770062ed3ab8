// JSONValue: JSON documents (RFC 8259) for replies, without Foundation.

/// A JSON value. Objects keep the order of their members.
package enum JSONValue: Sendable {
  case string(String)
  case number(Int)
  case bool(Bool)
  case null
  case array([JSONValue])
  case object([(String, JSONValue)])

  private func append(to text: inout String) {
    switch self {
    case .string(let string): Self.append(string, to: &text)
    case .number(let number): text += String(number)
    case .bool(let bool): text += bool ? "true" : "false"
    case .null: text += "null"
    case .array(let elements):
      text += "["
      for (index, element) in elements.enumerated() {
        if index > 0 { text += "," }
        element.append(to: &text)
      }
      text += "]"
    case .object(let members):
      text += "{"
      for (index, member) in members.enumerated() {
        if index > 0 { text += "," }
        Self.append(member.0, to: &text)
        text += ":"
        member.1.append(to: &text)
      }
      text += "}"
    }
  }

  // Quotation mark, reverse solidus and U+0000...U+001F must be escaped (RFC 8259 §7).
  private static func append(_ string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where scalar.value < 0x20:
        text += (scalar.value < 0x10 ? "\\u000" : "\\u00") + String(scalar.value, radix: 16)
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}

extension JSONValue: CustomStringConvertible {
  /// The value as JSON text without white space.
  package var description: String {
    var text = ""
    append(to: &text)
    return text
  }
}

extension JSONValue: ExpressibleByStringLiteral {
  /// Creates a JSON string from a string literal.
  package init(stringLiteral value: String) { self = .string(value) }
}

extension JSONValue: ExpressibleByIntegerLiteral {
  /// Creates a JSON number from an integer literal.
  package init(integerLiteral value: Int) { self = .number(value) }
}

extension JSONValue: ExpressibleByBooleanLiteral {
  /// Creates a JSON Boolean from a Boolean literal.
  package init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSONValue: ExpressibleByArrayLiteral {
  /// Creates a JSON array from an array literal.
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
  /// Creates a JSON object from a dictionary literal, with the members in the literal's order.
  package init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(elements) }
}
