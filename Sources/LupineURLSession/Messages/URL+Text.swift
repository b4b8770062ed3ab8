// URL+Text: makes a URL of text from outside, which must name the same host here as in browsers.

package import Foundation

extension URL {
  /// Parses text as `URL(string:relativeTo:)` does. Also returns nil if the text's authority contains a backslash.
  ///
  /// Browsers treat the backslash as a slash, so they read another host: in `http://a.test\@b.test/`, they read `a.test`, but RFC
  /// 3986 reads `b.test`. Foundation percent-encodes the backslash, so it can't be recognized in a URL.
  package init?(unambiguous text: String, relativeTo base: URL? = nil) {
    guard !Self.hasBackslashInAuthority(text) else { return nil }
    self.init(string: text, relativeTo: base)
  }

  // [ scheme ":" ] "//" authority (RFC 3986 §3); the authority ends before the first "/", "?" or "#".
  private static func hasBackslashInAuthority(_ text: String) -> Bool {
    // Nearly no URL contains a backslash.
    guard text.containsByte(where: { $0 == UInt8(ascii: "\\") }) else { return false }
    let bytes = text.utf8
    let isDelimiter = { (byte: UInt8) in "/?#".utf8.contains(byte) }
    var rest = bytes[...]
    if let colon = rest.firstIndex(where: { $0 == UInt8(ascii: ":") || isDelimiter($0) }),
      rest[colon] == UInt8(ascii: ":")
    {
      rest = rest[colon...].dropFirst()
    }
    guard rest.starts(with: "//".utf8) else { return false }
    return rest.dropFirst(2).prefix { !isDelimiter($0) }.contains(UInt8(ascii: "\\"))
  }
}

extension String {
  /// Returns whether `isWanted` returns true for a byte of the text. A search of the view `utf8` takes several times as long.
  func containsByte(where isWanted: (UInt8) -> Bool) -> Bool {
    let bytes = utf8.span
    for index in bytes.indices where isWanted(bytes[index]) { return true }
    return false
  }
}
