// How long each phase of an exchange may take.

/// The phases of an exchange, in the order in which they come.
public enum Phase: String, Sendable, Hashable, CaseIterable {
  /// Before anything was done.
  case setup
  /// Waiting for a connection, because the origin has as many as it may.
  case poolWait
  /// Looking the host up.
  case resolve
  /// Opening a TCP connection.
  case connect
  /// The TLS handshake.
  case tls
  /// Sending the request.
  case send
  /// Waiting for the response's first byte.
  case firstByte
  /// Receiving the response.
  case receive
}

/// Time limits of an exchange; nil is no limit. Values may be fractions of a second.
public struct Timeouts: Sendable, Hashable {
  /// Waiting for a free connection; 60 s.
  public var poolWait: Duration? = .seconds(60)
  /// Looking the host up; 15 s, a little more than glibc's two tries at a silent name server (5 s each).
  public var resolve: Duration? = .seconds(15)
  /// Opening a TCP connection, all addresses together; 15 s. Go allows 30 s.
  public var connect: Duration? = .seconds(15)
  /// The TLS handshake; 10 s, as in Go.
  public var tls: Duration? = .seconds(10)
  /// The longest pause in which no byte of the request can be sent; 60 s.
  public var send: Duration? = .seconds(60)
  /// From the request's last byte to the response's first; 60 s.
  public var firstByte: Duration? = .seconds(60)
  /// The longest pause between two bytes of the response; 60 s.
  public var idle: Duration? = .seconds(60)
  /// The whole exchange, its replays included; no limit.
  public var total: Duration?

  /// Creates the default limits.
  public init() {}

  /// Creates limits that are equal for every phase, as in an inactivity timer, besides one for the whole.
  public init(everyPhase limit: Duration?, total: Duration?) {
    (poolWait, resolve, connect, tls) = (limit, limit, limit, limit)
    (send, firstByte, idle) = (limit, limit, limit)
    self.total = total
  }

  func limit(of phase: Phase) -> Duration? {
    switch phase {
    case .setup: nil
    case .poolWait: poolWait
    case .resolve: resolve
    case .connect: connect
    case .tls: tls
    case .send: send
    case .firstByte: firstByte
    case .receive: idle
    }
  }
}
