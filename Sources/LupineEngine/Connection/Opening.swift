// A connection that is being opened: resolve, connect to one of the addresses, ask a proxy, TLS.

internal import LupineReactor
internal import LupineWire

/// One attempt to open a connection; touched on its loop's thread alone.
///
/// It belongs to the pool, not to the exchange that asked for it, which may meanwhile be served by another connection.
final class Opening {
  enum State {
    /// The origin is looked up for a proxy that is given an address; the proxy itself comes next.
    case resolvingDestination
    /// The host to connect to is looked up.
    case resolving
    case connecting(HappyEyeballs)
    /// A proxy is asked for a tunnel.
    case proxying
    /// TLS.
    case handshaking
  }

  let id: ConnectionID
  let key: PoolKey
  /// The exchange whose limits hold: the one that waited for it when its phase began, or began anew.
  var limiter: ExchangeID
  var timeouts: Timeouts

  var state = State.resolving
  var times = OpeningTimes()
  /// What is being looked up or connected to.
  var host = ""
  /// When the present phase has to be over.
  var phaseDeadline: Instant?
  /// Sockets that try to connect, by their poller token.
  var candidates: [UInt64: any StreamSocket] = [:]
  /// The origin's address, for a proxy that is given one.
  var destination: SocketAddress?
  /// The dialogue with a proxy.
  var proxyHandshake: ProxyHandshake?
  /// The connected socket while a proxy is asked and during the TLS handshake, and what the poller was asked for.
  var transport: Transport?
  var interest: Poller.Interest = []
  /// Why the latest address failed.
  var lastError: SystemError?

  init(id: ConnectionID, for exchange: Exchange) {
    self.id = id
    key = exchange.key
    limiter = exchange.id
    timeouts = exchange.request.timeouts
  }

  /// How long the present phase may take: a lookup never for ever, as a resolver may not answer.
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
