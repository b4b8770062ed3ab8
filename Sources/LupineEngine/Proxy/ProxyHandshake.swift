// ProxyHandshake: the handshake that opens a tunnel through any kind of proxy. It performs no
// I/O: it takes received bytes and returns steps.

internal import LupineWire

/// The handshake with a proxy that opens a tunnel through the proxy.
///
/// Send `opening`, then pass received bytes to `receive` until it returns `.done`. After an error, close the connection.
protocol ProxyHandshake: ~Copyable {
  /// The first bytes of the handshake, which the client sends to the proxy.
  var opening: [UInt8] { get }

  /// Parses received bytes from `cursor` on, and moves `cursor` past the parsed bytes, but never past the end of the proxy's reply.
  mutating func receive(_ bytes: borrowing Span<UInt8>, at cursor: inout Int) throws(ProxyError) -> ProxyStep

  /// Returns the error for a connection that the proxy has closed before the tunnel was open.
  ///
  /// The method changes nothing. It is mutating because Swift can't yet borrow the content of an optional of this type.
  mutating func receiveEnd() -> ProxyError
}

/// The next step that a handshake with a proxy requires from its caller.
enum ProxyStep: Sendable, Equatable {
  /// Receive more bytes. All bytes so far were consumed, and the reply is incomplete.
  case needMoreBytes
  /// Send these bytes, then continue to receive.
  case send([UInt8])
  /// Use the tunnel, which is now open. The bytes after the cursor come from the destination of the tunnel.
  case done
}

extension Proxy {
  /// Creates a handshake that opens a tunnel to an origin. `address` is the resolved address of the origin. If it is nil, a SOCKS
  /// proxy receives the origin's host name. `authorization` replaces the credentials in an HTTP proxy's URL.
  func handshake(
    to origin: Origin, address: String? = nil, authorization: ProxyAuthorization? = nil, limits: Limits
  ) throws(ProxyError) -> any ProxyHandshake & ~Copyable {
    switch scheme {
    case .http, .https: try ConnectHandshake(self, to: origin, authorization: authorization, limits: limits)
    case .socks4a: try SOCKS4aHandshake(self, to: origin)
    case .socks5, .socks5h: try SOCKS5Handshake(self, host: address ?? origin.host, port: origin.port)
    }
  }
}
