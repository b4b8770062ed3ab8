// Proxy: a proxy's address and credentials, parsed from a URL by curl's rules.

internal import LupineWire

/// A proxy through which requests are sent.
public struct Proxy: Sendable, Hashable {
  /// The protocol between the client and the proxy.
  public enum Scheme: String, Sendable, Hashable, CaseIterable {
    /// An HTTP proxy. It receives http requests in absolute form (RFC 9112 §3.2.2), and
    /// opens CONNECT tunnels for https (RFC 9110 §9.3.6).
    case http
    /// A SOCKS 5 proxy (RFC 1928). The client looks up host names.
    case socks5
    /// A SOCKS 5 proxy (RFC 1928). The proxy looks up host names.
    case socks5h
  }

  /// A user name and a password, percent-decoded.
  struct Credentials: Sendable, Hashable {
    let user: String
    let password: String
  }

  /// The port of a URL without a port: 1080 for every scheme, including http, as in curl.
  public static let defaultPort: UInt16 = 1080

  /// The protocol between the client and the proxy.
  public let scheme: Scheme
  /// The host: a name or an IPv4 address in lowercase, or an IPv6 address without brackets.
  public let host: String
  /// The port, 1...65535.
  public let port: UInt16
  let credentials: Credentials?

  /// The user name, or nil if the proxy receives no credentials.
  public var user: String? { credentials?.user }
  /// The password, or nil if the proxy receives no credentials. Empty if there is only a user name.
  public var password: String? { credentials?.password }

  /// Parses a proxy's URL: `[scheme://][user[:password]@]host[:port]`.
  ///
  /// Without a scheme, the proxy is an HTTP proxy. The user name and the password are percent-decoded. As in curl, a path, a
  /// query and a fragment are ignored.
  ///
  /// Throws an error if the URL is malformed or its scheme isn't supported, such as https:// and SOCKS 4. The error quotes
  /// neither the URL nor any part that may be a password.
  public init(_ url: String) throws(ProxyError) {
    try self.init(url, place: "the proxy's URL")
  }

  /// Parses a URL. `place` is where it was found, and appears in errors.
  init(_ url: String, place: String) throws(ProxyError) {
    let (scheme, rest) = try Self.scheme(of: url, place)
    // Compares bytes, because "@" with a combining mark is one Character, which would change the host.
    let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    // Browsers treat a backslash as a slash, so for them the host would end there.
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
  /// Throws an error if the host is malformed, the port is 0, or the credentials can't be sent: HTTP permits no colon in the user
  /// name (RFC 7617 §2), and SOCKS requires 1 to 255 bytes each (RFC 1929 §2).
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
    // The rules are those for the host and port of a URI, without anything before or after them.
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
    self.port = port.isEmpty ? Self.defaultPort : origin.port
    self.credentials = credentials
  }

  // MARK: Parsing

  // Returns the scheme, or nil if there is none, and the rest of the text. An error quotes the text before "://" only if it has
  // the syntax of a scheme, because it might otherwise be a password.
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
