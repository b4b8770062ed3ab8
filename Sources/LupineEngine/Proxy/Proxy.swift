// A proxy's address and credentials, read from a URL as curl reads it.

internal import LupineWire

/// A proxy that requests go through.
public struct Proxy: Sendable, Hashable {
  /// How the proxy is spoken to.
  public enum Scheme: String, Sendable, Hashable, CaseIterable {
    /// HTTP: a request in absolute form for http (RFC 9112 §3.2.2), a CONNECT tunnel for https (RFC 9110 §9.3.6).
    case http
    /// SOCKS 5 (RFC 1928); host names are looked up here.
    case socks5
    /// SOCKS 5; the proxy looks host names up.
    case socks5h
  }

  /// A name and a password, decoded.
  struct Credentials: Sendable, Hashable {
    let user: String
    let password: String
  }

  /// The port where a URL has none: 1080, for every scheme, http included, as in curl.
  public static let defaultPort: UInt16 = 1080

  /// How the proxy is spoken to.
  public let scheme: Scheme
  /// A name or an IPv4 address in lower case, or an IPv6 address without its brackets.
  public let host: String
  /// The port, 1...65535.
  public let port: UInt16
  let credentials: Credentials?

  /// The user's name, or nil if the proxy gets no credentials.
  public var user: String? { credentials?.user }
  /// The user's password; nil if the proxy gets no credentials, empty if there is a name alone.
  public var password: String? { credentials?.password }

  /// Takes a proxy's URL apart: `[scheme://][user[:password]@]host[:port]`.
  ///
  /// Without a scheme it is an HTTP proxy. User and password are percent-decoded. A path, a query and a fragment mean
  /// nothing and are dropped, as in curl. Throws what is wrong, https:// and SOCKS 4 proxies among it, which are not
  /// supported; the error quotes neither the URL nor a part that may be a password.
  public init(_ url: String) throws(ProxyError) {
    try self.init(url, place: "the proxy's URL")
  }

  /// Takes a URL apart that stands in `place`, which an error names.
  init(_ url: String, place: String) throws(ProxyError) {
    let (scheme, rest) = try Self.scheme(of: url, place)
    // By bytes: to a Character, "@" and a combining mark are one letter, which would move the host.
    let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    // A backslash is a slash to browsers: the host would be in front of it for them.
    guard !authority.contains(UInt8(ascii: "\\")) else { throw ProxyError(.malformedHost, place) }
    let at = authority.lastIndex(of: UInt8(ascii: "@"))
    let hostAndPort = at.map { authority[$0...].dropFirst() } ?? authority
    let userInfo = at.map { authority[..<$0] }
    // Without a scheme, "http:/h" would be the host "http" with an empty port.
    try self.init(
      scheme: scheme ?? .http, hostAndPort: hostAndPort, isPortRequired: scheme == nil,
      credentials: try Self.credentials(userInfo, place), place: place)
  }

  /// Creates a proxy from its parts. `host` is a name or an address, IPv6 with or without brackets; `password` counts
  /// only if there is a `user`.
  ///
  /// Throws if the host is none, the port is 0, or the credentials can't be sent: a colon in the name for HTTP
  /// (RFC 7617 §2), fewer than 1 or more than 255 bytes of either for SOCKS (RFC 1929 §2).
  public init(
    _ scheme: Scheme, host: String, port: UInt16 = Proxy.defaultPort, user: String? = nil, password: String = ""
  ) throws(ProxyError) {
    let isBare = host.utf8.contains(UInt8(ascii: ":")) && !host.utf8.starts(with: "[".utf8)
    let hostAndPort = isBare ? "[\(host)]:\(port)" : "\(host):\(port)"
    try self.init(
      scheme: scheme, hostAndPort: hostAndPort[...].utf8, isPortRequired: true,
      credentials: user.map { Credentials(user: $0, password: password) }, place: "the proxy")
  }

  private init(
    scheme: Scheme, hostAndPort: Substring.UTF8View, isPortRequired: Bool, credentials: Credentials?, place: String
  ) throws(ProxyError) {
    // A URI's host and port obey the same rules; nothing may stand in front of them or behind.
    guard !hostAndPort.contains(where: "@/?#".utf8.contains) else { throw ProxyError(.malformedHost, place) }
    let origin: Origin
    do {
      origin = try URI("http://" + String(Substring(hostAndPort))).origin
    } catch {
      if case .malformedPort = error { throw ProxyError(.malformedPort, place) }
      throw ProxyError(.malformedHost, place)
    }
    // A URI's default port is none of a proxy's.
    let colon = hostAndPort.lastIndex { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "]") }
    let port = colon.map { hostAndPort[$0...].dropFirst() } ?? hostAndPort[hostAndPort.endIndex...]
    let isPortMissing = hostAndPort.last == UInt8(ascii: ":")
    guard !(isPortMissing && isPortRequired) else { throw ProxyError(.malformedPort, place) }
    try Self.check(credentials, for: scheme, place)
    self.scheme = scheme
    host = origin.host
    self.port = port.isEmpty ? Self.defaultPort : origin.port
    self.credentials = credentials
  }

  // MARK: The parts of a URL

  // Nil if there is none. What stands in front of "://" is quoted only if it can be a scheme, and so no password.
  private static func scheme(
    of url: String, _ place: String
  ) throws(ProxyError) -> (Scheme?, Substring.UTF8View) {
    let text = url[...].utf8
    let name = text.prefix { byte in
      byte | 0x20 &- 0x61 < 26 || byte &- 0x30 < 10 || "+-.".utf8.contains(byte)
    }
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
    String(validating: PercentCoding.decode(String(Substring(text))), as: UTF8.self)
  }

  private static func check(
    _ credentials: Credentials?, for scheme: Scheme, _ place: String
  ) throws(ProxyError) {
    guard let credentials else { return }
    let lengthsOfSOCKS = 1...255
    switch scheme {
    case .http:
      guard !credentials.user.utf8.contains(UInt8(ascii: ":")) else { throw ProxyError(.colonInUser, place) }
    case .socks5, .socks5h:
      guard lengthsOfSOCKS.contains(credentials.user.utf8.count),
        lengthsOfSOCKS.contains(credentials.password.utf8.count)
      else { throw ProxyError(.credentialsLength, place) }
    }
  }
}

extension Proxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The proxy as a URL without its credentials, since descriptions end up in logs.
  public var description: String {
    let host = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    return "\(scheme.rawValue)://\(host):\(port)"
  }

  /// The same as `description`.
  public var debugDescription: String { description }

  /// Without children, since `dump` would show the password.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
