// ReadableText: formats URLs, fields, bodies, counts and durations for descriptions. Passwords are omitted and characters that
// could control a terminal are escaped, because descriptions are logged.

package import Foundation
import LupineEngine
import Synchronization

package enum ReadableText {
  /// The maximum size, in bytes, of a body whose text is included in a description: 100,000, as in Alamofire. For a longer body,
  /// the description contains only the size.
  package static let bodyBytesMax = 100_000

  /// Returns the URL as text, without its user information (RFC 3986 §3.2.1), which may contain a password. If `url` is nil,
  /// returns "(no URL)".
  package static func url(_ url: URL?) -> String {
    guard let text = url?.absoluteString.printable else { return "(no URL)" }
    // Searches Unicode scalars, because a delimiter with a combining mark is a Character that differs from the delimiter.
    let scalars = text.unicodeScalars
    // URI = scheme ":" "//" [ userinfo "@" ] host … (RFC 3986 §3)
    guard let colon = scalars.firstIndex(where: { ":/?#".unicodeScalars.contains($0) }), scalars[colon] == ":",
      scalars[colon...].starts(with: "://".unicodeScalars)
    else { return text }
    let start = scalars.index(colon, offsetBy: 3)
    let end = scalars[start...].firstIndex { "/?#".unicodeScalars.contains($0) } ?? scalars.endIndex
    guard let at = scalars[start..<end].lastIndex(of: "@") else { return text }
    return String(scalars[..<start]) + String(scalars[scalars.index(after: at)...])
  }

  /// Returns the method and the URL of a request as text, such as `GET https://example.com/`.
  package static func request(_ request: URLRequest) -> String {
    "\((request.httpMethod ?? "(no method)").printable) \(url(request.url))"
  }

  /// Returns an indented line of text for each field. The values of fields with credentials and cookies, and of those that any
  /// session's redirect rule declares secret, aren't included. Of Authorization, the authentication scheme is included, unless the
  /// value has a single word, which may be a token without a scheme.
  package static func fields(_ fields: [(name: String, value: String)]) -> [String] {
    let secret = secretNames.withLock { $0 }
    return fields.map { name, value in "  " + Fields.line(name, value, hiding: secret) }
  }

  /// The names, in lowercase, of the fields whose values aren't included in descriptions. A description doesn't know the session to
  /// which it belongs, so the set contains the names that any session of the process has declared secret.
  private static let secretNames = Mutex(Fields.secretNames)

  /// Omits the values of the fields with these names from all later descriptions.
  static func hideFields(_ names: Set<String>) {
    secretNames.withLock { $0.formUnion(names.map { $0.lowercased() }) }
  }

  /// Returns `text` as one line that can't control a terminal.
  package static func line(_ text: String) -> String { text.printable }

  /// Whether a terminal may interpret the character, or show the text around it differently.
  package static func controlsTerminal(_ scalar: Unicode.Scalar) -> Bool { scalar.controlsTerminal }

  /// Returns `text`, which may have several lines, without characters that could control a terminal.
  package static func lines(_ text: String) -> String { text.printableLines }

  /// Returns a body's size as text, followed by the body itself if it has a text type and at most `bodyBytesMax` bytes.
  package static func body(_ body: Data?, contentType: String?) -> String {
    guard let body, !body.isEmpty else { return "none" }
    let size = bytes(Int64(body.count))
    // As in Alamofire, a content type that contains one of these words is text.
    let type = contentType?.lowercased() ?? ""
    guard body.count <= bodyBytesMax, ["json", "xml", "text"].contains(where: type.contains) else { return size }
    let text = String(decoding: body, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    return "\(size)\n\(text.printableLines)"
  }

  /// Returns a number of bytes as text with its unit, such as `512 bytes` or `1.2 MB`. k, M and G are powers of 1,000.
  package static func bytes(_ count: Int64) -> String {
    switch count {
    case ..<0: "unknown length"
    case 1: "1 byte"
    case ..<1_000: "\(count) bytes"
    case ..<1_000_000: String(format: "%.1f kB", Double(count) / 1e3)
    case ..<1_000_000_000: String(format: "%.1f MB", Double(count) / 1e6)
    default: String(format: "%.1f GB", Double(count) / 1e9)
    }
  }

  /// Returns a duration, given in seconds, as text with a suitable unit, such as `250 µs`, `12.5 ms` or `1.25 s`.
  package static func duration(_ seconds: TimeInterval) -> String {
    switch seconds {
    case ..<0.001: String(format: "%.0f µs", seconds * 1e6)
    case ..<1: String(format: "%.1f ms", seconds * 1e3)
    default: String(format: "%.2f s", seconds)
    }
  }

  /// Returns a number followed by a noun, which gets an "s" in the plural, such as `1 cookie` or `2 cookies`.
  package static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}
