// Foundation's cookie: an object around the value that the rules work with.

public import Foundation

/// A cookie: a name and a value that a server has set, with where they go back to and until when.
///
/// Two cookies are equal if all that can be seen of them is, the value included.
public final class HTTPCookie: NSObject, NSSecureCoding, Sendable {
  /// Which servers may set cookies.
  public enum AcceptPolicy: UInt, Sendable {
    /// Every server, for its own domain and those above it up to a public suffix.
    case always = 0
    /// None.
    case never = 1
    /// Those whose host is that of the main document, or above or below it; every server if there is no main document.
    case onlyFromMainDocumentDomain = 2
  }

  let cookie: Cookie

  init(_ cookie: Cookie) {
    self.cookie = cookie
    super.init()
  }

  /// Decodes an archived cookie.
  public init?(coder: NSCoder) {
    guard let data = coder.decodeObject(of: NSData.self, forKey: Self.propertiesKey).map({ Data(referencing: $0) }),
      let values = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
    else { return nil }
    let properties = Dictionary(uniqueKeysWithValues: values.map { (HTTPCookiePropertyKey($0.key), $0.value) })
    guard let cookie = HTTPCookie(properties: properties)?.cookie else { return nil }
    self.cookie = cookie
    super.init()
  }

  /// Archives the cookie's ``properties``.
  public func encode(with coder: NSCoder) {
    var values: [String: Any] = [:]
    for (key, value) in properties ?? [:] { values[key.rawValue] = (value as? URL)?.absoluteString ?? value }
    let data = try? PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
    coder.encode(data.map { NSData(data: $0) }, forKey: Self.propertiesKey)
  }

  /// True: archives can be decoded with a list of allowed classes.
  public static var supportsSecureCoding: Bool { true }

  private static let propertiesKey = "properties"

  /// The name; it may be empty. What isn't UTF-8 in it is replaced here, but sent as it came.
  public var name: String { String(decoding: cookie.name, as: UTF8.self) }

  /// The value, with quotes if it came with them. What isn't UTF-8 in it is replaced here, but sent as it came.
  public var value: String { String(decoding: cookie.value, as: UTF8.self) }

  /// The domain in lower case: with a dot in front if the domains below it get the cookie too, without if they don't.
  public var domain: String { cookie.isHostOnly ? cookie.domain : "." + cookie.domain }

  /// The path; the paths below it get the cookie too.
  public var path: String { cookie.path }

  /// When it ends, or nil if it lives as long as its storage. At most 400 days away if a server has set it.
  public var expiresDate: Date? { cookie.expires }

  /// Whether it lives as long as its storage.
  public var isSessionOnly: Bool { cookie.expires == nil }

  /// Whether it is sent over https alone.
  public var isSecure: Bool { cookie.isSecure }

  /// Whether its server wants it kept from scripts; there are none here.
  public var isHTTPOnly: Bool { cookie.isHTTPOnly }

  /// What its server says of requests from other sites, or nil. Kept and not acted upon, since a client without pages
  /// has no such requests.
  public var sameSitePolicy: HTTPCookieStringPolicy? { cookie.sameSite }

  /// 0, or 1 if an application has made it so (RFC 2965); nothing depends on it.
  public var version: Int { cookie.obsolete?.version ?? 0 }

  /// A comment that an application has given it.
  public var comment: String? { cookie.obsolete?.comment }

  /// The URL of a comment that an application has given it.
  public var commentURL: URL? { cookie.obsolete?.commentURL }

  /// The ports that it goes back to, or nil for all; only an application can restrict them.
  public var portList: [NSNumber]? {
    guard let ports = cookie.obsolete?.ports, !ports.isEmpty else { return nil }
    return ports.map { NSNumber(value: $0) }
  }

  /// Whether the other object is a cookie of which all that can be seen is the same.
  public override func isEqual(_ object: Any?) -> Bool { (object as? HTTPCookie)?.cookie == cookie }

  /// The same for equal cookies.
  public override var hash: Int { cookie.hashValue }

  /// Name, value and attributes. The value may be a secret: mind where it is printed.
  public override var description: String {
    var text = "<HTTPCookie name:\"\(name)\" value:\"\(value)\" domain:\"\(domain)\" path:\"\(path)\""
    text += " expiresDate:\(expiresDate.map { "\($0)" } ?? "nil") isSecure:\(isSecure) isHTTPOnly:\(isHTTPOnly)"
    if let sameSitePolicy { text += " sameSitePolicy:\(sameSitePolicy.rawValue)" }
    return text + ">"
  }
}
