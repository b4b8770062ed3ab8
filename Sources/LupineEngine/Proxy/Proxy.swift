// Proxy: a proxy's address and credentials, parsed from a URL by curl's rules.

public import LupineWire

/// A proxy through which requests are sent.
public struct Proxy: Sendable, Hashable {
  /// The protocol between the client and the proxy.
  public enum Scheme: String, Sendable, Hashable, CaseIterable {
    /// An HTTP proxy. It receives http requests in absolute form (RFC 9112 §3.2.2), and opens tunnels for https with CONNECT
    /// (RFC 9110 §9.3.6).
    case http
    /// An HTTP proxy that is reached over TLS. The client verifies the proxy's certificate. All data is encrypted up to the
    /// proxy, including the proxy's credentials and the hosts of tunnels.
    case https
    /// A SOCKS 4A proxy, which looks up host names. It receives no password, and can't connect to IPv6 addresses.
    case socks4a
    /// A SOCKS 5 proxy (RFC 1928). The client looks up host names.
    case socks5
    /// A SOCKS 5 proxy (RFC 1928). The proxy looks up host names.
    case socks5h

    /// Whether the proxy is an HTTP proxy, which forwards requests and opens tunnels with CONNECT.
    package var speaksHTTP: Bool { self == .http || self == .https }

    /// The port of a proxy whose URL has none: 443 for https, and 1080 for all other schemes including http, as in curl.
    var defaultPort: UInt16 { self == .https ? 443 : Proxy.defaultPort }
  }

  /// A user name and a password for a proxy, percent-decoded.
  struct Credentials: Sendable, Hashable {
    let user: String
    let password: String
  }

  /// The port of a proxy whose URL has none: 1080 for every scheme except https, as in curl. For https, the port is 443.
  public static let defaultPort: UInt16 = 1080

  /// The protocol between the client and the proxy.
  public let scheme: Scheme
  /// The proxy's host: a name or an IPv4 address in lowercase, or an IPv6 address without brackets.
  public let host: String
  /// The proxy's port, 1...65535.
  public let port: UInt16
  let credentials: Credentials?
  /// The value of Proxy-Authorization for an HTTP proxy, such as `Bearer …`. If nil (the default), the value follows from the user
  /// name and the password. Proxies of other kinds don't receive it. It is a secret, so descriptions omit it.
  public var authorization: String?
  /// Fields that an HTTP proxy receives with CONNECT only, for example a tenant's key. None by default. Descriptions omit them.
  ///
  /// Requests with different fields don't share tunnels. Host, Content-Length, Transfer-Encoding, Proxy-Authorization and
  /// Proxy-Connection are ignored. If a name or value is malformed, the requests that need the tunnel fail.
  public var connectFields = Fields()

  /// The user name for the proxy, percent-decoded. Nil if the proxy receives no credentials.
  public var user: String? { credentials?.user }
  /// The password for the proxy, percent-decoded. Nil if the proxy receives no credentials. Empty if there is only a user name.
  public var password: String? { credentials?.password }

  /// Parses a proxy's URL: `[scheme://][user[:password]@]host[:port]`.
  ///
  /// Without a scheme, the proxy is an HTTP proxy. The user name and the password are percent-decoded. As in curl, a path, a
  /// query and a fragment are ignored.
  ///
  /// Throws a `ProxyError` with one of these causes: `.malformedHost`, `.malformedPort` or `.malformedCredentials` if the URL is
  /// malformed; `.unsupportedScheme` if its scheme isn't supported (for example SOCKS 4, which has no host names); `.colonInUser`,
  /// `.malformedCredentials` or `.credentialsLength` if the scheme can't send the credentials. The error quotes neither the URL
  /// nor any part that may be a password.
  public init(_ url: String) throws(ProxyError) {
    try self.init(url, place: "the proxy's URL")
  }

  /// Parses the URL of a proxy. `place` says where the URL was found, and is part of the messages of errors.
  init(_ url: String, place: String) throws(ProxyError) {
    let (scheme, rest) = try Self.scheme(of: url, place)
    // Compares bytes, because "@" followed by a combining mark is a single Character. Comparing Characters would result in a
    // different host.
    let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    // Refuses a backslash. Browsers treat it as a slash, so for them the host would end there.
    guard !authority.contains(UInt8(ascii: "\\")) else { throw ProxyError(.malformedHost, place) }
    let at = authority.lastIndex(of: UInt8(ascii: "@"))
    let hostAndPort = at.map { authority[$0...].dropFirst() } ?? authority
    let userInfo = at.map { authority[..<$0] }
    // Without this check, "http:/h" would have the host "http" and an empty port.
    try self.init(
      scheme: scheme ?? .http, hostAndPort: hostAndPort, isPortRequired: scheme == nil,
      credentials: try Self.credentials(userInfo, place), place: place)
  }

  /// Creates a proxy from its parts. `host` is a name or an address; the brackets of an IPv6 address are optional. If `user` is
  /// nil, `password` is ignored.
  ///
  /// If `port` is nil, the scheme's default port is used: 443 for https, and 1080 otherwise. Throws a `ProxyError` with the cause
  /// `.malformedHost` if the host is malformed, `.malformedPort` if the port is 0, or `.colonInUser`, `.malformedCredentials` or
  /// `.credentialsLength` if the credentials can't be sent. HTTP permits no colon in the user name (RFC 7617 §2). SOCKS 4A permits
  /// no NUL in the user name. SOCKS 5 requires a user name of 1 to 255 bytes and a password of at most 255 bytes (RFC 1929 §2).
  public init(
    _ scheme: Scheme, host: String, port: UInt16? = nil, user: String? = nil, password: String = ""
  ) throws(ProxyError) {
    let isBare = host.utf8.contains(UInt8(ascii: ":")) && !host.utf8.starts(with: "[".utf8)
    let port = port ?? scheme.defaultPort
    let hostAndPort = isBare ? "[\(host)]:\(port)" : "\(host):\(port)"
    try self.init(
      scheme: scheme, hostAndPort: hostAndPort[...].utf8, isPortRequired: true,
      credentials: user.map { Credentials(user: $0, password: password) }, place: "the proxy")
  }

  private init(
    scheme: Scheme, hostAndPort: Substring.UTF8View, isPortRequired: Bool, credentials: Credentials?, place: String
  ) throws(ProxyError) {
    // The text must be a host and port by the rules for URIs, without anything before or after them.
    guard !hostAndPort.contains(where: "@/?#".utf8.contains) else { throw ProxyError(.malformedHost, place) }
    let origin: Origin
    do {
      origin = try URI("http://" + String(Substring(hostAndPort))).origin
    } catch {
      if case .malformedPort = error { throw ProxyError(.malformedPort, place) }
      throw ProxyError(.malformedHost, place)
    }
    // Parses the port separately, because the default port of a URI isn't that of a proxy.
    let colon = hostAndPort.lastIndex { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "]") }
    let port = colon.map { hostAndPort[$0...].dropFirst() } ?? hostAndPort[hostAndPort.endIndex...]
    let isPortMissing = hostAndPort.last == UInt8(ascii: ":")
    guard !(isPortMissing && isPortRequired) else { throw ProxyError(.malformedPort, place) }
    try Self.check(credentials, for: scheme, place)
    self.scheme = scheme
    host = origin.host
    self.port = port.isEmpty ? scheme.defaultPort : origin.port
    self.credentials = credentials
  }

  // MARK: Parsing

  // Returns the scheme, or nil if there is none, and the rest of the text. An error quotes the text before "://" only if this
  // text has the syntax of a scheme. Other text might be a password.
  private static func scheme(
    of url: String, _ place: String
  ) throws(ProxyError) -> (Scheme?, Substring.UTF8View) {
    let text = url[...].utf8
    let name = text.prefix(while: CharacterClass.scheme.contains)
    let rest = text[name.endIndex...]
    guard !name.isEmpty, rest.starts(with: "://".utf8) else { return (nil, text) }
    let lowercased = Substring(name).lowercased()
    guard let scheme = Scheme(rawValue: lowercased) else { throw ProxyError(.unsupportedScheme(lowercased), place) }
    return (scheme, rest.dropFirst(3))
  }

  private static func credentials(
    _ userInfo: Substring.UTF8View?, _ place: String
  ) throws(ProxyError) -> Credentials? {
    guard let userInfo, !userInfo.isEmpty else { return nil }
    let user = userInfo.prefix { $0 != UInt8(ascii: ":") }
    let password = userInfo[user.endIndex...].dropFirst()
    guard let user = decode(user), let password = decode(password) else {
      throw ProxyError(.malformedCredentials, place)
    }
    return Credentials(user: user, password: password)
  }

  private static func decode(_ text: Substring.UTF8View) -> String? {
    String(validating: PercentEncoding.decodeLeniently(text), as: UTF8.self)
  }

  private static func check(
    _ credentials: Credentials?, for scheme: Scheme, _ place: String
  ) throws(ProxyError) {
    guard let credentials else { return }
    switch scheme {
    case .http, .https:
      guard !credentials.user.utf8.contains(UInt8(ascii: ":")) else { throw ProxyError(.colonInUser, place) }
    case .socks4a:
      guard !credentials.user.utf8.contains(0) else { throw ProxyError(.malformedCredentials, place) }
    case .socks5, .socks5h:
      // RFC 1929 §2 also requires a password of at least one byte, but some proxies identify their users by the name alone.
      guard 1...255 ~= credentials.user.utf8.count, credentials.password.utf8.count <= 255 else {
        throw ProxyError(.credentialsLength, place)
      }
    }
  }
}

extension Proxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The proxy as a URL without credentials, because descriptions are written to logs.
  public var description: String {
    let host = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    return "\(scheme.rawValue)://\(host):\(port)"
  }

  /// The same as `description`.
  public var debugDescription: String { description }

  /// A mirror without children, because `dump` would show the password.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
