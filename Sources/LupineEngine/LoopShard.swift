// One loop's share of the engine: its exchanges, its connections, their deadlines. An actor on the loop's thread.

internal import LupineReactor
internal import LupineTLS
internal import LupineWire
internal import Synchronization

/// Everything that happens on one loop. Other threads send commands; the state is touched on the loop's thread alone.
actor LoopShard: LoopHandler {
  enum Command: Sendable {
    case submit(ExchangeID, EngineRequest, any ResponseSink, credit: Int)
    case cancel(ExchangeID)
    case setPaused(ExchangeID, Bool)
    case grant(ExchangeID, Int)
    case resolved(ConnectionID, Result<[SocketAddress], ResolveError>)
    case shutDown
  }

  /// What a deadline is for.
  enum DeadlineKey: Hashable {
    case exchange(ExchangeID)
    case opening(ConnectionID)
    case idleConnections
  }

  nonisolated let loop: EventLoop
  nonisolated let mailbox = Mailbox<Command>()
  private nonisolated let exchangeCount = Atomic<ExchangeID>(0)
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  let configuration: EngineConfiguration
  let resolver: any HostResolver
  private var commands: [Command] = []

  var now = Instant.now
  var pool: PoolState
  var deadlines = DeadlineQueue<DeadlineKey>()
  var exchanges: [ExchangeID: Exchange] = [:]
  var connections: [ConnectionID: Connection] = [:]
  var openings: [ConnectionID: Opening] = [:]
  /// Which opening a connecting socket belongs to, by its poller token.
  var candidates: [UInt64: ConnectionID] = [:]
  var candidateCount: UInt64 = 0
  var tlsContexts: [TLSConfiguration: TLSContext] = [:]
  var buffers = Buffers()
  /// Connections on which there is more to read than one turn has time for.
  var postponed: [ConnectionID] = []
  /// What the pool has decided and was not done yet, with the reason for failures.
  var pendingActions: [(PoolState.Action, EngineError?)] = []
  var isPerforming = false
  /// Whether a deadline for idle connections is set; it is too early rather than too late.
  var isIdleDeadlineSet = false

  init(_ configuration: EngineConfiguration, loop: EventLoop, resolver: any HostResolver) {
    self.configuration = configuration
    self.loop = loop
    self.resolver = resolver
    pool = PoolState(
      PoolLimits(
        connectionsPerOriginMax: configuration.connectionsPerOriginMax,
        idlePerOriginMax: configuration.idlePerOriginMax, idleTimeout: configuration.idleTimeout))
  }

  nonisolated func nextExchangeID() -> ExchangeID {
    exchangeCount.add(1, ordering: .relaxed).newValue
  }

  nonisolated func send(_ command: Command) {
    if mailbox.post(command) { loop.wake() }
  }

  func turn(_ events: [Poller.Event], now: Instant) -> Instant? {
    self.now = now
    // Before the commands, so that a connection whose end has been noticed isn't given to a new request.
    for event in events { handle(event) }
    receivePostponed()
    var commands: [Command] = []
    swap(&commands, &self.commands)
    mailbox.take(into: &commands)
    for command in commands { handle(command) }
    // Emptied, so that what came with them goes when its exchange does.
    commands.removeAll(keepingCapacity: true)
    swap(&commands, &self.commands)
    expireDeadlines()
    return postponed.isEmpty ? deadlines.earliest : now
  }

  private func handle(_ event: Poller.Event) {
    now = .now
    if let connection = connections[event.token] {
      if event.isWritable { pump(connection) }
      // An error is reported even if nothing was asked for; what a held sink has no room for has to come first.
      let isHeld = connection.exchange?.isHeld == true
      if event.isReadable, !isHeld, connections[event.token] === connection { receive(connection) }
    } else if let opening = openings[event.token] {
      continueHandshake(opening)
    } else if let id = candidates[event.token], let opening = openings[id] {
      finishConnecting(opening, token: event.token)
    }
  }

  private func handle(_ command: Command) {
    switch command {
    case .submit(let id, let request, let sink, let credit): submit(id, request, sink, credit)
    case .cancel(let id):
      if let exchange = exchanges[id] { fail(exchange, .cancelled) }
    case .setPaused(let id, let isPaused):
      guard let exchange = exchanges[id] else { return }
      exchange.isPaused = isPaused
      hold(exchange)
    case .grant(let id, let count):
      guard let exchange = exchanges[id] else { return }
      exchange.credit = exchange.credit.addingReportingOverflow(count).overflow ? .max : exchange.credit + count
      hold(exchange)
    case .resolved(let id, let result):
      if let opening = openings[id] { connect(opening, result) }
    case .shutDown: shutDown()
    }
  }

  // Past the pool, which would open connections for those who wait.
  private func shutDown() {
    loop.stop()
    for connection in connections.values {
      connection.exchange = nil
      connection.transport.sayGoodbye()
    }
    connections = [:]
    openings = [:]
    for exchange in exchanges.values {
      let error = EngineError(
        .shutDown, exchange.phase, exchange.request.uri.origin, delivery: exchange.delivery,
        wasReused: exchange.metrics.isReusedConnection)
      exchange.connection = nil
      finish(exchange, .failure(error))
    }
  }

  private func submit(_ id: ExchangeID, _ request: EngineRequest, _ sink: any ResponseSink, _ credit: Int) {
    let origin = request.uri.origin
    do {
      let head = request.head
      var bytes: [UInt8] = []
      bytes.reserveCapacity(512)
      try HeadSerializer.append(head, to: &bytes)
      let key = PoolKey(origin: origin, tls: origin.scheme == .https ? configuration.tls : nil)
      let exchange = Exchange(
        id: id, request: request, headBytes: bytes, key: key, sink: sink, credit: credit, now: now)
      exchanges[id] = exchange
      acquire(exchange)
    } catch {
      var metrics = ExchangeMetrics(start: now)
      metrics.end = now
      sink.finish(.failure(EngineError(.invalidRequest, .setup, origin, cause: .wire(error))), metrics)
    }
  }

  // MARK: The ends of an exchange

  /// Ends an exchange with an error, unless it may be sent again.
  func fail(_ exchange: Exchange, _ code: EngineError.Code, cause: EngineError.Cause? = nil) {
    let error = EngineError(
      code, exchange.phase, exchange.request.uri.origin, cause: cause, delivery: exchange.delivery,
      wasReused: exchange.metrics.isReusedConnection)
    if let connection = exchange.connection {
      connection.exchange = nil
      exchange.connection = nil
      perform(pool.release(connection.id, connection.key, closing: .exchangeFailed, now: now))
    } else {
      perform(pool.cancel(exchange.id, exchange.key))
    }
    if ReplayRule.allows(error, isIdempotent: exchange.request.isIdempotent) {
      exchange.rewind(now: now)
      acquire(exchange)
    } else {
      finish(exchange, .failure(error))
    }
  }

  /// Ends an exchange with a failure of a layer below.
  func fail(_ exchange: Exchange, _ failure: Failure) {
    fail(exchange, failure.code, cause: failure.cause)
  }

  /// Tells the sink; the exchange must have let go of its connection.
  func finish(_ exchange: Exchange, _ result: Result<Fields, EngineError>) {
    exchanges[exchange.id] = nil
    deadlines.remove(.exchange(exchange.id))
    exchange.metrics.end = now
    exchange.sink.finish(result, exchange.metrics)
  }

  // MARK: Deadlines

  /// Sets the exchange's deadline if it has become earlier. A later one is found out when the earlier one passes.
  func rearm(_ exchange: Exchange) {
    guard let deadline = exchange.deadline else { return }
    if let armed = exchange.armedDeadline, armed <= deadline { return }
    exchange.armedDeadline = deadline
    deadlines.set(.exchange(exchange.id), to: deadline)
  }

  private func expireDeadlines() {
    guard let earliest = deadlines.earliest, earliest <= now else { return }
    while let key = deadlines.popExpired(now: now) {
      switch key {
      case .exchange(let id):
        guard let exchange = exchanges[id] else { continue }
        exchange.armedDeadline = nil
        if let deadline = exchange.deadline, deadline <= now {
          fail(exchange, .timedOut, cause: exchange.passedLimit(now: now))
        } else {
          rearm(exchange)
        }
      case .opening(let id):
        if let opening = openings[id] { expire(opening) }
      case .idleConnections:
        perform(pool.expire(now: now))
        let next = pool.nextExpiry
        isIdleDeadlineSet = next != nil
        deadlines.set(.idleConnections, to: next)
      }
    }
  }
}
