// Shard+Opening: opens connections: lookup, connect, proxy tunnel, TLS. Each phase has a separate deadline.

@_spi(Loop) internal import LupineReactor
internal import LupineTLS
internal import LupineWire

extension Shard {
  /// The pause before another attempt to connect to a Unix socket whose queue is full: 10 ms, which is short for an exchange that
  /// waits and cheap for the processor. For TCP, the kernel retries by itself.
  private static let queueFullPause = Duration.milliseconds(10)

  /// Starts to open a connection on behalf of an exchange that waits for one.
  func open(_ id: ConnectionID, for exchange: Exchange) {
    guard exchange.request.connectionDemand?.proxyAuthorization?.claimForConnection() != false else {
      // An earlier opening for this exchange has used the single-use credentials, and its connection serves another exchange.
      let error = EngineError(.connectionLost, .poolWait, exchange.key.origin, proxy: exchange.key.route.proxy)
      perform(pool.openingFailed(id, because: .unreachable, now: now), failure: error)
      return watchPool()
    }
    open(Opening(id: id, for: exchange))
  }

  func open(_ opening: Opening) {
    openings[opening.id] = opening
    let origin = opening.key.origin
    trace(.connectionStarted(connection: UInt64(opening.id.serial), origin: origin, exchange: opening.limiter))
    if let path = origin.socketPath ?? configuration.socketPath { return connect(opening, socketPath: path) }
    if opening.key.route.proxy != nil, !configuration.addressPolicy.allowsProxies {
      return fail(opening, .addressRefused, cause: .refusal(.proxy))
    }
    switch opening.key.route {
    case .tunnel(let proxy) where proxy.scheme == .socks5:
      resolve(opening, origin.host, port: origin.port, .resolvingDestination)
    case .forward(let proxy), .tunnel(let proxy):
      resolve(opening, proxy.host, port: proxy.port, .resolving)
    case .direct:
      resolve(opening, origin.host, port: origin.port, .resolving)
    }
  }

  private func connect(_ opening: Opening, socketPath: String) {
    guard let address = SocketAddress(socketPath: socketPath) else {
      return fail(opening, .connectFailed, cause: .system(.unusableSocketPath(socketPath)))
    }
    resolved(opening, .success([address]))
  }

  private func resolve(_ opening: Opening, _ host: String, port: UInt16, _ state: Opening.State) {
    opening.state = state
    opening.host = host
    if let address = SocketAddress(numeric: host, port: port) { return resolved(opening, .success([address])) }
    if opening.times.resolveStart == nil { opening.times.resolveStart = now }
    if case .resolving = state { opening.lookupPort = port }
    enter(opening, state)
    let overrides = opening.key.traits?.hostOverrides ?? []
    let answer = resolver.lookUp(host, port: port, overrides, while: opening.liveness, now: now) {
      [inbox, id = opening.id] in inbox.send(.resolved(id, $0))
    }
    if let answer { resolved(opening, answer) }
  }

  /// Continues to open a connection after a lookup, with the addresses of the host or the lookup's error.
  func resolved(_ opening: Opening, _ result: Result<[SocketAddress], ResolveError>) {
    if opening.times.resolveStart != nil { opening.times.resolveEnd = now }
    switch result {
    case .success(let found):
      trace(.hostResolved(connection: UInt64(opening.id.serial), host: opening.host, addresses: found))
      // The policy is checked here, where sockets get their addresses, so that no other lookup can change the addresses after
      // the check.
      let addresses: [SocketAddress]
      do {
        addresses = try reached(try configuration.addressPolicy.permitted(found), opening.key.traits)
      } catch {
        return fail(opening, .addressRefused, cause: .refusal(error))
      }
      if case .resolvingDestination = opening.state, let proxy = opening.key.route.proxy {
        opening.destination = addresses[0]
        return resolve(opening, proxy.host, port: proxy.port, .resolving)
      }
      opening.times.connectStart = now
      let (attempts, withdrawn) = attempts(opening, reachable(addresses), of: found)
      enter(opening, .connecting(attempts))
      tryAddresses(opening)
      withdraw(withdrawn)
    case .failure(let error):
      let code: EngineError.Code =
        switch error.kind {
        case .unknownName: .hostNotFound
        case .outOfResources: .outOfResources
        case .temporary, .other: .resolveFailed
        }
      fail(opening, code, cause: .resolve(error))
    }
  }

  /// If the request's settings refuse mobile networks, returns those addresses that aren't reached through one, or throws an error
  /// if there are none. Otherwise returns all addresses.
  private func reached(
    _ addresses: [SocketAddress], _ traits: ConnectionSettings.Traits?
  ) throws(AddressRefusal) -> [SocketAddress] {
    guard let traits, traits.refusesCellular else { return addresses }
    let options = socketOptions(traits)
    // An address without a route is kept, so that connecting to it fails with the kernel's reason.
    let reached = addresses.filter { (try? network.link(to: $0, options: options))?.medium != .cellular }
    guard !reached.isEmpty else { throw .cellular(addresses) }
    return reached
  }

  private func socketOptions(_ traits: ConnectionSettings.Traits?) -> SocketOptions {
    var options = configuration.socket
    if let trafficClass = traits?.trafficClass { options.trafficClass = trafficClass }
    return options
  }

  /// Returns those addresses that are of the same family as the configured local address. If there are none, returns all addresses,
  /// so that connecting fails with an error that explains why.
  private func reachable(_ addresses: [SocketAddress]) -> [SocketAddress] {
    guard let own = configuration.socket.localAddress else { return addresses }
    let reachable = addresses.filter { $0.isIPv6 == own.isIPv6 }
    return reachable.isEmpty ? addresses : reachable
  }

  private func tryAddresses(_ opening: Opening) {
    guard case .connecting(var order) = opening.state else { return }
    while true {
      let step = order.step(now: now)
      opening.state = .connecting(order)
      switch step {
      case .attempt(let address):
        do {
          try attempt(address, opening)
        } catch {
          note(error, address, opening)
          if error.isQueueFull, address.socketPath != nil, waiter(of: opening) != nil {
            order.attemptPostponed(address, until: now + Self.queueFullPause)
          } else {
            order.attemptFailed(now: now)
          }
        }
      case .wait(let until):
        return setDeadline(opening, nextStart: until)
      case .exhausted:
        guard let error = opening.connectError else { preconditionFailure("no address was tried") }
        // The cached addresses are removed, because the host may have moved.
        resolver.forget(opening.host)
        let code: EngineError.Code =
          error.isConnectionRefused
          ? .connectionRefused : error.isOutOfDescriptors || error.isOutOfMemory ? .outOfResources : .connectFailed
        return fail(opening, code, cause: .system(error))
      }
    }
  }

  private func attempt(_ address: SocketAddress, _ opening: Opening) throws(SystemError) {
    trace(.addressTried(connection: UInt64(opening.id.serial), address: address))
    let candidate = try network.connect(to: address, options: socketOptions(opening.key.traits))
    let token = openings.makeToken()
    try network.watch(candidate.number, .writable, token: token)
    opening.candidates[token] = Opening.Candidate(socket: candidate, address: address)
    openings.add(token, connectingFor: opening.id)
    balance?.use(address, for: opening.id)
  }

  private func note(_ error: SystemError, _ address: SocketAddress, _ opening: Opening) {
    opening.note(error)
    balance?.fail(address, now: now)
    trace(.addressFailed(connection: UInt64(opening.id.serial), error: error))
  }

  /// Continues to open a connection after one of its connection attempts has succeeded or failed. `token` is the poller token of
  /// that attempt's socket.
  func continueConnecting(_ opening: Opening, token: UInt64) {
    openings.remove(token)
    guard case .connecting(var order) = opening.state,
      let candidate = opening.candidates.removeValue(forKey: token)
    else { return }
    let socket = candidate.socket
    do {
      try socket.finishConnecting()
      try network.rewatch(socket.number, .readable, token: opening.id.rawValue)
    } catch {
      note(error, candidate.address, opening)
      order.attemptFailed(now: now)
      opening.state = .connecting(order)
      return tryAddresses(opening)
    }
    dropCandidates(opening)
    opening.address = candidate.address
    balance?.use(candidate.address, for: opening.id)
    opening.interest = .readable
    if let proxy = opening.key.route.proxy, proxy.scheme == .https {
      secureProxy(opening, proxy, socket)
    } else {
      beginRoute(opening, socket)
    }
  }

  /// Called when the socket has connected to the proxy or the origin. Opens a tunnel or begins TLS, if the route needs it.
  private func beginRoute(_ opening: Opening, _ socket: any StreamSocket) {
    if case .tunnel(let proxy) = opening.key.route {
      beginTunnel(opening, proxy, socket)
    } else {
      beginTLS(opening, socket)
    }
  }

  /// Begins the TLS handshake with the proxy.
  private func secureProxy(_ opening: Opening, _ proxy: Proxy, _ socket: any StreamSocket) {
    opening.times.proxyStart = now
    enter(opening, .securingProxy)
    do {
      let context = try tlsContexts.context(for: configuration.proxyTLS)
      let session = try TLSSession(client: context, host: proxy.host, port: proxy.port, isProxy: true)
      opening.transport = Transport(socket, tls: session)
    } catch {
      let failure = Failure.tls(error)
      return fail(opening, failure.code, cause: failure.cause)
    }
    continueHandshake(opening)
  }

  func beginTLS(_ opening: Opening, _ socket: any StreamSocket) {
    guard let tls = opening.key.tls else {
      opening.transport = Transport(socket, tls: nil)
      return completeOpening(opening)
    }
    opening.times.tlsStart = now
    enter(opening, .handshaking)
    do {
      let origin = opening.key.origin
      let session = try TLSSession(client: try tlsContexts.context(for: tls), host: origin.host, port: origin.port)
      opening.transport = Transport(socket, tls: session)
    } catch {
      return fail(opening, .tlsFailed, cause: .tls(error))
    }
    continueHandshake(opening)
  }

  /// Continues to open a connection when its socket is readable or writable.
  func proceed(_ opening: Opening) {
    switch opening.state {
    case .proxying: continueTunnel(opening)
    case .securingProxy, .handshaking: continueHandshake(opening)
    // While the verifier decides, the poller reports only errors.
    case .verifying: fail(opening, .connectionLost, cause: nil)
    case .resolvingDestination, .resolving, .connecting: break
    }
  }

  func continueHandshake(_ opening: Opening) {
    var ciphertext = buffers.borrow()
    defer { buffers.giveBack(&ciphertext) }
    do {
      let progress = try opening.transport?.handshake(ciphertext: &ciphertext) ?? .waiting
      try opening.transport?.flush()
      switch progress {
      case .complete:
        if case .securingProxy = opening.state {
          guard let transport = opening.transport.take() else { return }
          opening.times.proxyEnd = now
          return beginRoute(opening, EncryptedSocket(transport))
        }
        opening.times.tlsEnd = now
        if let info = opening.transport?.tlsInfo {
          trace(.handshakeDone(connection: UInt64(opening.id.serial), tls: info))
        }
        completeOpening(opening)
      case .waiting: watch(opening)
      case .needsVerdict(let verification): beginVerification(opening, verification)
      }
    } catch {
      fail(opening, error.code, cause: error.cause)
    }
  }

  func watch(_ opening: Opening) {
    watch(opening, opening.transport?.unsentCount ?? 0 > 0 ? [.readable, .writable] : .readable)
  }

  /// Makes the poller watch the socket of an opening for the events `wanted` and for errors. If that fails, ends the opening and
  /// returns false.
  @discardableResult
  func watch(_ opening: Opening, _ wanted: Poller.Interest) -> Bool {
    guard wanted != opening.interest, let number = opening.transport?.socket.number else { return true }
    opening.interest = wanted
    do {
      try network.rewatch(number, wanted, token: opening.id.rawValue)
      return true
    } catch {
      fail(opening, .outOfResources, cause: .system(error))
      return false
    }
  }

  /// Creates the connection from an opening that is complete, and passes it to the pool.
  private func completeOpening(_ opening: Opening) {
    opening.times.connectEnd = now
    guard let transport = opening.transport.take() else { return }
    let connection = Connection(
      id: opening.id, key: opening.key, transport: transport, limits: configuration.limits,
      interest: opening.interest, opening: opening.times)
    connection.unread = opening.earlyBytes
    let waiter = waiter(of: opening)
    remove(opening)
    connections.pooled[opening.id] = connection
    // No socket event announces bytes that arrived with the last message of the handshake.
    if connection.transport.mayHoldPlaintext { postpone(connection) }
    trace(.connectionOpened(connection: UInt64(opening.id.serial)))
    opening.prewarming?.readyCount += 1
    // If an exchange that has waited longer gets the connection, this waiter continues to wait.
    waiter?.enter(.poolWait, now: now)
    apply(pool.opened(opening.id, now: now), on: connection)
    if let waiter, waiter.phase == .poolWait, !waiter.hasEnded { rearm(waiter) }
    if balance?.isWithdrawn(opening.id) == true { withdraw([opening.id]) }
  }

  // MARK: Failure

  /// Called when the deadline of an opening has passed: either the current phase has timed out, or it is time to try the next
  /// address.
  func expire(_ opening: Opening) {
    guard let deadline = opening.phaseDeadline, deadline <= fetched else { return tryAddresses(opening) }
    if restartPhaseIfReassigned(opening) { return }
    // The addresses that don't respond may be outdated.
    if opening.phase == .connect { resolver.forget(opening.host) }
    fail(opening, .timedOut, cause: opening.limit.map { .limit($0) })
  }

  /// Applies the time limits of the new waiter to each opening that was reassigned to another waiter.
  func applyReassignments() {
    for id in pool.takeReassigned() {
      if let opening = openings[id] { restartPhaseIfReassigned(opening) }
    }
  }

  /// If another exchange now waits for this opening, restarts the current phase with the time limits of that exchange. Returns
  /// whether the exchange has changed.
  @discardableResult
  private func restartPhaseIfReassigned(_ opening: Opening) -> Bool {
    guard let waiter = waiter(of: opening), waiter.id != opening.limiter else { return false }
    enter(opening, opening.state)
    tryAddresses(opening)
    return true
  }

  /// Stops opening a connection that no exchange needs.
  func abandon(_ id: ConnectionID) {
    guard let opening = openings[id] else { return }
    balance?.end(id)
    remove(opening)
  }

  func fail(_ opening: Opening, _ code: EngineError.Code, cause: EngineError.Cause?) {
    waiter(of: opening)?.note(opening.times)
    for address in opening.failedAddresses { balance?.fail(address, now: now) }
    balance?.end(opening.id)
    remove(opening)
    let error = EngineError(
      code, opening.phase, opening.key.origin, proxy: opening.key.route.proxy, cause: cause)
    trace(.connectionFailed(connection: UInt64(opening.id.serial), error: error))
    let isOutOfDescriptors =
      switch cause {
      case .system(let error): error.isOutOfDescriptors
      case .resolve(let error): error.kind == .outOfResources
      default: false
      }
    perform(
      pool.openingFailed(opening.id, because: isOutOfDescriptors ? .outOfDescriptors : .unreachable, now: now),
      failure: error)
    watchPool()
  }

  private func remove(_ opening: Opening) {
    opening.liveness.end()
    dropCandidates(opening)
    opening.transport = nil
    openings[opening.id] = nil
    deadlines.remove(.opening(opening.id))
  }

  private func dropCandidates(_ opening: Opening) {
    for token in opening.candidates.keys { openings.remove(token) }
    opening.candidates = [:]
  }

  // MARK: Phases

  func enter(_ opening: Opening, _ state: Opening.State) {
    opening.state = state
    if let waiter = waiter(of: opening) {
      (opening.limiter, opening.timeouts) = (waiter.id, waiter.request.timeouts)
      waiter.enter(opening.phase, now: now)
    }
    opening.phaseDeadline = opening.limit.map { now + $0 }
    setDeadline(opening, nextStart: nil)
  }

  /// Returns the exchange that waits for this opening: the one that requested the connection, or one that took it over. Returns nil
  /// if no exchange waits for it.
  private func waiter(of opening: Opening) -> Exchange? {
    pool.waiter(of: opening.id).flatMap { exchanges[$0] }
  }

  private func setDeadline(_ opening: Opening, nextStart: Instant?) {
    let times = [opening.phaseDeadline, nextStart].compactMap(\.self)
    deadlines.set(.opening(opening.id), to: times.min())
  }
}
