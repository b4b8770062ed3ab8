// Opening: the state of a connection while it is being opened: lookup, connect, proxy tunnel, TLS.

internal import LupineReactor
internal import LupineWire

/// One attempt to open a connection, with all its phases. Used only on its loop's thread.
///
/// The attempt belongs to the pool and not to the exchange that requested it, because that exchange may be given another connection
/// in the meantime.
final class Opening {
  enum State {
    /// The origin's host is being looked up, because the proxy needs its address. The next state is `resolving`, for the proxy's
    /// host.
    case resolvingDestination
    /// The host to which the socket connects is being looked up.
    case resolving
    case connecting(HappyEyeballs)
    /// The TLS handshake with the proxy is in progress.
    case securingProxy
    /// The proxy is opening a tunnel.
    case proxying
    /// The TLS handshake with the origin is in progress.
    case handshaking
    /// The verifier is deciding about the certificate of the proxy or the origin. The time limit of the handshake also applies to
    /// this state.
    case verifying(isProxy: Bool)
  }

  /// A socket that is connecting to one of the host's addresses.
  struct Candidate {
    let socket: any StreamSocket
    let address: SocketAddress
  }

  let id: ConnectionID
  let key: PoolKey
  /// The exchange whose time limits apply to this attempt to open a connection. It is the exchange that waited for the connection
  /// when the current phase began or restarted. Nil if no exchange has waited for it, because it is opened in advance.
  var limiter: ExchangeID?
  var timeouts: Timeouts

  var state = State.resolving
  var times = OpeningTimes()
  /// The name of the host that is being looked up, or to which the socket connects.
  var host = ""
  /// The deadline of the current phase of opening the connection, or nil for no limit.
  var phaseDeadline: Instant?
  /// The port with which `host` was looked up. Nil if the host is an address or a Unix socket, or if the lookup isn't that of the
  /// host to which the socket connects.
  var lookupPort: UInt16?
  /// The sockets that are connecting to the host's addresses, by poller token.
  var candidates: [UInt64: Candidate] = [:]
  /// The address to which the socket has connected, or nil if none has connected yet.
  var address: SocketAddress?
  /// The resolved address of the origin, if the proxy needs an address instead of a host name. Otherwise nil.
  var destination: SocketAddress?
  /// The HTTP proxy credentials of the request that caused this opening (see `ConnectionDemand`), or nil if it has none. A request
  /// that needs a tunnel and has such credentials also has a group, which is part of the pool's key. So all exchanges that may take
  /// over this opening have credentials of the same user, or none.
  let proxyAuthorization: ProxyAuthorization?
  /// The handshake with the proxy that opens a tunnel, while it is in progress.
  var proxyHandshake: (any ProxyHandshake & ~Copyable)?
  /// The socket that has connected, with its TLS session if there is one. Set during the proxy handshake and the TLS handshake.
  var transport: Transport?
  /// The bytes of a raw stream that arrived together with the proxy's reply, because a server may send first. At most one read
  /// buffer; empty for requests.
  var earlyBytes: [UInt8] = []
  var interest: Poller.Interest = []
  /// Lets other threads check whether this attempt to open a connection still exists.
  let liveness = Liveness()
  /// The error to report if the attempts to connect to all of the host's addresses fail. This is the latest error, or an earlier
  /// refusal unless the machine ran out of descriptors or memory later. Nil if no attempt has failed.
  private(set) var connectError: SystemError?

  /// The caller's order to open the connection in advance, or nil if there is none.
  let prewarming: Prewarming?

  /// Begins to open a connection on behalf of an exchange that waits for one.
  init(id: ConnectionID, for exchange: Exchange) {
    self.id = id
    key = exchange.key
    limiter = exchange.id
    timeouts = exchange.request.timeouts
    proxyAuthorization = exchange.request.connectionDemand?.proxyAuthorization
    prewarming = nil
  }

  /// Begins to open a connection in advance.
  init(id: ConnectionID, _ key: PoolKey, _ timeouts: Timeouts, _ prewarming: Prewarming?) {
    self.id = id
    self.key = key
    limiter = nil
    self.timeouts = timeouts
    proxyAuthorization = nil
    self.prewarming = prewarming
  }

  /// Records the error of a failed attempt to connect to one of the host's addresses.
  func note(_ error: SystemError) {
    // A refusal says more than the error of an address that this machine can't reach, such as ::1 without IPv6.
    let isShortage = error.isOutOfDescriptors || error.isOutOfMemory
    if isShortage || connectError?.isConnectionRefused != true { connectError = error }
  }

  /// The addresses that have failed if the attempt to open the connection fails now: those that haven't connected in time, or the
  /// address of an origin that doesn't complete the TLS handshake.
  var failedAddresses: [SocketAddress] {
    switch state {
    case .connecting: candidates.values.map(\.address)
    case .handshaking where key.route == .direct: [address].compactMap(\.self)
    default: []
    }
  }

  /// The time limit of the current phase of opening the connection, or nil for none. A lookup always has a limit, because a
  /// resolver may never answer.
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
