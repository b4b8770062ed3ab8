// How long each phase of an exchange may take.

/// The phases of an exchange, in the order in which they come.
public enum Phase: String, Sendable, Hashable, CaseIterable {
  /// Before anything was done.
  case setup
  /// Waiting for a connection while none is being opened on the request's behalf: there are as many as there may be, or
  /// no descriptors.
  case poolWait
  /// Looking the host up.
  case resolve
  /// Opening a TCP connection.
  case connect
  /// Asking a proxy for a way to the origin.
  case proxy
  /// The TLS handshake.
  case tls
  /// Sending the request.
  case send
  /// Waiting for leave to send the body (100-continue).
  case awaitContinue
  /// Waiting for the response's first byte.
  case firstByte
  /// Receiving the response.
  case receive
}

/// Time limits of an exchange; nil is no limit. Values may be fractions of a second.
///
/// While the response is held back, for want of credit or by `ExchangeHandle.pause`, the phases' times stand still, but
/// for those of opening a connection; `total` never does. The limits of 60 s are those of Foundation's
/// `timeoutIntervalForRequest`.
public struct Timeouts: Sendable, Hashable {
  /// Waiting for a free connection; 60 s.
  public var poolWait: Duration? = .seconds(60)
  /// Looking the host up, and a proxy's for itself; 15 s, a little more than glibc's two tries at a silent name server (5 s each).
  public var resolve: Duration? = .seconds(15)
  /// Opening a TCP connection, all addresses together; 15 s. Go allows 30 s.
  public var connect: Duration? = .seconds(15)
  /// A proxy's answer to CONNECT, or a SOCKS handshake; 15 s, as connecting, since the proxy connects meanwhile.
  public var proxy: Duration? = .seconds(15)
  /// The TLS handshake; 10 s, as in Go.
  public var tls: Duration? = .seconds(10)
  /// The longest pause in which no byte of the request can be sent; 60 s. Waiting for the body's producer doesn't count.
  public var send: Duration? = .seconds(60)
  /// How long leave to send the body is waited for if the request has `Expect: 100-continue`; 1 s, as in curl and Go.
  /// Behind it the body is sent all the same (RFC 9110 §10.1.1), so that it is no error.
  public var awaitContinue: Duration? = .seconds(1)
  /// From the request's last byte to the response's first, and from an interim response to the next; 60 s.
  public var firstByte: Duration? = .seconds(60)
  /// The longest pause between two bytes of the response; 60 s.
  public var idle: Duration? = .seconds(60)
  /// The whole exchange, its replays included, and the redirects that `execute` and `collect` follow; no limit.
  public var total: Duration?

  /// Creates the default limits.
  public init() {}

  /// Creates limits that are equal for every phase, as in an inactivity timer, besides one for the whole; only the wait
  /// for 100-continue keeps its own.
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
