// ExchangeMetrics: the times and byte counts of an exchange.

public import LupineReactor
public import LupineTLS
public import LupineWire

/// The measurements of one request and its response.
///
/// An instant is nil if its event didn't occur. For example, an exchange on a reused connection has no lookup, no connecting and no
/// TLS handshake.
public struct ExchangeMetrics: Sendable {
  /// The time when the engine received the request from the caller.
  public internal(set) var start: Instant
  /// The time when the lookup of the host began.
  public var resolveStart: Instant? { opening?.resolveStart }
  /// The time when the lookup of the host ended.
  public var resolveEnd: Instant? { opening?.resolveEnd }
  /// The time when the engine began to connect to the server or the proxy.
  public var connectStart: Instant? { opening?.connectStart }
  /// The time when the connection was ready for the request, after the TLS handshake if there is one.
  public var connectEnd: Instant? { opening?.connectEnd }
  /// The time when the handshake with the proxy began.
  public var proxyStart: Instant? { opening?.proxyStart }
  /// The time when the handshake with the proxy ended: when the tunnel was open or, if an https proxy forwards the request without
  /// a tunnel, when TLS with the proxy was established.
  public var proxyEnd: Instant? { opening?.proxyEnd }
  /// The time when the TLS handshake with the server began.
  public var tlsStart: Instant? { opening?.tlsStart }
  /// The time when the TLS handshake with the server ended.
  public var tlsEnd: Instant? { opening?.tlsEnd }
  /// The time when the first byte of the request was passed to the system.
  public internal(set) var requestStart: Instant?
  /// The time when the last byte of the request was passed to the system.
  public internal(set) var requestEnd: Instant?
  /// The time when the first byte of the response arrived.
  public internal(set) var responseStart: Instant?
  /// The time when the last byte of the response arrived.
  public internal(set) var responseEnd: Instant?
  /// The time when the exchange ended, successfully or not.
  public internal(set) var end: Instant?

  /// The length in bytes of the request head.
  public internal(set) var requestHeadBytes = 0
  /// The number of request body bytes taken from the body's source to be sent, after compression and without framing.
  public internal(set) var requestBodyBytes: UInt64 = 0
  /// The length in bytes of the final response's head.
  public internal(set) var responseHeadBytes = 0
  /// The number of bytes of the response body as received, before content decoding and without framing.
  public internal(set) var responseBodyBytes: UInt64 = 0
  /// The number of bytes of the response body after content decoding.
  public internal(set) var decodedBodyBytes: UInt64 = 0

  /// The number of the exchange's connection, which is unique within its event loop. Nil if the exchange used no connection.
  public var connectionID: UInt64? { connection?.id }
  /// Whether the connection had served an earlier request, or had been idle after it was opened. In a session, false for a
  /// connection that was opened for this request and was idle only while the delegate chose a client certificate.
  public internal(set) var isReusedConnection = false
  /// The reason why the connection isn't reused after this complete response. Nil if the connection is reused, or if the exchange
  /// failed.
  public internal(set) var closeReason: CloseReason?
  /// The number of times that the request was sent again, because its reused connection turned out to be closed, or because the
  /// server couldn't meet the request's expectation (417).
  public internal(set) var replayCount = 0
  /// The proxy to which the connection was opened, or nil if there is none.
  public var proxy: Proxy? { connection?.proxy }
  /// The local address of the connection, or nil if the exchange used no connection.
  public var localAddress: SocketAddress? { connection?.localAddress }
  /// The address of the peer to which the connection was opened: the proxy if there is one, or else the server. Nil if the exchange
  /// used no connection.
  public var remoteAddress: SocketAddress? { connection?.remoteAddress }
  /// The negotiated TLS parameters, or nil if the connection doesn't use TLS.
  public var tls: TLSInfo? { connection?.tls }

  /// The record of the connection, or of the attempt to open it if that attempt failed. All exchanges on the connection share the
  /// record.
  var connection: ConnectionRecord?
  private var opening: OpeningTimes? { isReusedConnection ? nil : connection?.opening }
  /// The start time of the earlier exchange that opened the connection for the same request, or nil if there was no such exchange.
  /// That exchange ended before the request was sent, so that the caller could choose a client certificate.
  package private(set) var openingStart: Instant?

  init(start: Instant) {
    self.start = start
  }

  /// Creates the measurements of a response that was served from a cache, without a connection.
  package init(cachedResponseRequestedAt start: Instant, servedAt end: Instant, bodyBytes: UInt64) {
    self.start = start
    responseStart = end
    responseEnd = end
    self.end = end
    decodedBodyBytes = bodyBytes
  }

  /// Resets the measurements of the previous attempt before the request is sent again.
  mutating func restart() {
    (requestStart, requestEnd, responseStart, responseEnd, end) = (nil, nil, nil, nil, nil)
    (requestHeadBytes, requestBodyBytes, responseHeadBytes, responseBodyBytes, decodedBodyBytes) = (0, 0, 0, 0, 0)
    (isReusedConnection, closeReason, connection) = (false, nil, nil)
    replayCount += 1
  }

  /// Marks the connection as newly opened, not reused, if the exchange with the measurements `unsent` opened it. That exchange
  /// belonged to the same request, and ended before the request was sent.
  package mutating func includeOpening(of unsent: ExchangeMetrics) {
    guard let id = connectionID, id == unsent.connectionID, !unsent.isReusedConnection else { return }
    isReusedConnection = false
    openingStart = unsent.start
  }
}
