// HTTPCookie+Properties: creates cookies from a dictionary of properties, and returns that dictionary for a cookie.

import Foundation

/// The name of a property in the dictionary from which an `HTTPCookie` is created.
public struct HTTPCookiePropertyKey: RawRepresentable, Hashable, Sendable {
  /// The name of the cookie property, such as "Domain".
  public let rawValue: String

  /// Creates a key with the name of a cookie property.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Creates a key with the name of a cookie property.
  public init(_ rawValue: String) { self.rawValue = rawValue }

  /// The cookie's name, a `String`. Required.
  public static let name = HTTPCookiePropertyKey("Name")
  /// The cookie's value, a `String`. Required.
  public static let value = HTTPCookiePropertyKey("Value")
  /// The path to which the cookie applies, a `String` that begins with a slash. Required.
  public static let path = HTTPCookiePropertyKey("Path")
  /// The domain to which the cookie applies, a `String`. Required unless there is an `originURL`. Subdomains receive the cookie
  /// only if the domain begins with a dot.
  public static let domain = HTTPCookiePropertyKey("Domain")
  /// A `URL` or `String` whose host becomes the cookie's domain if there is no `domain`.
  public static let originURL = HTTPCookiePropertyKey("OriginURL")
  /// Whether the cookie is sent only over https. Any value except `false` means true.
  public static let secure = HTTPCookiePropertyKey("Secure")
  /// The cookie's expiry date: a `Date`, or a `String` in the format of Set-Cookie's Expires attribute.
  public static let expires = HTTPCookiePropertyKey("Expires")
  /// The cookie's lifetime in seconds from now, a `String` or a number. It takes precedence over `expires`.
  public static let maximumAge = HTTPCookiePropertyKey("Max-Age")
  /// Whether the cookie lives as long as its storage, regardless of `expires`: `true` or the `String` "TRUE".
  public static let discard = HTTPCookiePropertyKey("Discard")
  /// The version of the cookie (RFC 2965), "0" or "1". "0" by default.
  public static let version = HTTPCookiePropertyKey("Version")
  /// A comment on the cookie (RFC 2965), a `String`.
  public static let comment = HTTPCookiePropertyKey("Comment")
  /// The URL of a comment on the cookie (RFC 2965), a `URL` or `String`.
  public static let commentURL = HTTPCookiePropertyKey("CommentURL")
  /// The ports to which the cookie is sent (RFC 2965), a `String` of numbers separated by commas. All ports by default.
  public static let port = HTTPCookiePropertyKey("Port")
  /// The policy for sending the cookie with cross-site requests, an ``HTTPCookieStringPolicy`` or its raw value.
  public static let sameSitePolicy = HTTPCookiePropertyKey("SameSite")
  // The key of the cookie's HttpOnly flag. It preserves the flag when a cookie is converted to a dictionary and back. Foundation
  // has no such key.
  static let httpOnly = HTTPCookiePropertyKey("HttpOnly")
}

/// The value of a cookie's SameSite attribute (RFC 6265bis §5.6.7).
public struct HTTPCookieStringPolicy: RawRepresentable, Hashable, Sendable {
  /// The SameSite policy's name in lowercase, such as "lax".
  public let rawValue: String

  /// Creates a SameSite policy with a name in lowercase.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A cross-site request sends the cookie only if it navigates to the cookie's site.
  public static let sameSiteLax = HTTPCookieStringPolicy(rawValue: "lax")
  /// Cross-site requests never send the cookie.
  public static let sameSiteStrict = HTTPCookieStringPolicy(rawValue: "strict")
  /// Cross-site requests send the cookie as same-site requests do. Foundation has no constant for this value.
  public static let sameSiteNone = HTTPCookieStringPolicy(rawValue: "none")

  /// Creates a SameSite policy from its name. Ignores case. Returns nil unless the name is "lax", "strict" or "none".
  init?(known name: String) {
    self.init(rawValue: name.lowercased())
    guard [.sameSiteLax, .sameSiteStrict, .sameSiteNone].contains(self) else { return nil }
  }
}

extension HTTPCookie {
  /// All properties of the cookie, from which an equal cookie can be created.
  var allProperties: [HTTPCookiePropertyKey: Any] {
    var properties: [HTTPCookiePropertyKey: Any] = [
      .name: name, .value: value, .domain: domain, .path: path, .version: String(version),
    ]
    properties[.expires] = expiresDate
    if isSessionOnly { properties[.discard] = "TRUE" }
    if isSecure { properties[.secure] = "TRUE" }
    if isHTTPOnly { properties[.httpOnly] = "TRUE" }
    properties[.sameSitePolicy] = sameSitePolicy?.rawValue
    properties[.comment] = comment
    properties[.commentURL] = commentURL
    properties[.port] = portList.map { $0.map(\.stringValue).joined(separator: ",") }
    return properties
  }
}

/// A dictionary of cookie properties, with methods that convert the values to the types that a cookie needs.
private struct Properties {
  let values: [HTTPCookiePropertyKey: Any]

  func text(_ key: HTTPCookiePropertyKey) -> String? {
    switch values[key] {
    case let text as any StringProtocol: String(text)
    case let text as NSString: String(describing: text)
    case let number as Int: String(number)
    case let policy as HTTPCookieStringPolicy: policy.rawValue
    default: nil
    }
  }

  func url(_ key: HTTPCookiePropertyKey) -> URL? { values[key] as? URL ?? text(key).flatMap { URL(string: $0) } }

  func isSet(_ key: HTTPCookiePropertyKey) -> Bool {
    guard let value = values[key] else { return false }
    return value as? Bool ?? true
  }

  var isDiscarded: Bool { values[.discard] as? Bool ?? (text(.discard)?.uppercased() == "TRUE") }

  var expires: Date? {
    if isDiscarded { return nil }
    let seconds = values[.maximumAge] as? Double ?? text(.maximumAge).flatMap(Double.init)
    if let seconds, seconds.isFinite {
      return seconds > 0 ? min(Date(timeIntervalSinceNow: seconds), .distantFuture) : .distantPast
    }
    return values[.expires] as? Date ?? text(.expires).flatMap { CookieDate.parse($0.utf8) }
  }

  var obsolete: Cookie.Obsolete? {
    let version = text(.version) == "1" ? 1 : 0
    let ports = (text(.port) ?? "").split(separator: ",").compactMap {
      UInt16($0.trimmingCharacters(in: .whitespaces))
    }
    // As in Foundation, only a cookie of version 1 has several ports.
    let obsolete = Cookie.Obsolete(
      version: version, comment: text(.comment), commentURL: url(.commentURL),
      ports: version == 1 ? ports : Array(ports.prefix(1)))
    return obsolete == Cookie.Obsolete() ? nil : obsolete
  }
}

extension Cookie {
  /// Creates a cookie from an application's properties, or returns nil if ``HTTPCookie/init(properties:)`` refuses them.
  init?(properties: [HTTPCookiePropertyKey: Any]) {
    let properties = Properties(values: properties)
    guard let name = properties.text(.name).map({ Array($0.utf8) }), let path = properties.text(.path),
      let value = properties.text(.value).map({ Array($0.utf8) }),
      let domain = properties.text(.domain) ?? properties.url(.originURL).flatMap(CookieSource.init)?.host
    else { return nil }
    let semicolon = UInt8(ascii: ";")
    guard (try? SetCookie.check(name: name, value: value)) != nil, !value.contains(semicolon),
      !name.contains(semicolon), !name.contains(UInt8(ascii: "=")), path.utf8.first == UInt8(ascii: "/"),
      !path.utf8.contains(where: { SetCookie.isForbidden($0) || $0 == semicolon })
    else { return nil }
    let isShared = domain.utf8.first == UInt8(ascii: ".")
    let bare = Punycode.asciiDomain((isShared ? domain.dropFirst() : domain[...]).lowercased().utf8)
    guard !bare.isEmpty, bare.utf8.count <= CookieLimits.hostBytesMax else { return nil }
    self.init(name: name, value: value, domain: bare, isHostOnly: !isShared, path: path)
    expires = properties.expires
    isSecure = properties.isSet(.secure)
    isHTTPOnly = properties.isSet(.httpOnly)
    sameSite = properties.text(.sameSitePolicy).flatMap(HTTPCookieStringPolicy.init(known:))
    obsolete = properties.obsolete
    guard keepsPrefixPromise else { return nil }
  }
}
