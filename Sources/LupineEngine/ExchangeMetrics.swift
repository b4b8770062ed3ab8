// ExchangeMetrics: the times and byte counts of an exchange.

public import LupineReactor
public import LupineTLS
public import LupineWire

/// The measurements of one request and its response.
///
/// An instant is nil if its event didn't occur. For example, a reused connection has no lookup, connect or TLS handshake.
public struct ExchangeMetrics: Sendable {
  /// The time when the engine received the request.
  public internal(set) var start: Instant
  /// The start of the host's lookup.
  public var resolveStart: Instant? { opening?.resolveStart }
  /// The end of the host's lookup.
  public var resolveEnd: Instant? { opening?.resolveEnd }
  /// The time when connecting began.
  public var connectStart: Instant? { opening?.connectStart }
  /// The time when the connection was ready for the request, after the TLS handshake if there is one.
  public var connectEnd: Instant? { opening?.connectEnd }
  /// The start of the proxy handshake.
  public var proxyStart: Instant? { opening?.proxyStart }
  /// The time when the proxy's tunnel was open.
  public var proxyEnd: Instant? { opening?.proxyEnd }
  /// The start of the TLS handshake.
  public var tlsStart: Instant? { opening?.tlsStart }
  /// The end of the TLS handshake.
  public var tlsEnd: Instant? { opening?.tlsEnd }
  /// The time when the request's first byte was passed to the system.
  public internal(set) var requestStart: Instant?
  /// The time when the request's last byte was passed to the system.
  public internal(set) var requestEnd: Instant?
  /// The time when the response's first byte arrived.
  public internal(set) var responseStart: Instant?
  /// The time when the response's last byte arrived.
  public internal(set) var responseEnd: Instant?
  /// The end of the exchange, successful or not.
  public internal(set) var end: Instant?

  /// The length of the request head in bytes.
  public internal(set) var requestHeadBytes = 0
  /// The number of request body bytes taken from the body's source to be sent, after compression and without framing.
  public internal(set) var requestBodyBytes: UInt64 = 0
  /// The length of the final response head in bytes.
  public internal(set) var responseHeadBytes = 0
  /// The number of response body bytes before content decoding, without framing.
  public internal(set) var responseBodyBytes: UInt64 = 0
  /// The number of response body bytes after content decoding.
  public internal(set) var decodedBodyBytes: UInt64 = 0

  /// The connection's number, which is unique within its loop, or nil if the exchange used no connection.
  public var connectionID: UInt64? { connection?.id }
  /// Whether the connection had served an earlier request, or had been idle after it was opened. In a session, false if the
  /// connection was opened for this request and only waited for the choice of a client certificate.
  public internal(set) var isReusedConnection = false
  /// The reason why the connection isn't reused after a complete response, or nil if it is reused or the exchange failed.
  public internal(set) var closeReason: CloseReason?
  /// The number of times that the request was sent again, because its reused connection turned out to be closed, or because the
  /// server couldn't meet its expectation.
  public internal(set) var replayCount = 0
  /// The proxy of the connection, or nil if there is none.
  public var proxy: Proxy? { connection?.proxy }
  /// The local address of the connection, or nil if the exchange used no connection.
  public var localAddress: SocketAddress? { connection?.localAddress }
  /// The address of the peer, which is the proxy if there is one, or nil if the exchange used no connection.
  public var remoteAddress: SocketAddress? { connection?.remoteAddress }
  /// The negotiated TLS parameters, or nil without TLS.
  public var tls: TLSInfo? { connection?.tls }

  /// The record of the connection, or of the attempt to open it if that failed. All exchanges on the connection share it.
  var connection: ConnectionRecord?
  private var opening: OpeningTimes? { isReusedConnection ? nil : connection?.opening }
  /// The start of an earlier exchange of the same request, which opened the connection and ended before the request was sent,
  /// because the caller had to choose a client certificate. Nil for all other exchanges.
  package private(set) var openingStart: Instant?

  init(start: Instant) {
    self.start = start
  }

  /// Creates the measurements of a response from a cache, which has no connection.
  package init(cachedResponseRequestedAt start: Instant, servedAt end: Instant, bodyBytes: UInt64) {
    self.start = start
    responseStart = end
    responseEnd = end
    self.end = end
    decodedBodyBytes = bodyBytes
  }

  /// Resets the measurements of the previous attempt, before the request is sent again.
  mutating func restart() {
    (requestStart, requestEnd, responseStart, responseEnd, end) = (nil, nil, nil, nil, nil)
    (requestHeadBytes, requestBodyBytes, responseHeadBytes, responseBodyBytes, decodedBodyBytes) = (0, 0, 0, 0, 0)
    (isReusedConnection, closeReason) = (false, nil)
    replayCount += 1
  }

  /// Adds the opening of the connection if `unsent`, an earlier exchange of the same request that ended before the request was
  /// sent, opened this exchange's connection.
  package mutating func includeOpening(of unsent: ExchangeMetrics) {
    guard let id = connectionID, id == unsent.connectionID, !unsent.isReusedConnection else { return }
    isReusedConnection = false
    openingStart = unsent.start
  }
}
