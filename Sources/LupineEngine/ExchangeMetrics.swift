// What one exchange cost: when each phase began and ended, and how many bytes went which way.

public import LupineReactor
public import LupineTLS
public import LupineWire

/// The measurements of one request and its response on one connection.
///
/// Instants are nil for what did not happen: a reused connection has no lookup, connect and TLS of its own.
public struct ExchangeMetrics: Sendable {
  /// The request was handed to the engine.
  public internal(set) var start: Instant
  /// Looking up the host began.
  public internal(set) var resolveStart: Instant?
  /// The addresses were known.
  public internal(set) var resolveEnd: Instant?
  /// Connecting began.
  public internal(set) var connectStart: Instant?
  /// The connection could be used, TLS included.
  public internal(set) var connectEnd: Instant?
  /// Asking the proxy for a tunnel began.
  public internal(set) var proxyStart: Instant?
  /// The tunnel was open.
  public internal(set) var proxyEnd: Instant?
  /// The TLS handshake began.
  public internal(set) var tlsStart: Instant?
  /// The TLS handshake was done.
  public internal(set) var tlsEnd: Instant?
  /// The request's first byte was handed to the system.
  public internal(set) var requestStart: Instant?
  /// The request's last byte was handed to the system.
  public internal(set) var requestEnd: Instant?
  /// The response's first byte arrived.
  public internal(set) var responseStart: Instant?
  /// The response's last byte arrived.
  public internal(set) var responseEnd: Instant?
  /// The exchange ended, well or not.
  public internal(set) var end: Instant?

  /// Bytes of the request's head.
  public internal(set) var requestHeadBytes = 0
  /// Bytes of the request's body.
  public internal(set) var requestBodyBytes: UInt64 = 0
  /// Bytes of the response's final head.
  public internal(set) var responseHeadBytes = 0
  /// Bytes of the response's body without its framing.
  public internal(set) var responseBodyBytes: UInt64 = 0
  /// Bytes that the response's body decoded to.
  public internal(set) var decodedBodyBytes: UInt64 = 0

  /// Which connection it was; unique within one engine's loop. Nil if none was used.
  public internal(set) var connectionID: UInt64?
  /// Whether the connection had served a request before.
  public internal(set) var isReusedConnection = false
  /// Why the connection isn't used again behind a complete response; nil if it is, or if the exchange failed.
  public internal(set) var closeReason: CloseReason?
  /// How often the request was sent again on another connection, because a kept one turned out to be closed.
  public internal(set) var replayCount = 0
  /// The proxy that the request went through.
  public internal(set) var proxy: Proxy?
  /// This end of the connection.
  public internal(set) var localAddress: SocketAddress?
  /// The peer's end of the connection, the proxy's if there is one.
  public internal(set) var remoteAddress: SocketAddress?
  /// Version, cipher suite and protocol, if TLS was used.
  public internal(set) var tls: TLSInfo?

  init(start: Instant) {
    self.start = start
  }
}
