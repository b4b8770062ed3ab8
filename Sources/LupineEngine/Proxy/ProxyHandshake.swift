// ProxyHandshake: the handshake that opens a tunnel through any kind of proxy. It performs no
// I/O: it takes received bytes and returns steps.

internal import LupineWire

/// The handshake with a proxy that opens a tunnel through the proxy.
///
/// Send `opening`, then pass received bytes to `receive` until it returns `.done`. After an error, close the connection.
enum ProxyHandshake: ~Copyable {
  case socks4a(SOCKS4aHandshake)
  case socks5(SOCKS5Handshake)
  case connect(ConnectHandshake)

  /// Creates a handshake that opens a tunnel to an origin. `address` is the resolved address of the origin. If it is nil, a SOCKS
  /// proxy receives the origin's host name. `authorization` replaces the credentials in an HTTP proxy's URL.
  init(
    _ proxy: Proxy, to origin: Origin, address: String? = nil, authorization: ProxyAuthorization? = nil,
    limits: Limits
  ) throws(ProxyError) {
    self =
      switch proxy.scheme {
      case .http, .https:
        .connect(try ConnectHandshake(proxy, to: origin, authorization: authorization, limits: limits))
      case .socks4a: .socks4a(try SOCKS4aHandshake(proxy, to: origin))
      case .socks5, .socks5h: .socks5(try SOCKS5Handshake(proxy, host: address ?? origin.host, port: origin.port))
      }
  }

  /// The first bytes of the handshake, which the client sends to the proxy.
  var opening: [UInt8] {
    switch self {
    case .socks4a(let handshake): handshake.opening
    case .socks5(let handshake): handshake.opening
    case .connect(let handshake): handshake.opening
    }
  }

  /// Parses received bytes from `cursor` on, and moves `cursor` past the parsed bytes, but never past the end of the proxy's reply.
  mutating func receive(_ bytes: borrowing Span<UInt8>, at cursor: inout Int) throws(ProxyError) -> ProxyStep {
    switch consume self {
    case .socks4a(var handshake):
      let result = Result { () throws(ProxyError) in try handshake.receive(bytes, at: &cursor) }
      self = .socks4a(handshake)
      return try result.get()
    case .socks5(var handshake):
      let result = Result { () throws(ProxyError) in try handshake.receive(bytes, at: &cursor) }
      self = .socks5(handshake)
      return try result.get()
    case .connect(var handshake):
      let result = Result { () throws(ProxyError) in try handshake.receive(bytes, at: &cursor) }
      self = .connect(handshake)
      return try result.get()
    }
  }

  /// Returns the error for a connection that the proxy has closed before the tunnel was open.
  func receiveEnd() -> ProxyError {
    switch self {
    case .socks4a(let handshake): handshake.receiveEnd()
    case .socks5(let handshake): handshake.receiveEnd()
    case .connect(let handshake): handshake.receiveEnd()
    }
  }
}
