// Opening: the state of a connection while it is being opened: lookup, connect, proxy tunnel, TLS.

internal import LupineReactor
internal import LupineWire
internal import Synchronization

/// One attempt to open a connection. Used only on its loop's thread.
///
/// The attempt belongs to the pool and not to the exchange that requested it, because that exchange may be given another
/// connection in the meantime.
final class Opening {
  enum State {
    /// Looks up the origin, for a proxy that needs the origin's address. The lookup of the proxy follows.
    case resolvingDestination
    /// Looks up the host to connect to.
    case resolving
    case connecting(HappyEyeballs)
    /// Performs the TLS handshake with the proxy.
    case securingProxy
    /// Requests a tunnel from the proxy.
    case proxying
    /// Performs the TLS handshake with the origin.
    case handshaking
    /// Waits for the verdict of the verifier about the certificate of the proxy or the origin, within the time limit of the
    /// handshake.
    case verifying(isProxy: Bool)
  }

  let id: ConnectionID
  let key: PoolKey
  /// The exchange whose time limits apply: the one that waited for the opening when the current phase began or restarted.
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
  /// The request's credentials for an HTTP proxy (see `ConnectionDemand`), or nil if it has none. For a tunnel, such a request
  /// always has a group, which is part of the pool's key. So all exchanges that may take over this opening have credentials of
  /// the same user, or none.
  let proxyAuthorization: ProxyAuthorization?
  /// The state of the handshake with the proxy.
  var proxyHandshake: ProxyHandshake?
  /// The connected socket, during the proxy handshake and the TLS handshake.
  var transport: Transport?
  var interest: Poller.Interest = []
  /// Lets other threads check whether the opening still exists.
  let liveness = Liveness()
  /// The error of the latest address that failed.
  var lastError: SystemError?

  init(id: ConnectionID, for exchange: Exchange) {
    self.id = id
    key = exchange.key
    limiter = exchange.id
    timeouts = exchange.request.timeouts
    proxyAuthorization = exchange.request.connectionDemand?.proxyAuthorization
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
    case .securingProxy, .proxying, .verifying(isProxy: true): .proxy
    case .handshaking, .verifying(isProxy: false): .tls
    }
  }
}

/// Whether an opening still exists, readable from any thread.
final class Liveness: Sendable {
  private let flag = Atomic(true)

  var isAlive: Bool { flag.load(ordering: .relaxed) }

  func end() { flag.store(false, ordering: .relaxed) }
}
