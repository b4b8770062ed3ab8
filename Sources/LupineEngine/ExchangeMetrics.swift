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
  public var resolveStart: Instant? { opening?.resolveStart }
  /// The addresses were known.
  public var resolveEnd: Instant? { opening?.resolveEnd }
  /// Connecting began.
  public var connectStart: Instant? { opening?.connectStart }
  /// The connection could be used, TLS included.
  public var connectEnd: Instant? { opening?.connectEnd }
  /// Asking the proxy for a tunnel began.
  public var proxyStart: Instant? { opening?.proxyStart }
  /// The tunnel was open.
  public var proxyEnd: Instant? { opening?.proxyEnd }
  /// The TLS handshake began.
  public var tlsStart: Instant? { opening?.tlsStart }
  /// The TLS handshake was done.
  public var tlsEnd: Instant? { opening?.tlsEnd }
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
  public var connectionID: UInt64? { connection?.id }
  /// Whether the connection was there already: it had served a request, or had been idle since one had it opened.
  public internal(set) var isReusedConnection = false
  /// Why the connection isn't used again behind a complete response; nil if it is, or if the exchange failed.
  public internal(set) var closeReason: CloseReason?
  /// How often the request was sent again on another connection, because a kept one turned out to be closed.
  public internal(set) var replayCount = 0
  /// The proxy that the request went through.
  public var proxy: Proxy? { connection?.proxy }
  /// This end of the connection.
  public var localAddress: SocketAddress? { connection?.localAddress }
  /// The peer's end of the connection, the proxy's if there is one.
  public var remoteAddress: SocketAddress? { connection?.remoteAddress }
  /// Version, cipher suite and protocol, if TLS was used.
  public var tls: TLSInfo? { connection?.tls }

  /// The connection, or the one that couldn't be opened; shared with every other exchange on it.
  var connection: ConnectionRecord?
  private var opening: OpeningTimes? { isReusedConnection ? nil : connection?.opening }

  init(start: Instant) {
    self.start = start
  }

  /// Forgets what was measured of an attempt that is made again.
  mutating func restart() {
    (requestStart, requestEnd, responseStart, responseEnd, end) = (nil, nil, nil, nil, nil)
    (requestHeadBytes, requestBodyBytes, responseHeadBytes, responseBodyBytes, decodedBodyBytes) = (0, 0, 0, 0, 0)
    (isReusedConnection, closeReason) = (false, nil)
    replayCount += 1
  }
}
