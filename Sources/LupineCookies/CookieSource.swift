// CookieSource: the parts of a URL that determine which cookies its server may set and receives (RFC 6265bis §5.1).

package import Foundation
package import LupineWire

/// The parts of a request's or response's URL that determine which cookies the request sends or the response may set.
package struct CookieSource: Sendable, Hashable {
  /// The URL's host in lowercase. An IPv6 address has no brackets. For a Unix socket, the host is the socket's path, so that each
  /// socket has separate cookies.
  let host: String
  /// The URL's percent-encoded path without the query. It begins with a slash.
  let path: String
  /// Whether the URL's scheme is https.
  let isSecure: Bool
  let port: UInt16

  /// Whether the URL's host is an IP address or a Unix socket's path, and therefore has no subdomains.
  var isAddress: Bool { Self.isAddress(host) }

  /// Returns whether `host` is an IP address or a Unix socket's path.
  static func isAddress(_ host: String) -> Bool {
    if host.utf8.contains(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }) { return true }
    // If the last label is a number, the host is an IPv4 address, possibly in a short or
    // hexadecimal form (URL standard, "ends in a number").
    var last = host.utf8[...]
    while last.last == UInt8(ascii: ".") { last.removeLast() }
    if let dot = last.lastIndex(of: UInt8(ascii: ".")) { last = last[dot...].dropFirst() }
    guard !last.isEmpty else { return false }
    return last.allSatisfy { $0 &- UInt8(ascii: "0") < 10 } || last.starts(with: "0x".utf8)
  }

  /// Returns whether the URL's host is `domain` or a subdomain of it (RFC 6265bis §5.1.3).
  func matches(domain: String) -> Bool {
    host == domain || (Self.isBelow(host, domain) && !isAddress)
  }

  /// Returns whether `name` is a subdomain of `domain`. Both must be in lowercase.
  static func isBelow(_ name: String, _ domain: String) -> Bool {
    let (name, domain) = (name.utf8, domain.utf8)
    guard name.count > domain.count, !domain.isEmpty else { return false }
    let rest = name.dropLast(domain.count)
    return rest.last == UInt8(ascii: ".") && name[rest.endIndex...].elementsEqual(domain)
  }

  /// Returns whether the URL's path is `other` or is below the path `other` (RFC 6265bis §5.1.4).
  func matches(path other: String) -> Bool { Self.isPath(path, at: other) }

  /// Returns whether `path` is equal to the path `other` or below it: "/a" and "/a/b" are at "/a", but "/ab" isn't.
  static func isPath(_ path: String, at other: String) -> Bool {
    let (path, other) = (path.utf8, other.utf8)
    guard path.starts(with: other) else { return false }
    return path.count == other.count || other.last == UInt8(ascii: "/")
      || path.dropFirst(other.count).first == UInt8(ascii: "/")
  }

  /// The path of a cookie from this URL that has no Path attribute (RFC 6265bis §5.1.4): the URL's path before its last slash. If
  /// the URL's path has only one slash, the cookie's path is "/".
  var defaultPath: String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex,
      path.utf8.first == UInt8(ascii: "/")
    else { return "/" }
    return String(path[..<slash])
  }

  /// The URL's host, followed by each of its parent domains, such as "a.example.org", "example.org" and "org".
  var domains: [String] {
    if isAddress { return [host] }
    var domains = [host]
    var rest = host.utf8[...]
    while let dot = rest.firstIndex(of: UInt8(ascii: ".")) {
      rest = rest[dot...].dropFirst()
      domains.append(String(Substring(rest)))
    }
    return domains
  }
}

// URLs are parsed by the engine's URI parser, so that cookies and connections agree on the host.
extension CookieSource {
  /// Creates the cookie source for a URI. Returns nil if the host is longer than the longest DNS name.
  package init?(_ uri: URI) {
    let host = uri.origin.socketPath ?? uri.origin.host
    guard host.utf8.count <= CookieLimits.hostBytesMax else { return nil }
    self.init(
      host: host, path: String(Substring(uri.target.utf8.prefix { $0 != UInt8(ascii: "?") })),
      isSecure: uri.origin.scheme == .https, port: uri.origin.port)
  }

  /// Creates the cookie source for a URL. Returns nil if the URL isn't a valid http or https URL.
  package init?(_ url: URL) {
    guard let uri = try? URI(url.absoluteString) else { return nil }
    self.init(uri)
  }
}
