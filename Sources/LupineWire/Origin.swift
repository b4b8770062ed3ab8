// Scheme, host and port: what a connection belongs to (RFC 9110 §4.3, RFC 6454).

/// The schemes that are understood.
public enum Scheme: String, Sendable, Hashable {
  case http, https

  /// 80 or 443.
  public var defaultPort: UInt16 { self == .http ? 80 : 443 }
}

/// An origin server. Two URLs with one origin may share connections and credentials; others may not.
public struct Origin: Sendable, Hashable {
  /// http or https.
  public let scheme: Scheme
  /// A name or an IPv4 address in lower case, or an IPv6 address without its brackets.
  public let host: String
  /// The port, 1...65535.
  public let port: UInt16

  /// Creates an origin. `host` has to be in lower case.
  public init(scheme: Scheme, host: String, port: UInt16) {
    self.scheme = scheme
    self.host = host
    self.port = port
  }

  /// Host and port as they stand in a URL and in the Host field: brackets for IPv6, the default port left out.
  public var authority: String {
    let host = host.utf8.contains(Byte.colon) ? "[\(host)]" : host
    return port == scheme.defaultPort ? host : "\(host):\(port)"
  }
}

extension Origin: CustomStringConvertible {
  /// The origin as a URL without a path.
  public var description: String { "\(scheme.rawValue)://\(authority)" }
}
