// ParameterizedValue: parses a field value with parameters (RFC 9110 §5.6.6), such as that of Content-Type, including extended
// parameters (RFC 8187). It tolerates whitespace around "=" and in unquoted values, because servers send it.

import LupineEngine

/// A parsed field value that consists of an item and its parameters: `item *( OWS ";" OWS [ name "=" ( token / quoted-string ) ]
/// )`.
struct ParameterizedValue {
  /// The part of the value before the first parameter, in lowercase, such as the media type in Content-Type.
  let item: String

  private var parameters: [(name: String, value: String)] = []

  // The value is parsed by Unicode scalars. A quotation mark followed by a combining mark is one Character, which doesn't equal a
  // quotation mark.
  private typealias Scalars = Substring.UnicodeScalarView

  init(_ field: String) {
    var rest = field.unicodeScalars[...]
    item = Self.takeUnquoted(&rest).lowercased()
    while rest.popFirst() != nil {
      let name = rest.prefix { $0 != "=" && $0 != ";" }
      rest = rest[name.endIndex...]
      guard rest.first == "=" else { continue }
      rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
      let value = rest.first == "\"" ? Self.takeQuoted(&rest) : Self.takeUnquoted(&rest)
      parameters.append((Substring(name).trimmingBlanks, value))
    }
  }

  /// Returns the value of the first parameter with this name, or nil if there is none. The case of the name is ignored.
  func parameter(_ name: String) -> String? {
    parameters.first { $0.name.isSameFieldName(as: name) }?.value
  }

  /// Returns the decoded value of the extended parameter `name*`, such as `filename*`. Returns nil if there is no such parameter,
  /// or if its value is malformed.
  ///
  /// ext-value = charset "'" [ language ] "'" value-chars (RFC 8187 §3.2.1); charset is UTF-8 or ISO-8859-1.
  func extendedParameter(_ name: String) -> String? {
    let value = parameter(name + "*")?.unicodeScalars
    guard let parts = value?.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false), parts.count == 3,
      let bytes = PercentEncoding.decode(Array(Substring(parts[2]).utf8)[...])
    else { return nil }
    switch Substring(parts[0]).lowercased() {
    case "utf-8":
      return String(validating: bytes, as: UTF8.self)
    case "iso-8859-1":
      return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    default:
      return nil
    }
  }

  private static func takeUnquoted(_ rest: inout Scalars) -> String {
    let value = rest.prefix { $0 != ";" }
    rest = rest[value.endIndex...]
    return Substring(value).trimmingBlanks
  }

  /// Removes a quoted-string (RFC 9110 §5.6.4) from the beginning of `rest`, and everything after it up to the next ";". Returns
  /// the content of the quoted-string. Accepts a missing closing quote.
  private static func takeQuoted(_ rest: inout Scalars) -> String {
    var value = String.UnicodeScalarView()
    rest.removeFirst()
    while let scalar = rest.popFirst(), scalar != "\"" {
      // A quoted-pair represents its second character. A backslash at the end of the value is a literal backslash.
      value.append(scalar == "\\" ? rest.popFirst() ?? scalar : scalar)
    }
    rest = rest.drop { $0 != ";" }
    return String(value)
  }
}
