// A cookie as it is kept, and the rules by which a server's wish becomes one (RFC 6265bis §5.7).

import Foundation

/// A cookie with whom it belongs to.
struct Cookie: Sendable, Hashable {
  var name: [UInt8]
  var value: [UInt8]
  /// In lower case and without a dot in front.
  var domain: String
  /// Whether it goes back to `domain` alone, and not to the domains below it.
  var isHostOnly: Bool
  var path: String
  /// Nil if it lives as long as its storage.
  var expires: Date?
  var isSecure = false
  var isHTTPOnly = false
  /// Kept and not acted upon: there are no pages here from which a request to another site could come.
  var sameSite: HTTPCookieStringPolicy?
  var obsolete: Obsolete?

  /// Attributes of RFC 2965. Servers can set the comments; the rest only an application's own cookies have.
  struct Obsolete: Sendable, Hashable {
    var version = 0
    var comment: String?
    var commentURL: URL?
    /// The ports that it goes back to; empty for all.
    var ports: [UInt16] = []
  }

  init(name: [UInt8], value: [UInt8], domain: String, isHostOnly: Bool, path: String) {
    self.name = name
    self.value = value
    self.domain = domain
    self.isHostOnly = isHostOnly
    self.path = path
  }

  /// The cookie that a server asks for, unless it may not.
  ///
  /// `isPublicSuffix` is asked only about the server's own host or a domain above it.
  init(
    _ wish: SetCookie, from source: CookieSource, now: Date,
    isPublicSuffix: (String) -> Bool = { PublicSuffixes.system.contains($0) }
  ) throws(CookieRefusal) {
    // Step 9: a host that is a public suffix itself may set cookies, for itself alone.
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
    // As browsers do, the path has to be written, not to follow from the URL.
    guard keepsPrefixPromise, CookiePrefix(of: name) != .host || wish.path == "/" else { throw .prefix }
  }

  /// The cookie as a server has written it, of whatever domain: whether it may set it is the storage's decision.
  init(parsed wish: SetCookie, from source: CookieSource, now: Date) {
    let domain = wish.domain ?? source.host
    let isHostOnly = wish.domain == nil || (source.isAddress && domain == source.host)
    self.init(
      name: wish.name, value: wish.value, domain: domain, isHostOnly: isHostOnly, path: source.defaultPath)
    take(wish, now: now)
  }

  /// Takes the attributes over, except for the domain.
  private mutating func take(_ wish: SetCookie, now: Date) {
    if let wanted = wish.path, wanted.utf8.first == UInt8(ascii: "/") { path = wanted }
    isSecure = wish.isSecure
    isHTTPOnly = wish.isHTTPOnly
    sameSite = wish.sameSite
    // Step 6: Max-Age beats Expires; §5.5 caps both.
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

  /// Steps 20 and 21, but for how the path came about.
  var keepsPrefixPromise: Bool {
    switch CookiePrefix(of: name) {
    case nil: true
    case .secure: isSecure
    case .host: isSecure && isHostOnly && path == "/"
    }
  }

  /// Whether its time is over.
  func isExpired(at now: Date) -> Bool { expires.map { $0 <= now } ?? false }

  /// Whether both stand in one place, of which a storage has only one: the later one replaces the earlier (step 23).
  func isSame(as other: Cookie) -> Bool {
    name == other.name && domain == other.domain && isHostOnly == other.isHostOnly && path == other.path
  }

  /// Whether it is sent with a request (RFC 6265bis §5.8.3, step 1).
  func applies(to source: CookieSource) -> Bool {
    guard isHostOnly ? source.host == domain : source.matches(domain: domain) else { return false }
    guard source.matches(path: path), source.isSecure || !isSecure else { return false }
    guard let ports = obsolete?.ports, !ports.isEmpty else { return true }
    return ports.contains(source.port)
  }

  /// The cookie in a Cookie field (RFC 6265bis §5.8.3, step 4).
  var pair: [UInt8] { name.isEmpty ? value : name + [UInt8(ascii: "=")] + value }
}
