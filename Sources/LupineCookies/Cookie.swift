// Cookie: a stored cookie, and the rules for accepting a server's Set-Cookie line (RFC 6265bis §5.7).

import Foundation

/// A stored cookie with its scope: the domain, path and ports to which it is sent.
struct Cookie: Sendable, Hashable {
  var name: [UInt8]
  var value: [UInt8]
  /// The domain in lowercase, without a leading dot.
  var domain: String
  /// Whether the cookie is sent only to `domain`, and not to its subdomains.
  var isHostOnly: Bool
  var path: String
  /// The expiry date, or nil if the cookie lives as long as its storage.
  var expires: Date?
  var isSecure = false
  var isHTTPOnly = false
  /// The cross-site policy, which only callers can read. It has no effect, because a
  /// client without pages sends no cross-site requests.
  var sameSite: HTTPCookieStringPolicy?
  var obsolete: Obsolete?

  /// Attributes of RFC 2965. A server can set only the comments; the other attributes
  /// come from cookies that the application created.
  struct Obsolete: Sendable, Hashable {
    var version = 0
    var comment: String?
    var commentURL: URL?
    /// The ports to which the cookie is sent, or empty for all ports.
    var ports: [UInt16] = []
  }

  init(name: [UInt8], value: [UInt8], domain: String, isHostOnly: Bool, path: String) {
    self.name = name
    self.value = value
    self.domain = domain
    self.isHostOnly = isHostOnly
    self.path = path
  }

  /// Creates the cookie that a Set-Cookie line describes. Throws an error if the server may not set it.
  ///
  /// - Parameters:
  ///   - wish: The parsed line.
  ///   - source: The URL of the response.
  ///   - now: The current time, from which `Max-Age` counts.
  ///   - isPublicSuffix: Returns whether a domain is a public suffix. Called with the server's host or one of its parent domains.
  init(
    _ wish: SetCookie, from source: CookieSource, now: Date,
    isPublicSuffix: (String) -> Bool = { PublicSuffixes.system.contains($0) }
  ) throws(CookieRefusal) {
    // Step 9: a host that is a public suffix may set cookies only for itself.
    if let domain = wish.domain, domain != source.host || !isPublicSuffix(domain) {
      guard source.matches(domain: domain) else { throw .otherDomain }
      guard domain == source.host || !isPublicSuffix(domain) else { throw .publicSuffix }
      self.init(
        name: wish.name, value: wish.value, domain: domain, isHostOnly: source.isAddress, path: source.defaultPath)
    } else {
      self.init(
        name: wish.name, value: wish.value, domain: source.host, isHostOnly: true, path: source.defaultPath)
    }
    guard source.isSecure || !wish.isSecure else { throw .notSecure }
    take(wish, now: now)
    // As in browsers, the line must contain the path; a default path of "/" doesn't satisfy the prefix.
    guard keepsPrefixPromise, CookiePrefix(of: name) != .host || wish.path == "/" else { throw .prefix }
  }

  /// Creates the cookie that a Set-Cookie line describes, for any domain. The storage decides whether the server may set it.
  init(parsed wish: SetCookie, from source: CookieSource, now: Date) {
    let domain = wish.domain ?? source.host
    let isHostOnly = wish.domain == nil || (source.isAddress && domain == source.host)
    self.init(
      name: wish.name, value: wish.value, domain: domain, isHostOnly: isHostOnly, path: source.defaultPath)
    take(wish, now: now)
  }

  /// Copies the attributes of a Set-Cookie line, except for the domain.
  private mutating func take(_ wish: SetCookie, now: Date) {
    if let wanted = wish.path, wanted.utf8.first == UInt8(ascii: "/") { path = wanted }
    isSecure = wish.isSecure
    isHTTPOnly = wish.isHTTPOnly
    sameSite = wish.sameSite
    // Step 6: Max-Age takes precedence over Expires; §5.5 caps both.
    let latest = now.addingTimeInterval(TimeInterval(CookieLimits.ageSecondsMax))
    if let maxAge = wish.maxAge {
      expires = maxAge > 0 ? now.addingTimeInterval(TimeInterval(maxAge)) : .distantPast
    } else {
      expires = wish.expires.map { min($0, latest) }
    }
    if wish.comment != nil || wish.commentURL != nil {
      obsolete = Obsolete(comment: wish.comment, commentURL: wish.commentURL.flatMap { URL(string: $0) })
    }
  }

  /// Whether the cookie meets the requirements of its name's prefix (steps 20 and 21), apart from an explicit `Path`.
  var keepsPrefixPromise: Bool {
    switch CookiePrefix(of: name) {
    case nil: true
    case .secure: isSecure
    case .host: isSecure && isHostOnly && path == "/"
    }
  }

  /// Returns whether the cookie has expired.
  func isExpired(at now: Date) -> Bool { expires.map { $0 <= now } ?? false }

  /// Returns whether one cookie replaces the other in a storage, because their names, domains,
  /// host-only flags and paths are equal (step 23).
  func isSame(as other: Cookie) -> Bool {
    name == other.name && domain == other.domain && isHostOnly == other.isHostOnly && path == other.path
  }

  /// Returns whether the cookie is sent with a request to this URL (RFC 6265bis §5.8.3, step 1).
  func applies(to source: CookieSource) -> Bool {
    guard isHostOnly ? source.host == domain : source.matches(domain: domain) else { return false }
    guard source.matches(path: path), source.isSecure || !isSecure else { return false }
    guard let ports = obsolete?.ports, !ports.isEmpty else { return true }
    return ports.contains(source.port)
  }

  /// The cookie as it is sent in a Cookie field: `name=value`, or only the value if
  /// the name is empty (RFC 6265bis §5.8.3, step 4).
  var pair: [UInt8] { name.isEmpty ? value : name + [UInt8(ascii: "=")] + value }
}
