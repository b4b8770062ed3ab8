// Origin: scheme, host and port of a server (RFC 9110 §4.3, RFC 6454).

/// The supported URI schemes.
public enum Scheme: String, Sendable, Hashable {
  case http, https

  /// The scheme's default port: 80 or 443.
  public var defaultPort: UInt16 { self == .http ? 80 : 443 }
}

/// An origin server. Only URLs with the same origin may share connections and credentials.
public struct Origin: Sendable, Hashable {
  /// The URI scheme: http or https.
  public let scheme: Scheme
  /// The host: a name or IPv4 address in lowercase, or an IPv6 address without brackets.
  public let host: String
  /// The port, in 1...65535.
  public let port: UInt16
  /// The path of the Unix socket on which the server listens, or nil for TCP.
  ///
  /// Origins with different socket paths are different, even if their hosts are equal.
  public let socketPath: String?

  /// Creates the origin of a server that listens on a TCP port. `host` must be lowercase.
  public init(scheme: Scheme, host: String, port: UInt16) {
    self.init(scheme: scheme, host: host, port: port, socketPath: nil)
  }

  /// Creates the origin of a server on a Unix socket. Its host is `localhost`, and its port is the scheme's default.
  ///
  /// `socketPath` must have 1...`Limits.socketPathBytesMax` bytes and no NUL. Parsing a URI and connecting the socket
  /// check this; the initializer doesn't.
  public init(scheme: Scheme, socketPath: String) {
    self.init(scheme: scheme, host: "localhost", port: scheme.defaultPort, socketPath: socketPath)
  }

  private init(scheme: Scheme, host: String, port: UInt16, socketPath: String?) {
    self.scheme = scheme
    self.host = host
    self.port = port
    self.socketPath = socketPath
  }

  /// Hashes the host and the port, which distinguish nearly all origins, and the socket's path if there is one.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(host)
    hasher.combine(port)
    if let socketPath { hasher.combine(socketPath) }
  }

  /// Returns whether both origins have the same scheme, host, port and socket path. Inlinable, because a call would copy the
  /// origins of objects, such as requests and pool keys.
  @inlinable
  public static func == (left: Origin, right: Origin) -> Bool {
    left.port == right.port && left.host == right.host && left.scheme == right.scheme
      && left.socketPath == right.socketPath
  }

  /// The host and port in the form of URLs and of the Host field: an IPv6 address is in brackets, and the scheme's default port is
  /// omitted.
  public var authority: String { port == scheme.defaultPort ? uriHost : "\(uriHost):\(port)" }

  /// The host and port in the form of CONNECT requests (RFC 9112 §3.2.3): an IPv6 address is in brackets, and the port is always
  /// included.
  public var authorityForm: String { "\(uriHost):\(port)" }

  // uri-host = IP-literal / IPv4address / reg-name
  private var uriHost: String { host.utf8.contains(Byte.colon) ? "[\(host)]" : host }
}

extension Origin: CustomStringConvertible {
  /// The origin as a URL without a path. For a Unix socket, the socket's percent-encoded path takes the place of the host.
  public var description: String {
    var text = ""
    forEachPart { text += $0 }
    return text
  }

  /// Calls `body` with the parts of `description`.
  package func forEachPart(_ body: (String) -> Void) {
    body(scheme.rawValue)
    if let socketPath {
      body("+unix://")
      body(PercentEncoding.encode(socketPath.utf8, keeping: .unreserved))
    } else {
      body("://")
      body(uriHost)
      if port != scheme.defaultPort { body(":\(port)") }
    }
  }
}
