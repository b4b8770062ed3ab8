// One loop's share of the engine: its exchanges, its connections, their deadlines.

@_spi(Loop) internal import LupineReactor
internal import LupineTLS
internal import LupineWire

/// Everything that happens on one loop, driven by `turn`; touched by one thread at a time.
///
/// It reads no clock and opens no socket but through its network, so that a simulation can drive it.
final class Shard {
  enum Command: Sendable {
    case submit(Submission)
    case cancel(ExchangeID)
    case setPaused(ExchangeID, Bool)
    case grant(ExchangeID, Int)
    case discardBody(ExchangeID)
    case bodyReady(ExchangeID)
    case resolved(ConnectionID, Result<[SocketAddress], ResolveError>)
    case count(@Sendable (PoolCounters) -> Void)
    case shutDown(isGraceful: Bool, completion: (@Sendable () -> Void)?)
  }

  /// What a deadline is for.
  enum DeadlineKey: Hashable {
    /// An exchange that has no connection.
    case exchange(ExchangeID)
    case opening(ConnectionID)
    /// A connection, and the exchange on it. It stays when that ends: the next one's is later, as a rule.
    case connection(ConnectionID)
    case pool
  }

  let configuration: EngineConfiguration
  private let proxyRules: ProxyRules
  private let index: Int
  let network: any Network
  let resolver: NameService
  let tlsContexts: TLSContexts
  /// Where commands from other threads come in.
  let inbox: Inbox

  var now: Instant
  /// Since when the turn's events were fetched. What should have come by then and didn't is late; of what should have
  /// come since, nobody knows yet, for the program may have been stopped in between.
  private(set) var fetched: Instant
  var pool: PoolState
  var deadlines = DeadlineQueue<DeadlineKey>()
  var exchanges = SerialTable<Exchange>()
  /// The pool's connections.
  var connections = ConnectionTable<Connection>()
  /// Those that have left HTTP, and so the pool, which gives their slots away.
  var handedOver: [ConnectionID: Connection] = [:]
  var openings = ConnectionTable<Opening>()
  /// Which opening a connecting socket belongs to, by its poller token.
  var candidates: [UInt64: ConnectionID] = [:]
  var candidateCount: UInt64 = 0
  var buffers = Buffers()
  /// Connections on which there is more to read than one turn has time for, each once.
  var postponed: [ConnectionID] = []
  /// Exchanges whose sinks are to hear that the turn is over.
  private var touched: [Exchange] = []
  /// Exchanges that are to be sent again, in the next turn behind its events: if the server ends its connections, which is
  /// why they are, the ends of those they may get are known by then. So sending again never nests either, though
  /// thousands of connections may have ended.
  private(set) var restarts: [Exchange] = []
  /// What the pool has decided and was not done yet, with the reason for failures.
  var pendingActions: [(PoolState.Action, EngineError?)] = []
  var isPerforming = false
  /// The deadline that is set for the pool; it is too early rather than too late.
  var poolDeadline: Instant?
  /// The keys of origins that were asked for, no more than the pool has origins or may remember.
  private var keys: [Origin: PoolKey] = [:]
  /// The one that was asked for last.
  private var latestKey: PoolKey?
  private var commands: [Command] = []
  /// Who wants to know that everything is over, if the shard is being shut down.
  private var shutdownCompletions: [@Sendable () -> Void]?
  private var isStopped = false

  init(
    _ configuration: EngineConfiguration, index: Int = 0, proxyRules: ProxyRules, network: any Network,
    resolver: NameService, tlsContexts: TLSContexts, inbox: Inbox
  ) {
    self.configuration = configuration
    self.index = index
    self.proxyRules = proxyRules
    self.network = network
    self.resolver = resolver
    self.tlsContexts = tlsContexts
    self.inbox = inbox
    now = network.now
    fetched = now
    pool = PoolState(configuration.pool)
  }

  /// Takes the commands that have come; they are carried out in the next turn. Returns whether there are any.
  ///
  /// To be called before the events of that turn are fetched: what a peer had sent, or that it had closed, when a
  /// request was submitted, is known before that request gets a connection.
  func gather() -> Bool {
    inbox.take(into: &commands)
    return !commands.isEmpty
  }

  /// Does what has become due; returns when it wants to be called again at the latest.
  func turn(_ events: [Poller.Event], fetched: Instant, now: Instant) -> Instant? {
    (self.fetched, self.now) = (fetched, now)
    var restarted: [Exchange] = []
    swap(&restarted, &restarts)
    // Before the commands, so that no connection that has ended, or said something, is given to a new request.
    for event in events { handle(event) }
    receivePostponed()
    for exchange in restarted where !exchange.hasEnded { acquire(exchange) }
    var commands: [Command] = []
    swap(&commands, &self.commands)
    for command in commands {
      // Behind one that has ended the shard, the others are answered as those that come later.
      if isStopped { inbox.refuse(command) } else { handle(command) }
    }
    // Emptied, so that what came with them goes when its exchange does.
    if !commands.isEmpty { commands.removeAll(keepingCapacity: true) }
    swap(&commands, &self.commands)
    // What was due in this turn, too, has ended with the shard.
    guard !isStopped else { return nil }
    expireDeadlines()
    adoptInherited()
    endTurn()
    if shutdownCompletions != nil, exchanges.isEmpty { stop() }
    return postponed.isEmpty && restarts.isEmpty ? deadlines.earliest : now
  }

  /// Something of the exchange was handed over, or taken, in this turn.
  func touch(_ exchange: Exchange) {
    guard !exchange.isTouched else { return }
    exchange.isTouched = true
    touched.append(exchange)
  }

  private func endTurn() {
    guard !touched.isEmpty else { return }
    for exchange in touched {
      exchange.isTouched = false
      if exchange.hasEnded { continue }
      exchange.sink.turnEnded(sentBodyByteCount: exchange.metrics.requestBodyBytes)
    }
    touched.removeAll(keepingCapacity: true)
  }

  /// Tells the tracer, if there is one.
  func trace(_ kind: @autoclosure () -> TraceEvent.Kind) {
    if let tracer = configuration.tracer { tracer(TraceEvent(time: now, loop: index, kind: kind())) }
  }

  /// The open connection of that name, in the pool or not.
  func connection(_ id: ConnectionID) -> Connection? { connections[id] ?? handedOver[id] }

  private func handle(_ event: Poller.Event) {
    now = network.now
    let id = ConnectionID(rawValue: event.token)
    if let connection = connection(id) {
      if event.isWritable { pump(connection) }
      // An error is reported even if nothing was asked for; what a held sink has no room for has to come first. One that
      // was postponed has its share of the turn behind the events.
      let isHeld = connection.exchange?.isHeld == true
      if event.isReadable, !isHeld, !connection.isClosed, !connection.isPostponed { receive(connection) }
    } else if let opening = openings[id] {
      proceed(opening)
    } else if let id = candidates[event.token], let opening = openings[id] {
      finishConnecting(opening, token: event.token)
    }
  }

  private func handle(_ command: Command) {
    switch command {
    case .submit(let submission): submit(submission)
    case .cancel(let id):
      if let exchange = exchanges[id] { fail(exchange, .cancelled) }
    case .setPaused(let id, let isPaused):
      guard let exchange = exchanges[id] else { return }
      changeRoom(of: exchange) { $0.isPaused = isPaused }
    case .grant(let id, let count):
      guard let exchange = exchanges[id] else { return }
      changeRoom(of: exchange) { exchange in
        exchange.credit = exchange.credit.addingReportingOverflow(count).overflow ? .max : exchange.credit + count
      }
    case .discardBody(let id):
      guard let exchange = exchanges[id] else { return }
      let connection = exchange.connection
      discardBody(exchange)
      if let connection { drainKept(connection) }
    case .bodyReady(let id):
      guard let exchange = exchanges[id], let connection = exchange.connection else { return }
      pump(connection)
    case .resolved(let id, let result):
      if let opening = openings[id] { resolved(opening, result) }
    case .count(let completion): completion(pool.counters())
    case .shutDown(let isGraceful, let completion): shutDown(isGraceful: isGraceful, completion)
    }
  }

  private func shutDown(isGraceful: Bool, _ completion: (@Sendable () -> Void)?) {
    shutdownCompletions = (shutdownCompletions ?? []) + [completion].compactMap(\.self)
    if isGraceful { perform(pool.beginShutdown()) } else { stop() }
  }

  // Past the pool, which would open connections for those who wait.
  private func stop() {
    isStopped = true
    network.stop()
    for connection in connections.values + handedOver.values {
      connection.exchange = nil
      close(connection, .shutdown)
    }
    connections.removeAll()
    handedOver.removeAll()
    openings.removeAll()
    for exchange in exchanges.values {
      let error = EngineError(
        .shutDown, exchange.phase, exchange.request.uri.origin, delivery: exchange.delivery,
        wasReused: exchange.metrics.isReusedConnection)
      exchange.connection = nil
      finish(exchange, .failure(error))
    }
    touched = []
    restarts = []
    inbox.close()
    let completions = shutdownCompletions ?? []
    shutdownCompletions = nil
    for completion in completions { completion() }
  }

  private func submit(_ submission: Submission) {
    do {
      var key = try key(for: submission.request.uri.origin)
      if !submission.request.presentsIdentity { key = key.anonymous }
      if submission.request.rawBytes != nil { key.exclusiveTo = submission.id }
      let exchange = try Exchange(
        submission, key: key, codingLimits: configuration.codings, inbox: inbox, headBuffer: buffers.takeHead(),
        now: now)
      exchanges[exchange.id] = exchange
      trace(.exchangeStarted(exchange: exchange.id, method: exchange.request.method, uri: exchange.request.uri))
      acquire(exchange)
    } catch {
      var metrics = ExchangeMetrics(start: now)
      metrics.end = now
      let origin = submission.request.uri.origin
      submission.sink.finish(.failure(EngineError(error.code, .setup, origin, cause: error.cause)), metrics)
    }
  }

  // One behind the other, many requests go to one origin.
  private func key(for origin: Origin) throws(Failure) -> PoolKey {
    if let latestKey, latestKey.origin == origin { return latestKey }
    let key = if let known = keys[origin] { known } else { try makeKey(for: origin) }
    latestKey = key
    return key
  }

  private func makeKey(for origin: Origin) throws(Failure) -> PoolKey {
    let proxy: Proxy?
    do {
      proxy = origin.socketPath == nil && configuration.socketPath == nil ? try proxyRules.proxy(for: origin) : nil
    } catch {
      throw .proxy(error)
    }
    let key = PoolKey(
      origin: origin, route: Route(to: origin, by: proxy), tls: origin.scheme == .https ? configuration.tls : nil)
    // Those that are still wanted are soon made again.
    let countMax = max(configuration.pool.originsRememberedMax, pool.origins.count)
    if keys.count > countMax { keys.removeAll(keepingCapacity: true) }
    keys[origin] = key
    return key
  }

  // MARK: The ends of an exchange

  /// Ends an exchange with an error, unless it may be sent again.
  func fail(_ exchange: Exchange, _ code: EngineError.Code, cause: EngineError.Cause? = nil) {
    let error = EngineError(
      code, exchange.phase, exchange.request.uri.origin, proxy: exchange.key.route.proxy, cause: cause,
      delivery: exchange.delivery, wasReused: exchange.metrics.isReusedConnection)
    if let connection = exchange.connection {
      connection.exchange = nil
      exchange.connection = nil
      release(connection, closing: CloseReason(of: code))
    } else if let ticket = exchange.ticket {
      perform(pool.cancel(ticket))
    }
    if ReplayRule.allows(
      error, isIdempotent: exchange.request.isIdempotent, hasReplayableBody: !exchange.body.isSpent)
    {
      sendAgain(exchange, isExpecting: true)
    } else {
      finish(exchange, .failure(error))
    }
  }

  /// Begins anew with an exchange that has let go of its connection, in the next turn.
  func sendAgain(_ exchange: Exchange, isExpecting: Bool) {
    do {
      try exchange.rewind(isExpecting: isExpecting, now: now)
    } catch {
      return fail(exchange, error)
    }
    trace(.exchangeRestarted(exchange: exchange.id))
    restarts.append(exchange)
  }

  /// Ends an exchange with a failure of a layer below.
  func fail(_ exchange: Exchange, _ failure: Failure) {
    fail(exchange, failure.code, cause: failure.cause)
  }

  /// Tells the sink; the exchange must have let go of its connection.
  func finish(_ exchange: Exchange, _ result: Result<Fields, EngineError>) {
    exchange.hasEnded = true
    exchanges[exchange.id] = nil
    disarm(exchange)
    exchange.abandonBody()
    exchange.metrics.end = now
    trace(.exchangeEnded(exchange: exchange.id, error: result.failure))
    buffers.putHead(exchange.takeHeadBuffer())
    exchange.sink.finish(result, exchange.finalMetrics)
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}
