// HTTPCookie: Foundation's class for cookies, which wraps a `Cookie`.

public import Foundation
import LupineWire

// Unchecked because the class is open. All state is constant.
/// A cookie: a name and a value, with the domain, path and time to which they apply.
///
/// Two cookies are equal if all their public properties, including the value, are equal. Sessions and storages use the values with
/// which the object was created, and ignore properties that a subclass overrides.
open class HTTPCookie: NSObject, NSSecureCoding, @unchecked Sendable {
  /// A policy that determines which servers may set cookies.
  public enum AcceptPolicy: UInt, Sendable {
    /// Every server may set cookies for its host, and for those parent domains that aren't public suffixes.
    case always = 0
    /// No server may set cookies.
    case never = 1
    /// A server may set cookies only if its host is the host of the main document, a parent domain of that host or a subdomain of
    /// it. If there is no main document, every server may set cookies.
    case onlyFromMainDocumentDomain = 2
  }

  final let cookie: Cookie

  init(_ cookie: Cookie) {
    self.cookie = cookie
    super.init()
  }

  /// Creates a cookie from an application's properties.
  ///
  /// Returns nil in each of these cases:
  /// - The name, the value, a path with a leading slash, or the domain (or `originURL`) is missing.
  /// - The name and value are both empty, or together longer than 4,096 bytes.
  /// - A property contains a semicolon or a control character, or the name contains an equals sign,
  ///   because a server would read a different cookie.
  /// - The name begins with `__Secure-` or `__Host-`, but the cookie lacks the attributes
  ///   that this prefix requires (RFC 6265bis §4.1.3).
  public init?(properties: [HTTPCookiePropertyKey: Any]) {
    guard let cookie = Cookie(properties: properties) else { return nil }
    self.cookie = cookie
    super.init()
  }

  /// Creates a cookie from an archive that `encode(with:)` wrote.
  public required init?(coder: NSCoder) {
    guard let data = coder.decodeObject(of: NSData.self, forKey: Self.propertiesKey).map({ Data(referencing: $0) }),
      let values = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
    else { return nil }
    let properties = Dictionary(uniqueKeysWithValues: values.map { (HTTPCookiePropertyKey($0.key), $0.value) })
    guard let cookie = Cookie(properties: properties) else { return nil }
    self.cookie = cookie
    super.init()
  }

  /// Writes the cookie's ``properties`` to an archive.
  open func encode(with coder: NSCoder) {
    var values: [String: Any] = [:]
    for (key, value) in properties ?? [:] { values[key.rawValue] = (value as? URL)?.absoluteString ?? value }
    let data = try? PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
    coder.encode(data.map { NSData(data: $0) }, forKey: Self.propertiesKey)
  }

  /// True: an archive with cookies can be decoded with a list of allowed classes.
  open class var supportsSecureCoding: Bool { true }

  private static let propertiesKey = "properties"

  /// The cookie's name, which may be empty. Invalid UTF-8 is replaced in this property, but sent unchanged.
  open var name: String { String(decoding: cookie.name, as: UTF8.self) }

  /// The cookie's value, with quotation marks if the server sent them. Invalid UTF-8 is replaced in this property, but sent
  /// unchanged.
  open var value: String { String(decoding: cookie.value, as: UTF8.self) }

  /// The cookie's domain in lowercase. A leading dot means that requests to subdomains send the cookie too.
  open var domain: String { cookie.isHostOnly ? cookie.domain : "." + cookie.domain }

  /// The cookie's path. Requests for this path and for paths below it send the cookie.
  open var path: String { cookie.path }

  /// The cookie's expiry date, or nil if the cookie lives as long as its storage. If a server set the cookie, the date is at most
  /// 400 days after the cookie was received.
  open var expiresDate: Date? { cookie.expires }

  /// Whether the cookie has no expiry date, and therefore lives as long as its storage.
  open var isSessionOnly: Bool { cookie.expires == nil }

  /// Whether the cookie is sent only over https.
  open var isSecure: Bool { cookie.isSecure }

  /// Whether the server hides the cookie from scripts. This client runs no scripts, so the flag has no effect.
  open var isHTTPOnly: Bool { cookie.isHTTPOnly }

  /// The server's policy for sending the cookie with cross-site requests (SameSite), or nil if the server set none. The policy has
  /// no effect, because a client without pages sends no cross-site requests.
  open var sameSitePolicy: HTTPCookieStringPolicy? { cookie.sameSite }

  /// The cookie's version (RFC 2965): 0, or 1 if the application has set it. The version has no effect.
  open var version: Int { cookie.obsolete?.version ?? 0 }

  /// The comment on the cookie (RFC 2965), or nil if there is none.
  open var comment: String? { cookie.obsolete?.comment }

  /// The URL of a comment on the cookie (RFC 2965), or nil if there is none.
  open var commentURL: URL? { cookie.obsolete?.commentURL }

  /// The ports to which the cookie is sent, or nil for all ports. Only an application can restrict them.
  open var portList: [NSNumber]? {
    guard let ports = cookie.obsolete?.ports, !ports.isEmpty else { return nil }
    return ports.map { NSNumber(value: $0) }
  }

  /// The properties from which ``init(properties:)`` creates an equal cookie, provided that the name and value are UTF-8.
  open var properties: [HTTPCookiePropertyKey: Any]? { allProperties }

  /// Returns the cookies that a response's fields set. Includes cookies for other domains, but a storage refuses them.
  ///
  /// - Parameters:
  ///   - headerFields: The response's fields, each name once. Set-Cookie lines joined with commas are split again at each comma
  ///     that can't belong to a value or a date. Sessions don't use this method: they parse the separate lines.
  ///   - url: The URL of the response. If it isn't http or https, the result is empty.
  /// - Returns: The cookies in their order. Expired cookies are included, because storing one removes the cookie that it replaces.
  open class func cookies(withResponseHeaderFields headerFields: [String: String], for url: URL) -> [HTTPCookie] {
    guard let source = CookieSource(url) else { return [] }
    let now = Date()
    let values = headerFields.filter { $0.key.isSameFieldName(as: "Set-Cookie") }
    return values.sorted { $0.key < $1.key }.flatMap { JoinedSetCookie.lines(of: Array($0.value.utf8)) }
      .compactMap { line in (try? SetCookie(line)).map { HTTPCookie(Cookie(parsed: $0, from: source, now: now)) } }
  }

  /// Returns a dictionary with the Cookie field that sends the cookies in the given order. Returns an empty dictionary if there are
  /// no cookies.
  open class func requestHeaderFields(with cookies: [HTTPCookie]) -> [String: String] {
    if cookies.isEmpty { return [:] }
    return ["Cookie": cookies.map { String(decoding: $0.cookie.pair, as: UTF8.self) }.joined(separator: "; ")]
  }

  /// Returns whether the object is a cookie whose public properties are equal.
  open override func isEqual(_ object: Any?) -> Bool { (object as? HTTPCookie)?.cookie == cookie }

  /// The cookie's hash value. Equal cookies have equal hash values.
  open override var hash: Int { cookie.hashValue }

  /// A text with the cookie's name, value and attributes. Avoid logging it, because the value may be a secret.
  open override var description: String {
    var text = "<HTTPCookie name:\"\(name)\" value:\"\(value)\" domain:\"\(domain)\" path:\"\(path)\""
    text += " expiresDate:\(expiresDate.map { "\($0)" } ?? "nil") isSecure:\(isSecure) isHTTPOnly:\(isHTTPOnly)"
    if let sameSitePolicy { text += " sameSitePolicy:\(sameSitePolicy.rawValue)" }
    return text.printable + ">"
  }
}
