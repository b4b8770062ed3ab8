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
  /// The path of the Unix socket that the server listens at, or nil for TCP.
  ///
  /// Origins with different sockets are different, whatever their hosts.
  public let socketPath: String?

  /// Creates an origin. `host` has to be in lower case.
  public init(scheme: Scheme, host: String, port: UInt16) {
    self.init(scheme: scheme, host: host, port: port, socketPath: nil)
  }

  /// Creates the origin behind a Unix socket: its host is `localhost`, its port the scheme's default.
  ///
  /// `socketPath` has to have 1...`Limits.socketPathBytesMax` bytes, none of them NUL; that is looked at when a URI is
  /// read and when the socket is connected, not here.
  public init(scheme: Scheme, socketPath: String) {
    self.init(scheme: scheme, host: "localhost", port: scheme.defaultPort, socketPath: socketPath)
  }

  private init(scheme: Scheme, host: String, port: UInt16, socketPath: String?) {
    self.scheme = scheme
    self.host = host
    self.port = port
    self.socketPath = socketPath
  }

  /// Hashes host and port, which tell nearly all origins apart, and the socket's path if there is one.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(host)
    hasher.combine(port)
    if let socketPath { hasher.combine(socketPath) }
  }

  /// Host and port as they stand in a URL and in the Host field: brackets for IPv6, the default port left out.
  public var authority: String { port == scheme.defaultPort ? uriHost : "\(uriHost):\(port)" }

  /// Host and port as CONNECT asks for them: brackets for IPv6, the port always there (RFC 9112 §3.2.3).
  public var authorityForm: String { "\(uriHost):\(port)" }

  // uri-host = IP-literal / IPv4address / reg-name
  private var uriHost: String { host.utf8.contains(Byte.colon) ? "[\(host)]" : host }
}

extension Origin: CustomStringConvertible {
  /// The origin as a URL without a path; the path of a Unix socket stands percent-encoded in the place of the host.
  public var description: String {
    if let socketPath {
      "\(scheme.rawValue)+unix://\(PercentEncoding.encode(socketPath.utf8, keeping: .unreserved))"
    } else {
      "\(scheme.rawValue)://\(authority)"
    }
  }
}
