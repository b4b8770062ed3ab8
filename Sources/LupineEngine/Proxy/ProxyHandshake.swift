// What is said to a proxy before it passes bytes on, whichever kind it is. No I/O: bytes in, steps out.

internal import LupineWire

/// What follows from a proxy's bytes.
enum ProxyStep: Sendable, Equatable {
  /// Everything given was used up; the reply goes on.
  case needMoreBytes
  /// This is to be sent; then read on.
  case send([UInt8])
  /// The tunnel is open. Bytes behind the cursor are the destination's.
  case done
}

/// The dialogue with a proxy up to an open tunnel.
///
/// Send `opening`, then `receive` what comes until the answer is `.done`. An error is final: the connection has to be
/// closed.
enum ProxyHandshake: ~Copyable {
  case socks5(SOCKS5Handshake)
  case connect(ConnectHandshake)

  /// Prepares a tunnel to an origin. `address`: what the origin's name was resolved to, without which a SOCKS proxy is
  /// given the name.
  init(_ proxy: Proxy, to origin: Origin, address: String? = nil, limits: Limits) throws(ProxyError) {
    self =
      switch proxy.scheme {
      case .http: .connect(try ConnectHandshake(proxy, to: origin, limits: limits))
      case .socks5, .socks5h: .socks5(try SOCKS5Handshake(proxy, host: address ?? origin.host, port: origin.port))
      }
  }

  /// What is sent first.
  var opening: [UInt8] {
    switch self {
    case .socks5(let handshake): handshake.opening
    case .connect(let handshake): handshake.opening
    }
  }

  /// Reads on from `cursor` and moves it; never behind the proxy's own reply.
  mutating func receive(_ bytes: borrowing Span<UInt8>, at cursor: inout Int) throws(ProxyError) -> ProxyStep {
    switch consume self {
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

  /// The proxy has closed the connection before the tunnel was open.
  func receiveEnd() -> ProxyError {
    switch self {
    case .socks5(let handshake): handshake.receiveEnd()
    case .connect(let handshake): handshake.receiveEnd()
    }
  }
}
