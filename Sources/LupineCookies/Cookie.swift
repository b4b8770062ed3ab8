// Cookie: a stored cookie, and the rules for accepting a server's Set-Cookie line (RFC 6265bis §5.7).

import Foundation

/// A cookie in a storage, with its scope: the domain, path and ports of the requests that send it.
struct Cookie: Sendable, Hashable {
  var name: [UInt8]
  var value: [UInt8]
  /// The domain of the hosts to which requests send the cookie, in lowercase and without a leading dot.
  var domain: String
  /// Whether requests send the cookie only to the host `domain`, and not to its subdomains.
  var isHostOnly: Bool
  var path: String
  /// The cookie's expiry date, or nil if the cookie lives as long as the storage that contains it.
  var expires: Date?
  var isSecure = false
  var isHTTPOnly = false
  /// The value of the cookie's SameSite attribute, which applications can read. It has no effect on requests, because a client
  /// without pages sends no cross-site requests.
  var sameSite: HTTPCookieStringPolicy?
  var obsolete: Obsolete?

  /// Cookie attributes of the obsolete RFC 2965. A Set-Cookie line can set only the comments. The other attributes come from
  /// cookies that the application created.
  struct Obsolete: Sendable, Hashable {
    var version = 0
    var comment: String?
    var commentURL: URL?
    /// The ports to which requests send the cookie. Empty means all ports.
    var ports: [UInt16] = []
  }

  init(name: [UInt8], value: [UInt8], domain: String, isHostOnly: Bool, path: String) {
    self.name = name
    self.value = value
    self.domain = domain
    self.isHostOnly = isHostOnly
    self.path = path
  }

  /// Creates the cookie that a Set-Cookie line describes. Throws `CookieRefusal.otherDomain`, `.publicSuffix`, `.notSecure` or
  /// `.prefix` if the server isn't permitted to set this cookie.
  ///
  /// - Parameters:
  ///   - line: The parsed Set-Cookie line.
  ///   - source: The URL of the response.
  ///   - now: The current time, from which `Max-Age` counts.
  ///   - isPublicSuffix: A closure that returns whether a domain is a public suffix. Called with the server's host or one of its
  ///     parent domains.
  init(
    _ line: SetCookie, from source: CookieSource, now: Date,
    isPublicSuffix: (String) -> Bool = { PublicSuffixes.system.contains($0) }
  ) throws(CookieRefusal) {
    // Step 9: a host that is a public suffix may set cookies only for itself.
    if let domain = line.domain, domain != source.host || !isPublicSuffix(domain) {
      guard source.matches(domain: domain) else { throw .otherDomain }
      guard domain == source.host || !isPublicSuffix(domain) else { throw .publicSuffix }
      self.init(
        name: line.name, value: line.value, domain: domain, isHostOnly: source.isAddress, path: source.defaultPath)
    } else {
      self.init(
        name: line.name, value: line.value, domain: source.host, isHostOnly: true, path: source.defaultPath)
    }
    guard source.isSecure || !line.isSecure else { throw .notSecure }
    take(line, now: now)
    // As in browsers, the line must contain the path "/" explicitly. A default path of "/" doesn't satisfy the prefix
    // `__Host-`.
    guard keepsPrefixPromise, CookiePrefix(of: name) != .host || line.path == "/" else { throw .prefix }
  }

  /// Creates the cookie that a Set-Cookie line describes, whatever its domain. Doesn't check whether the server is permitted to set
  /// the cookie, because a storage checks this later, before it stores the cookie.
  init(parsed line: SetCookie, from source: CookieSource, now: Date) {
    let domain = line.domain ?? source.host
    let isHostOnly = line.domain == nil || CookieSource.isAddress(domain)
    self.init(
      name: line.name, value: line.value, domain: domain, isHostOnly: isHostOnly, path: source.defaultPath)
    take(line, now: now)
  }

  /// Copies the attributes of a Set-Cookie line to this cookie, except for the domain.
  private mutating func take(_ line: SetCookie, now: Date) {
    if let wanted = line.path, wanted.utf8.first == UInt8(ascii: "/") { path = wanted }
    isSecure = line.isSecure
    isHTTPOnly = line.isHTTPOnly
    sameSite = line.sameSite
    // Step 6: Max-Age takes precedence over Expires. §5.5 caps both.
    let latest = now.addingTimeInterval(TimeInterval(CookieLimits.ageSecondsMax))
    if let maxAge = line.maxAge {
      expires = maxAge > 0 ? now.addingTimeInterval(TimeInterval(maxAge)) : .distantPast
    } else {
      expires = line.expires.map { min($0, latest) }
    }
    if line.comment != nil || line.commentURL != nil {
      obsolete = Obsolete(comment: line.comment, commentURL: line.commentURL.flatMap { URL(string: $0) })
    }
  }

  /// Whether the cookie meets the requirements of its name's prefix, `__Secure-` or `__Host-` (RFC 6265bis §5.7, steps 20 and 21).
  /// True if the name has no prefix. Doesn't check that the Set-Cookie line had an explicit `Path`.
  var keepsPrefixPromise: Bool {
    switch CookiePrefix(of: name) {
    case nil: true
    case .secure: isSecure
    case .host: isSecure && isHostOnly && path == "/"
    }
  }

  /// Returns whether the cookie has expired.
  func isExpired(at now: Date) -> Bool { expires.map { $0 <= now } ?? false }

  /// Returns whether both cookies have the same name, domain, host-only flag and path. If so, storing one of them replaces the
  /// other (RFC 6265bis §5.7, step 23).
  func isSame(as other: Cookie) -> Bool {
    name == other.name && domain == other.domain && isHostOnly == other.isHostOnly && path == other.path
  }

  /// Returns whether a request to this URL sends the cookie (RFC 6265bis §5.8.3, step 1).
  func applies(to source: CookieSource) -> Bool {
    guard isHostOnly ? source.host == domain : source.matches(domain: domain) else { return false }
    guard source.matches(path: path), source.isSecure || !isSecure else { return false }
    guard let ports = obsolete?.ports, !ports.isEmpty else { return true }
    return ports.contains(source.port)
  }

  /// The bytes that `appendPair(to:)` appends.
  var pair: [UInt8] {
    var pair: [UInt8] = []
    appendPair(to: &pair)
    return pair
  }

  /// Appends the cookie in the format of a Cookie field: `name=value`, or only the value if the name is empty (RFC 6265bis §5.8.3,
  /// step 4).
  func appendPair(to field: inout [UInt8]) {
    if !name.isEmpty {
      field += name
      field.append(UInt8(ascii: "="))
    }
    field += value
  }

  /// The number of bytes that `appendPair(to:)` appends.
  var pairByteCount: Int { name.isEmpty ? value.count : name.count + 1 + value.count }
}
