// Doing what the pool has decided.

internal import LupineReactor
internal import LupineWire

extension LoopShard {
  /// Gets the exchange a connection, now or later.
  func acquire(_ exchange: Exchange) {
    switch pool.acquire(exchange.key, for: exchange.id) {
    case .use(let id): start(exchange, on: id)
    case .connect(let id): open(id, for: exchange)
    case .wait: exchange.enter(.poolWait, now: now)
    }
    if exchanges[exchange.id] === exchange { rearm(exchange) }
  }

  /// Does what the pool has decided. `failure` says why the connection of a `.fail` couldn't be opened.
  ///
  /// What an action leads to is done behind it, not inside it: each of many waiters may fail at once.
  func perform(_ actions: [PoolState.Action], failure: EngineError? = nil) {
    guard !actions.isEmpty else { return }
    for action in actions { pendingActions.append((action, failure)) }
    guard !isPerforming else { return }
    isPerforming = true
    defer { isPerforming = false }
    while !pendingActions.isEmpty {
      var batch: [(PoolState.Action, EngineError?)] = []
      swap(&batch, &pendingActions)
      for (action, failure) in batch { perform(action, failure) }
    }
  }

  private func perform(_ action: PoolState.Action, _ failure: EngineError?) {
    switch action {
    case .use(let id, let exchange):
      start(waiting(exchange), on: id)
    case .connect(let id, let exchange):
      open(id, for: waiting(exchange))
    case .close(let id, _):
      if let connection = connections.removeValue(forKey: id) {
        connection.transport.sayGoodbye()
      } else {
        abandon(id)
      }
    case .fail(let exchange):
      if let exchange = exchanges[exchange], let failure { finish(exchange, .failure(failure)) }
    }
  }

  private func waiting(_ id: ExchangeID) -> Exchange {
    guard let exchange = exchanges[id] else { preconditionFailure("the pool serves an exchange that has ended") }
    return exchange
  }

  /// Lets go of a connection behind a complete response; whoever waits gets it.
  func release(_ connection: Connection, closing reason: CloseReason?) {
    connection.exchange = nil
    perform(pool.release(connection.id, connection.key, closing: reason, now: now))
    if connection.exchange == nil, connections[connection.id] === connection { rest(connection) }
  }

  /// A connection is idle: it is watched for its end, and not kept for ever.
  func rest(_ connection: Connection) {
    updateInterest(connection)
    if !isIdleDeadlineSet {
      isIdleDeadlineSet = true
      deadlines.set(.idleConnections, to: now + configuration.idleTimeout)
    }
  }
}
