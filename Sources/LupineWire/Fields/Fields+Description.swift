// Fields+Description: the fields as text for logs, without credentials and cookies.

extension Fields: CustomStringConvertible {
  /// A line of text for each field. The values of fields with credentials and cookies are replaced with "(not shown)"; of
  /// Authorization and Proxy-Authorization, the authentication scheme remains. Characters that could control a terminal are escaped.
  public var description: String {
    map { Self.line($0.name, $0.value, hiding: Self.secretNames) }.joined(separator: "\n")
  }

  /// The names, in lowercase, of the fields with credentials or cookies.
  package static let secretNames: Set<String> = [
    "authorization", "proxy-authorization", "authentication-info", "proxy-authentication-info", "cookie", "cookie2",
    "set-cookie", "set-cookie2",
  ]

  /// Returns a field as a line of text, without its value if `secretNames` contains its name. The authentication scheme remains,
  /// unless the value has a single word, which may be a token without a scheme.
  package static func line(_ name: String, _ value: String, hiding secretNames: Set<String>) -> String {
    let known = name.lowercased()
    guard secretNames.contains(known) else { return "\(name): \(value)".printable }
    let words = known.hasSuffix("authorization") ? value.split(separator: " ", maxSplits: 1) : []
    return "\(name): \(words.count == 2 ? "\(words[0]) " : "")(not shown)".printable
  }
}
