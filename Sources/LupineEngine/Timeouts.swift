// Timeouts: the time limits of an exchange's phases.

/// The phases of an exchange, in the order in which they occur.
public enum Phase: String, Sendable, Hashable, CaseIterable {
  /// The engine has received the request, but hasn't started the exchange.
  case setup
  /// The exchange waits for a connection and none is being opened on its behalf, because a limit of connections is reached or
  /// descriptors have run out.
  case poolWait
  /// The lookup of the host, or of the proxy's host, is in progress.
  case resolve
  /// A TCP connection is being opened to the server or the proxy.
  case connect
  /// The handshake with the proxy is in progress: TLS with an https proxy, or the handshake that opens a tunnel to the server.
  case proxy
  /// The TLS handshake with the server is in progress.
  case tls
  /// The request is being sent.
  case send
  /// The request head has been sent, and the body waits for the server's `100 Continue`.
  case awaitContinue
  /// The request has been sent, and the exchange waits for the first byte of the response.
  case firstByte
  /// The response is being received.
  case receive
}

/// The time limits of an exchange and its phases. Nil means no limit; fractions of a second are possible.
///
/// While the response is paused, by `ExchangeHandle.pause` or because the receive window is used up, the limits of the phases are
/// suspended, except those for opening a connection. `total` is never suspended. The defaults of 60 s equal Foundation's
/// `timeoutIntervalForRequest`.
public struct Timeouts: Sendable, Hashable {
  /// The time limit for waiting for a connection while none is being opened for the exchange. 60 s by default.
  public var poolWait: Duration? = .seconds(60)
  /// The time limit for each lookup of the host or the proxy's host. 15 s by default, slightly more than glibc's two attempts with
  /// a silent name server (5 s each).
  public var resolve: Duration? = .seconds(15)
  /// The time limit for opening a TCP connection, for all addresses together. 15 s by default. Go allows 30 s.
  public var connect: Duration? = .seconds(15)
  /// The time limit for the proxy's response to CONNECT or for the SOCKS handshake. 15 s by default, as for `connect`, because the
  /// proxy connects during that time. The TLS handshake with an https proxy has the same limit.
  public var proxy: Duration? = .seconds(15)
  /// The time limit of the TLS handshake with the server. 10 s by default, as in Go.
  public var tls: Duration? = .seconds(10)
  /// The maximum pause during which no byte of the request can be sent. 60 s by default. Pauses in which the engine waits for the
  /// body's producer don't count.
  public var send: Duration? = .seconds(60)
  /// The time for which the engine waits for `100 Continue` if the request has `Expect: 100-continue`. 1 s by default, as in curl
  /// and Go. Afterward the engine sends the body anyway (RFC 9110 §10.1.1), so this limit never fails the exchange.
  public var awaitContinue: Duration? = .seconds(1)
  /// The maximum time from the request's last byte, or from an interim response, to the first byte of the next response. 60 s
  /// by default.
  public var firstByte: Duration? = .seconds(60)
  /// The maximum pause between two bytes of the response. 60 s by default.
  public var idle: Duration? = .seconds(60)
  /// The time limit of the entire exchange, including replays and the redirects that
  /// `execute` and `collect` follow. None by default. If it is zero or negative, the exchange fails with `timedOut`, and nothing is
  /// sent.
  public var total: Duration?

  /// Creates limits with the default values.
  public init() {}

  /// Creates limits from a limit that applies to each phase separately, and a limit of the entire exchange. Only `awaitContinue`
  /// keeps its default.
  public init(everyPhase limit: Duration?, total: Duration?) {
    (poolWait, resolve, connect, proxy, tls) = (limit, limit, limit, limit, limit)
    (send, firstByte, idle) = (limit, limit, limit)
    self.total = total
  }

  func limit(of phase: Phase) -> Duration? {
    switch phase {
    case .setup: nil
    case .poolWait: poolWait
    case .resolve: resolve
    case .connect: connect
    case .proxy: proxy
    case .tls: tls
    case .send: send
    case .awaitContinue: awaitContinue
    case .firstByte: firstByte
    case .receive: idle
    }
  }
}
