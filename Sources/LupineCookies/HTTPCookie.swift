// HTTPCookie: Foundation's class for cookies, which wraps a `Cookie`.

public import Foundation

/// A cookie: a name and a value, with the domain and path to which it is sent and the time until which it is stored.
///
/// Two cookies are equal if all their public properties, including the value, are equal.
public final class HTTPCookie: NSObject, NSSecureCoding, Sendable {
  /// The rule that decides which servers may set cookies.
  public enum AcceptPolicy: UInt, Sendable {
    /// Every server may set cookies for its host, and for those parent domains that aren't public suffixes.
    case always = 0
    /// No server may set cookies.
    case never = 1
    /// A server may set cookies only if its host is the host of the main document, a parent domain of that host or a subdomain of
    /// it. If there is no main document, every server may set cookies.
    case onlyFromMainDocumentDomain = 2
  }

  let cookie: Cookie

  init(_ cookie: Cookie) {
    self.cookie = cookie
    super.init()
  }

  /// Creates a cookie from an archive that `encode(with:)` has written. Returns nil if the archive doesn't contain a valid cookie.
  public init?(coder: NSCoder) {
    guard let data = coder.decodeObject(of: NSData.self, forKey: Self.propertiesKey).map({ Data(referencing: $0) }),
      let values = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
    else { return nil }
    let properties = Dictionary(uniqueKeysWithValues: values.map { (HTTPCookiePropertyKey($0.key), $0.value) })
    guard let cookie = HTTPCookie(properties: properties)?.cookie else { return nil }
    self.cookie = cookie
    super.init()
  }

  /// Writes the cookie's ``properties`` to an archive.
  public func encode(with coder: NSCoder) {
    var values: [String: Any] = [:]
    for (key, value) in properties ?? [:] { values[key.rawValue] = (value as? URL)?.absoluteString ?? value }
    let data = try? PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
    coder.encode(data.map { NSData(data: $0) }, forKey: Self.propertiesKey)
  }

  /// Always true: archived cookies can be decoded with a list of allowed classes.
  public static var supportsSecureCoding: Bool { true }

  private static let propertiesKey = "properties"

  /// The cookie's name, which may be empty. In this property, invalid UTF-8 is replaced with U+FFFD, but requests send the original
  /// bytes.
  public var name: String { String(decoding: cookie.name, as: UTF8.self) }

  /// The cookie's value, with quotation marks if the server sent them. In this property, invalid UTF-8 is replaced with U+FFFD, but
  /// requests send the original bytes.
  public var value: String { String(decoding: cookie.value, as: UTF8.self) }

  /// The domain to which the cookie is sent, in lowercase. A leading dot means that subdomains receive the cookie too.
  public var domain: String { cookie.isHostOnly ? cookie.domain : "." + cookie.domain }

  /// The path to which the cookie applies. Requests for this path and for paths below it send the cookie.
  public var path: String { cookie.path }

  /// The expiry date, or nil if the cookie lives as long as its storage. A date that a server has set is at most 400 days after the
  /// time at which the cookie was received.
  public var expiresDate: Date? { cookie.expires }

  /// Whether the cookie has no expiry date and lives as long as its storage.
  public var isSessionOnly: Bool { cookie.expires == nil }

  /// Whether the cookie is sent only over https.
  public var isSecure: Bool { cookie.isSecure }

  /// Whether the server hides the cookie from scripts. This client runs no scripts, so the flag has no effect.
  public var isHTTPOnly: Bool { cookie.isHTTPOnly }

  /// The server's policy for sending the cookie with cross-site requests, or nil if the server set none. The policy has no effect,
  /// because a client without pages sends no cross-site requests.
  public var sameSitePolicy: HTTPCookieStringPolicy? { cookie.sameSite }

  /// The cookie's version: 0, or 1 if the application has set it (RFC 2965). The version has no effect.
  public var version: Int { cookie.obsolete?.version ?? 0 }

  /// The comment on the cookie, or nil if there is none (RFC 2965).
  public var comment: String? { cookie.obsolete?.comment }

  /// The URL of a comment on the cookie, or nil if there is none (RFC 2965).
  public var commentURL: URL? { cookie.obsolete?.commentURL }

  /// The ports to which the cookie is sent, or nil for all ports. Only an application can restrict the ports.
  public var portList: [NSNumber]? {
    guard let ports = cookie.obsolete?.ports, !ports.isEmpty else { return nil }
    return ports.map { NSNumber(value: $0) }
  }

  /// Returns whether the object is a cookie with equal public properties.
  public override func isEqual(_ object: Any?) -> Bool { (object as? HTTPCookie)?.cookie == cookie }

  /// A hash value that is the same for equal cookies.
  public override var hash: Int { cookie.hashValue }

  /// The cookie's name, value and attributes. The value may be a secret; avoid logging it.
  public override var description: String {
    var text = "<HTTPCookie name:\"\(name)\" value:\"\(value)\" domain:\"\(domain)\" path:\"\(path)\""
    text += " expiresDate:\(expiresDate.map { "\($0)" } ?? "nil") isSecure:\(isSecure) isHTTPOnly:\(isHTTPOnly)"
    if let sameSitePolicy { text += " sameSitePolicy:\(sameSitePolicy.rawValue)" }
    return text + ">"
  }
}
