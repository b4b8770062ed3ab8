// Opening connections: resolve, connect, TLS. Each phase has its own deadline.

internal import LupineReactor
internal import LupineTLS
internal import LupineWire

extension LoopShard {
  /// Begins to open a connection on behalf of an exchange.
  func open(_ id: ConnectionID, for exchange: Exchange) {
    let opening = Opening(id: id, key: exchange.key, timeouts: exchange.request.timeouts)
    openings[id] = opening
    let origin = exchange.key.origin
    if let address = SocketAddress(numeric: origin.host, port: origin.port) {
      return connect(opening, .success([address]))
    }
    opening.times.resolveStart = now
    enter(opening, .resolving)
    resolver.resolve(origin.host, port: origin.port) { [self] in send(.resolved(id, $0)) }
  }

  /// The addresses are known, or that there are none.
  func connect(_ opening: Opening, _ result: Result<[SocketAddress], ResolveError>) {
    if opening.times.resolveStart != nil { opening.times.resolveEnd = now }
    switch result {
    case .success(let addresses) where addresses.isEmpty:
      fail(opening, .hostNotFound, cause: nil)
    case .success(let addresses):
      opening.times.connectStart = now
      enter(opening, .connecting(HappyEyeballs(addresses, now: now)))
      tryAddresses(opening)
    case .failure(let error):
      fail(opening, error.isUnknownName ? .hostNotFound : .resolveFailed, cause: .resolve(error))
    }
  }

  private func tryAddresses(_ opening: Opening) {
    guard case .connecting(var order) = opening.state else { return }
    while true {
      let step = order.step(now: now)
      opening.state = .connecting(order)
      switch step {
      case .attempt(let address):
        if !attempt(address, opening) { order.attemptFailed(now: now) }
      case .wait(let until):
        return setDeadline(opening, nextStart: until)
      case .exhausted:
        guard let error = opening.lastError else { preconditionFailure("no address was tried") }
        let code: EngineError.Code =
          error.isConnectionRefused ? .connectionRefused : error.isOutOfDescriptors ? .outOfResources : .connectFailed
        return fail(opening, code, cause: .system(error))
      }
    }
  }

  private func attempt(_ address: SocketAddress, _ opening: Opening) -> Bool {
    do {
      let candidate = Opening.Candidate(try Socket.connect(to: address))
      // The highest bit keeps these tokens apart from connections' identifiers.
      candidateCount += 1
      let token = candidateCount | 1 << 63
      try loop.watch(candidate.number, .writable, token: token)
      opening.candidates[token] = candidate
      candidates[token] = opening.id
      return true
    } catch {
      opening.lastError = error
      return false
    }
  }

  /// A socket has connected, or failed to.
  func finishConnecting(_ opening: Opening, token: UInt64) {
    candidates[token] = nil
    guard case .connecting(var order) = opening.state,
      let socket = opening.candidates.removeValue(forKey: token)?.take()
    else { return }
    do {
      try socket.finishConnecting()
      try loop.rewatch(socket.number, .readable, token: opening.id)
    } catch {
      opening.lastError = error
      order.attemptFailed(now: now)
      opening.state = .connecting(order)
      return tryAddresses(opening)
    }
    dropCandidates(opening)
    opening.interest = .readable
    beginTLS(opening, socket)
  }

  private func beginTLS(_ opening: Opening, _ socket: consuming Socket) {
    guard let tls = opening.key.tls else {
      opening.transport = Transport(socket, tls: nil)
      return finish(opening)
    }
    opening.times.tlsStart = now
    enter(opening, .handshaking)
    do {
      let session = try TLSSession(client: try context(for: tls), host: opening.key.origin.host)
      opening.transport = Transport(socket, tls: session)
    } catch {
      return fail(opening, .tlsFailed, cause: .tls(error))
    }
    continueHandshake(opening)
  }

  private func context(for configuration: TLSConfiguration) throws(TLSError) -> TLSContext {
    if let context = tlsContexts[configuration] { return context }
    let context = try TLSContext(client: configuration)
    tlsContexts[configuration] = context
    return context
  }

  /// Bytes of the handshake came, or can be sent.
  func continueHandshake(_ opening: Opening) {
    guard case .handshaking = opening.state else { return }
    var ciphertext = buffers.take()
    defer { buffers.put(ciphertext) }
    do {
      let isDone = try opening.transport?.handshake(ciphertext: &ciphertext) ?? false
      try opening.transport?.flush()
      if isDone {
        opening.times.tlsEnd = now
        finish(opening)
      } else {
        watch(opening)
      }
    } catch {
      fail(opening, error.code, cause: error.cause)
    }
  }

  private func watch(_ opening: Opening) {
    let wanted: Poller.Interest = opening.transport?.unsentCount ?? 0 > 0 ? [.readable, .writable] : .readable
    guard wanted != opening.interest, let number = opening.transport?.socket.number else { return }
    opening.interest = wanted
    do {
      try loop.rewatch(number, wanted, token: opening.id)
    } catch {
      fail(opening, .outOfResources, cause: .system(error))
    }
  }

  /// The connection can be used.
  private func finish(_ opening: Opening) {
    opening.times.connectEnd = now
    guard let transport = opening.transport.take() else { return }
    let connection = Connection(
      id: opening.id, key: opening.key, transport: transport, limits: configuration.limits,
      interest: opening.interest, opening: opening.times)
    let asker = asker(of: opening)
    remove(opening)
    connections[opening.id] = connection
    // If somebody who has waited for longer gets the connection, the one that asked goes on waiting.
    asker?.enter(.poolWait, now: now)
    perform(pool.opened(opening.id, opening.key, now: now))
    if let asker, asker.phase == .poolWait { rearm(asker) }
    if connection.exchange == nil, connections[connection.id] === connection { rest(connection) }
  }

  // MARK: Failure

  /// A phase took too long, or the next address is to be tried.
  func expire(_ opening: Opening) {
    if let deadline = opening.phaseDeadline, deadline <= now {
      let limit = opening.timeouts.limit(of: opening.phase)
      fail(opening, .timedOut, cause: limit.map { .limit($0) })
    } else {
      tryAddresses(opening)
    }
  }

  /// Gives a connection up that nobody needs any more.
  func abandon(_ id: ConnectionID) {
    if let opening = openings[id] { remove(opening) }
  }

  private func fail(_ opening: Opening, _ code: EngineError.Code, cause: EngineError.Cause?) {
    asker(of: opening)?.note(opening.times)
    remove(opening)
    let error = EngineError(code, opening.phase, opening.key.origin, cause: cause)
    perform(pool.openingFailed(opening.id, opening.key), failure: error)
  }

  private func remove(_ opening: Opening) {
    dropCandidates(opening)
    opening.transport = nil
    openings[opening.id] = nil
    deadlines.remove(.opening(opening.id))
  }

  private func dropCandidates(_ opening: Opening) {
    for token in opening.candidates.keys { candidates[token] = nil }
    opening.candidates = [:]
  }

  // MARK: Phases

  private func enter(_ opening: Opening, _ state: Opening.State) {
    opening.state = state
    opening.phaseDeadline = opening.timeouts.limit(of: opening.phase).map { now + $0 }
    setDeadline(opening, nextStart: nil)
    asker(of: opening)?.enter(opening.phase, now: now)
  }

  /// The exchange whose phase follows this opening's: the one that asked for it, or has inherited it, while it waits.
  private func asker(of opening: Opening) -> Exchange? {
    pool.asker(of: opening.id, opening.key).flatMap { exchanges[$0] }
  }

  private func setDeadline(_ opening: Opening, nextStart: Instant?) {
    let times = [opening.phaseDeadline, nextStart].compactMap(\.self)
    deadlines.set(.opening(opening.id), to: times.min())
  }
}
