// Where cookies come from and go to: the parts of a URL that decide about them (RFC 6265bis §5.1).

/// A request's URL, as far as cookies care.
package struct CookieSource: Sendable, Hashable {
  /// In lower case; an IPv6 address without its brackets; for a Unix socket its path, so that each has its own cookies.
  let host: String
  /// Without the query; begins with a slash, percent-encoded.
  let path: String
  /// Whether the scheme is https.
  let isSecure: Bool
  let port: UInt16

  /// Whether the host is a numeric address or a socket's path, below which there are no domains.
  var isAddress: Bool {
    let bytes = host.utf8
    if bytes.contains(UInt8(ascii: ":")) || bytes.contains(UInt8(ascii: "/")) { return true }
    // A last label that is a number makes an IPv4 address of what is in front, short and hexadecimal forms included
    // (URL standard, "ends in a number").
    let labels = (bytes.last == UInt8(ascii: ".") ? bytes.dropLast() : bytes[...]).split(separator: UInt8(ascii: "."))
    guard let last = labels.last else { return false }
    let isHexadecimal = last.starts(with: "0x".utf8)
    return last.allSatisfy { $0 &- UInt8(ascii: "0") < 10 } || isHexadecimal
  }

  /// Whether the host is that domain or one below it (RFC 6265bis §5.1.3).
  func matches(domain: String) -> Bool {
    host == domain || (Self.isBelow(host, domain) && !isAddress)
  }

  /// Whether one name is below the other, both in lower case.
  static func isBelow(_ name: String, _ domain: String) -> Bool {
    let (name, domain) = (name.utf8, domain.utf8)
    guard name.count > domain.count, !domain.isEmpty else { return false }
    let rest = name.dropLast(domain.count)
    return rest.last == UInt8(ascii: ".") && name[rest.endIndex...].elementsEqual(domain)
  }

  /// Whether the path is that one or below it (RFC 6265bis §5.1.4).
  func matches(path other: String) -> Bool { Self.isPath(path, at: other) }

  /// `path` is `other`, or begins with it and goes on at a slash.
  static func isPath(_ path: String, at other: String) -> Bool {
    let (path, other) = (path.utf8, other.utf8)
    guard path.starts(with: other) else { return false }
    return path.count == other.count || other.last == UInt8(ascii: "/")
      || path.dropFirst(other.count).first == UInt8(ascii: "/")
  }

  /// The path up to its last slash, without it: what a cookie without a Path gets (RFC 6265bis §5.1.4).
  var defaultPath: String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex,
      path.utf8.first == UInt8(ascii: "/")
    else { return "/" }
    return String(path[..<slash])
  }

  /// The host and each domain above it, the host first.
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
