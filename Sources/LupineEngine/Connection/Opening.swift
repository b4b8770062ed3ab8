// Opening: the state of a connection while it is being opened: lookup, connect, proxy tunnel, TLS.

internal import LupineReactor
internal import LupineWire

/// One attempt to open a connection. Used only on its loop's thread.
///
/// The attempt belongs to the pool and not to the exchange that requested it, because that
/// exchange may get another connection in the meantime.
final class Opening {
  enum State {
    /// Looks up the origin, for a proxy that needs its address. The lookup of the proxy follows.
    case resolvingDestination
    /// Looks up the host to connect to.
    case resolving
    case connecting(HappyEyeballs)
    /// Requests a tunnel from the proxy.
    case proxying
    /// Performs the TLS handshake.
    case handshaking
  }

  let id: ConnectionID
  let key: PoolKey
  /// The exchange whose time limits apply: the one that waited for the opening when its current phase began or restarted.
  var limiter: ExchangeID
  var timeouts: Timeouts

  var state = State.resolving
  var times = OpeningTimes()
  /// The host to look up or to connect to.
  var host = ""
  /// The deadline of the current phase.
  var phaseDeadline: Instant?
  /// The connecting sockets by poller token.
  var candidates: [UInt64: any StreamSocket] = [:]
  /// The origin's address, for a proxy that needs it.
  var destination: SocketAddress?
  /// The state of the handshake with the proxy.
  var proxyHandshake: ProxyHandshake?
  /// The connected socket, during the proxy handshake and the TLS handshake.
  var transport: Transport?
  var interest: Poller.Interest = []
  /// The error of the latest address that failed.
  var lastError: SystemError?

  init(id: ConnectionID, for exchange: Exchange) {
    self.id = id
    key = exchange.key
    limiter = exchange.id
    timeouts = exchange.request.timeouts
  }

  /// The time limit of the current phase. A lookup always has a limit, because a resolver may never answer.
  var limit: Duration? {
    let limit = timeouts.limit(of: phase)
    let longest = ResolverConfiguration.lookupTimeMax
    return phase == .resolve ? min(limit ?? longest, longest) : limit
  }

  var phase: Phase {
    switch state {
    case .resolvingDestination, .resolving: .resolve
    case .connecting: .connect
    case .proxying: .proxy
    case .handshaking: .tls
    }
  }
}
