// Shard+Pool: executes the pool's decisions.

@_spi(Loop) internal import LupineReactor
internal import LupineWire

extension Shard {
  /// Requests a connection for an exchange from the pool. The exchange starts immediately, waits, or is refused.
  func acquire(_ exchange: Exchange) {
    if let demand = exchange.request.connectionDemand, demand.needsOpenConnection,
      !pool.hasFitConnection(exchange.key, now: now)
    {
      return endExchange(exchange, .failure(EngineError(.connectionLost, .poolWait, exchange.key.origin)))
    }
    switch pool.acquire(exchange.key, for: exchange.id, ExchangePriority(exchange.request.priority), now: now) {
    case .use(let id): start(exchange, on: id)
    case .wait(let ticket, let actions):
      exchange.ticket = ticket
      exchange.enter(.poolWait, now: now)
      if actions.isEmpty { trace(.exchangeWaits(exchange: exchange.id)) }
      perform(actions)
      watchPool()
      if !exchange.hasEnded { rearm(exchange) }
    case .refused(let refusal): refuse(exchange, refusal)
    }
    if configuration.pool.readyPerOriginMin > 0 { keepReady(like: exchange) }
  }

  /// Executes the pool's actions. `failure` is the error of the exchanges that a `.fail` action ends.
  ///
  /// Actions that follow from an action are queued instead of nested, because many waiters may fail at the same time. Closing a
  /// connection causes no further actions, and is done immediately, so that a connection that the pool has forgotten isn't used.
  func perform(_ actions: [PoolState.Action], failure: EngineError? = nil) {
    guard !actions.isEmpty else { return }
    for action in actions {
      if case .close = action { perform(action, failure) } else { poolWork.pendingActions.append((action, failure)) }
    }
    guard !poolWork.isPerforming else { return }
    poolWork.isPerforming = true
    defer { poolWork.isPerforming = false }
    while !poolWork.pendingActions.isEmpty {
      let batch = Swift.exchange(&poolWork.pendingActions, with: [])
      for (action, failure) in batch { perform(action, failure) }
    }
  }

  private func perform(_ action: PoolState.Action, _ failure: EngineError?) {
    switch action {
    case .use(let id, let exchange):
      start(waiting(exchange), on: id)
    case .connect(let id, let exchange):
      // An earlier action of the batch may have led to an event in which the pool has abandoned the connection.
      guard pool.isOpening(id) else { return }
      let exchange = waiting(exchange)
      guard backlog.openingsLeft > 0, backlog.openings.isEmpty else { return backlog.openings.append(id) }
      backlog.openingsLeft -= 1
      open(id, for: exchange)
    case .prewarm(let id, let key): open(Opening(id: id, key, Timeouts(), nil))
    case .wait(let exchange):
      let exchange = waiting(exchange)
      trace(.exchangeWaits(exchange: exchange.id))
      exchange.enter(.poolWait, now: now)
      rearm(exchange)
    case .close(let id, let reason):
      guard let connection = connections.pooled[id] else { return }
      connections.pooled[id] = nil
      disconnect(connection, reason)
    case .abandon(let id): abandon(id)
    case .fail(let exchange):
      if let exchange = exchanges[exchange], let failure { endExchange(exchange, .failure(failure)) }
    case .refuse(let exchange, let refusal): refuse(waiting(exchange), refusal)
    }
  }

  /// Begins to open connections that earlier iterations have postponed, as far as this iteration's limit permits. Doesn't open those
  /// for which no exchange waits any longer.
  func beginPostponedOpenings() {
    while backlog.openingsLeft > 0, let id = backlog.openings.popFirst() {
      guard pool.isOpening(id) else { continue }
      guard let exchange = pool.waiter(of: id) else {
        perform(pool.abandon(id))
        continue
      }
      backlog.openingsLeft -= 1
      open(id, for: waiting(exchange))
    }
  }

  func disconnect(_ connection: Connection, _ reason: CloseReason) {
    trace(.connectionClosed(connection: UInt64(connection.id.serial), reason: reason))
    connection.use = .closed
    balance?.end(connection.id)
    poolObservation?.closed(connection.key, connection.record, now: now)
    disarm(connection)
    connection.transport.sendCloseNotify()
  }

  private func waiting(_ id: ExchangeID) -> Exchange {
    guard let exchange = exchanges[id] else {
      preconditionFailure("the pool assigned a connection to an ended exchange")
    }
    return exchange
  }

  /// Returns a connection to the pool, which gives it to the next waiter, keeps it idle, or closes it for `reason`.
  func release(_ connection: Connection, closing reason: CloseReason?) {
    connection.mayBeStale = true
    guard !connection.isUpgraded else {
      connections.upgraded[connection.id] = nil
      return disconnect(connection, .upgraded)
    }
    connection.use = .idle
    let idleTimeMax = connection.wire.keepAliveSeconds.map(PoolLimits.idleTimeMax(keepAliveSeconds:))
    apply(pool.release(connection.id, closing: reason, idleTimeMax: idleTimeMax, now: now), on: connection)
  }

  /// Executes the pool's decision about a connection that was opened, or that its exchange has released.
  func apply(_ released: PoolState.Released, on connection: Connection) {
    switch released {
    case .idle: break
    case .use(let exchange): perform([.use(connection.id, by: exchange)])
    case .actions(let actions): perform(actions)
    }
    if case .idle = connection.use { rest(connection) }
  }

  private func refuse(_ exchange: Exchange, _ refusal: PoolState.Refusal) {
    let (code, cause): (EngineError.Code, EngineError.Cause?) =
      switch refusal {
      case .shuttingDown: (.shutDown, nil)
      case .tooManyWaiters(let count): (.tooManyWaiting, .maximum(count))
      }
    endExchange(
      exchange,
      .failure(EngineError(code, .poolWait, exchange.key.origin, proxy: exchange.key.route.proxy, cause: cause)))
  }

  /// Returns whether the pool has reserved the connection for an exchange that hasn't started on it yet. Such a connection is
  /// neither draining nor idle.
  func isPromised(_ connection: Connection) -> Bool {
    !connection.isDraining && !pool.isIdle(connection.id)
  }

  /// Prepares a connection that is now idle: frees memory, and watches for the peer's close and for the idle timeout.
  func rest(_ connection: Connection) {
    connection.transport.releaseIdleMemory()
    // A new connection that the pool immediately reserved for a waiter hasn't been idle, so it isn't stale.
    if !connection.mayBeStale, pool.isIdle(connection.id) { connection.mayBeStale = true }
    updateInterest(connection)
    watchPool()
  }

  /// Registers the pool's deadline with the loop if it is earlier than the registered deadline. A later deadline isn't registered,
  /// because the loop checks for it when the registered deadline passes.
  func watchPool() {
    guard let next = pool.nextDeadline, next < poolWork.deadline ?? Instant(nanoseconds: .max) else { return }
    poolWork.deadline = next
    deadlines.set(.pool, to: next)
  }
}

extension CloseReason {
  /// Creates the reason for closing the connection of an exchange that failed with this code.
  init(of code: EngineError.Code) {
    switch code {
    case .cancelled: self = .cancelled
    case .timedOut: self = .timedOut
    default: self = .exchangeFailed
    }
  }
}
