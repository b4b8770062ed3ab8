// Cookies that an application makes, and their properties as a dictionary that makes the same cookie again.

import Foundation

/// The name of a cookie's property.
public struct HTTPCookiePropertyKey: RawRepresentable, Hashable, Sendable {
  /// The name.
  public let rawValue: String

  /// A key of that name.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// A key of that name.
  public init(_ rawValue: String) { self.rawValue = rawValue }

  /// A `String`; required.
  public static let name = HTTPCookiePropertyKey("Name")
  /// A `String`; required.
  public static let value = HTTPCookiePropertyKey("Value")
  /// A `String`; required. It begins with a slash.
  public static let path = HTTPCookiePropertyKey("Path")
  /// A `String`; required unless there is an `originURL`. Domains below it get the cookie only if it begins with a dot.
  public static let domain = HTTPCookiePropertyKey("Domain")
  /// A `URL` or `String`, whose host is the domain unless there is a `domain`.
  public static let originURL = HTTPCookiePropertyKey("OriginURL")
  /// Anything but `false` makes the cookie secure.
  public static let secure = HTTPCookiePropertyKey("Secure")
  /// A `Date`, or a `String` as in Set-Cookie's Expires.
  public static let expires = HTTPCookiePropertyKey("Expires")
  /// Seconds from now, as a `String` or number; it beats `expires`.
  public static let maximumAge = HTTPCookiePropertyKey("Max-Age")
  /// The `String` "TRUE", or `true`, if the cookie is to live as long as its storage, whatever `expires` says.
  public static let discard = HTTPCookiePropertyKey("Discard")
  /// "0" or "1"; "0" by default.
  public static let version = HTTPCookiePropertyKey("Version")
  /// A `String`.
  public static let comment = HTTPCookiePropertyKey("Comment")
  /// A `URL` or `String`.
  public static let commentURL = HTTPCookiePropertyKey("CommentURL")
  /// Numbers of ports, separated by commas, in a `String`; all by default.
  public static let port = HTTPCookiePropertyKey("Port")
  /// An ``HTTPCookieStringPolicy`` or its raw value.
  public static let sameSitePolicy = HTTPCookiePropertyKey("SameSite")
  // Without it, a cookie would lose the flag on its way through a dictionary.
  static let httpOnly = HTTPCookiePropertyKey("HttpOnly")
}

/// What a cookie's SameSite attribute says (RFC 6265bis §5.6.7).
public struct HTTPCookieStringPolicy: RawRepresentable, Hashable, Sendable {
  /// In lower case.
  public let rawValue: String

  /// A policy of that name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Requests from other sites get the cookie only if they lead there.
  public static let sameSiteLax = HTTPCookieStringPolicy(rawValue: "lax")
  /// Requests from other sites don't get the cookie.
  public static let sameSiteStrict = HTTPCookieStringPolicy(rawValue: "strict")
  /// Requests from other sites get the cookie. Foundation has no name for it.
  public static let sameSiteNone = HTTPCookieStringPolicy(rawValue: "none")

  /// One of the above, in any case; nil for other names.
  init?(known name: String) {
    self.init(rawValue: name.lowercased())
    guard [.sameSiteLax, .sameSiteStrict, .sameSiteNone].contains(self) else { return nil }
  }
}

extension HTTPCookie {
  /// A cookie of an application's own.
  ///
  /// Nil is returned without a name, a value, a path that begins with a slash, and a domain or the URL of one; if name
  /// and value together are empty or longer than 4,096 bytes; if one of them holds a semicolon or a control character,
  /// or the name an equals sign, since they would be another cookie on the wire; and if the name begins with
  /// `__Secure-` or `__Host-` and the cookie isn't what that promises (RFC 6265bis §4.1.3).
  public convenience init?(properties: [HTTPCookiePropertyKey: Any]) {
    guard let cookie = Cookie(Properties(values: properties)) else { return nil }
    self.init(cookie)
  }

  /// The properties, from which ``init(properties:)`` makes the same cookie again, as long as it is UTF-8.
  public var properties: [HTTPCookiePropertyKey: Any]? {
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

/// The dictionary's values by the types that they may have.
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
    if let seconds = text(.maximumAge).flatMap(Double.init), seconds.isFinite {
      return seconds > 0 ? Date(timeIntervalSinceNow: seconds) : .distantPast
    }
    return values[.expires] as? Date ?? text(.expires).flatMap { CookieDate.parse($0.utf8) }
  }

  var obsolete: Cookie.Obsolete? {
    let obsolete = Cookie.Obsolete(
      version: text(.version) == "1" ? 1 : 0, comment: text(.comment), commentURL: url(.commentURL),
      ports: (text(.port) ?? "").split(separator: ",").compactMap { UInt16($0.trimmingCharacters(in: .whitespaces)) })
    return obsolete == Cookie.Obsolete() ? nil : obsolete
  }
}

extension Cookie {
  fileprivate init?(_ properties: Properties) {
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
