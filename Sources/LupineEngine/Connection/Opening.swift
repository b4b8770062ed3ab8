// Opening: a connection while it is being opened: lookup, connect, proxy tunnel, TLS.

internal import LupineReactor
internal import LupineWire

/// One attempt to open a connection. Used only on its loop's thread.
///
/// It belongs to the pool and not to the exchange that requested it, which another connection may serve in the
/// meantime.
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
  /// The exchange whose limits apply: the one that waited for the opening when its phase began or restarted.
  var limiter: ExchangeID
  var timeouts: Timeouts

  var state = State.resolving
  var times = OpeningTimes()
  /// The host that is looked up or connected to.
  var host = ""
  /// The deadline of the present phase.
  var phaseDeadline: Instant?
  /// Connecting sockets by poller token.
  var candidates: [UInt64: any StreamSocket] = [:]
  /// The origin's address, for a proxy that needs it.
  var destination: SocketAddress?
  /// The state of the handshake with the proxy.
  var proxyHandshake: ProxyHandshake?
  /// The connected socket, during the proxy handshake and the TLS handshake.
  var transport: Transport?
  var interest: Poller.Interest = []
  /// The error of the latest failed address.
  var lastError: SystemError?

  init(id: ConnectionID, for exchange: Exchange) {
    self.id = id
    key = exchange.key
    limiter = exchange.id
    timeouts = exchange.request.timeouts
  }

  /// The time limit of the present phase. A lookup always has one, because a resolver may never answer.
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
