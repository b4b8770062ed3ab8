// Shard: one loop's part of the engine, with its exchanges, connections and deadlines.

internal import LupineRandom
@_spi(Loop) internal import LupineReactor
internal import LupineTLS
internal import LupineWire

/// A function that runs a job that may block, usually on another thread. Throws a `SystemError` if the system has no thread for
/// the job.
typealias BlockingJobs = @Sendable (@escaping @Sendable () -> Void) throws(SystemError) -> Void

/// The part of an engine that belongs to one event loop. `turn` runs one iteration of the loop. Only one thread may use a shard at
/// a time.
///
/// The shard reads the clock and opens sockets only through `network`, so that a simulation can drive it.
final class Shard {
  /// The key of a deadline in the queue: the object to which the deadline belongs.
  enum DeadlineKey: Hashable {
    /// The deadline of an exchange that has no connection yet.
    case exchange(ExchangeID)
    case opening(ConnectionID)
    /// The deadline of a connection and its exchange. When the exchange ends, the deadline stays registered, because the next
    /// exchange usually has a later deadline.
    case connection(ConnectionID)
    case pool
    /// The time to look up the addresses of a name again.
    case addresses
    /// The time limit of the shard's graceful shutdown.
    case shutdown
  }

  /// The stages of the shard's life.
  private enum Life {
    case running
    /// The shard accepts no new exchanges. It calls `completions` when the last exchange has ended.
    case shuttingDown(completions: [@Sendable () -> Void])
    case stopped
  }

  let configuration: EngineConfiguration
  private let index: Int
  let network: any Network
  let resolver: NameService
  let tlsContexts: TLSContexts
  /// The function that runs jobs that may block, such as certificate verifiers. It usually runs them on other threads.
  let runBlocking: BlockingJobs
  /// The queue of commands from other threads to this shard.
  let inbox: Inbox
  /// Resumes Swift tasks that wait for messages of a WebSocket, after the iteration. Nil in tests that run the shard on their own.
  let resumptions: Resumptions?

  @exclusivity(unchecked) var now: Instant
  /// The time when this iteration's events were fetched. Deadlines are compared with this time instead of `now`: the process
  /// may have been suspended since then, and data that arrived in the meantime hasn't been read yet.
  @exclusivity(unchecked) private(set) var fetched: Instant
  @exclusivity(unchecked) var pool: PoolState
  @exclusivity(unchecked) var deadlines = DeadlineQueue<DeadlineKey>()
  @exclusivity(unchecked) var poolWork = PoolWork()
  @exclusivity(unchecked) var exchanges = SerialTable<Exchange>()
  @exclusivity(unchecked) var connections = OpenConnections()
  @exclusivity(unchecked) var openings = Openings()
  /// The distribution of connections over the addresses of names. Nil if the resolver's order applies.
  @exclusivity(unchecked) var balance: AddressBalance?
  @exclusivity(unchecked) var buffers = Buffers()
  @exclusivity(unchecked) var backlog = Backlog()
  @exclusivity(unchecked) private var keys: OriginKeys
  /// The observation of the pool, or nil if the engine's observer doesn't want it.
  let poolObservation: PoolObservation?
  @exclusivity(unchecked) private var life = Life.running
  /// The shard's owner, after it was retired and until the shard has no exchange.
  @exclusivity(unchecked) private var retired: (any AnyObject & Sendable)?
  /// The time when a graceful shutdown becomes an immediate one, or nil if there is no time limit.
  @exclusivity(unchecked) private var shutdownEnd: Instant?

  init(
    _ configuration: EngineConfiguration, index: Int = 0, proxyRules: ProxyRules, environment: [String: String] = [:],
    network: any Network, resolver: NameService, tlsContexts: TLSContexts, inbox: Inbox,
    seed: UInt64 = .random(in: .min ... .max), resumptions: Resumptions? = nil,
    runBlocking: @escaping BlockingJobs = { $0() }
  ) {
    self.configuration = configuration
    self.index = index
    keys = OriginKeys(proxyRules, configuration, environment: environment)
    self.network = network
    self.resolver = resolver
    self.tlsContexts = tlsContexts
    self.inbox = inbox
    self.resumptions = resumptions
    self.runBlocking = runBlocking
    now = network.now
    fetched = now
    var random = SplitMix64(seed: seed)
    pool = PoolState(configuration.pool, random: random.fork())
    poolObservation = PoolObservation(configuration.observer)
    if poolObservation != nil { pool.changedOrigins = [] }
    balance = AddressBalance(configuration.resolver, random: random)
  }

  /// Takes the commands that other threads have sent, for execution in the next call of `turn`. Returns whether there are any.
  ///
  /// Call this before fetching that iteration's events. Then a request gets a connection only after the shard has processed all
  /// data and closes of peers that had arrived when the request was submitted.
  func gather() -> Bool {
    inbox.drain(into: &backlog.commands)
    return !backlog.commands.isEmpty
  }

  /// Runs one iteration of the loop: processes events, commands and deadlines. Returns the latest time for the next call, or nil if
  /// there is no deadline.
  func turn(_ events: [Poller.Event], fetched: Instant, now: Instant) -> Instant? {
    (self.fetched, self.now) = (fetched, now)
    backlog.openingsLeft = configuration.pool.openingsPerIterationMax
    let restarted = Swift.exchange(&backlog.restarts, with: [])
    // Events come before commands, so that no new request gets a connection that has ended or received unsolicited bytes.
    for event in events { handle(event) }
    receivePostponed()
    for exchange in restarted where !exchange.hasEnded { acquire(exchange) }
    beginPostponedOpenings()
    var commands = Swift.exchange(&backlog.commands, with: [])
    // Each command is moved out of the array, which keeps its memory but doesn't retain requests and sinks.
    commands.reverse()
    while let command = commands.popLast() {
      // After a command has stopped the shard, the remaining commands are refused, as later ones are.
      if case .stopped = life { inbox.refuse(command) } else { handle(command) }
    }
    swap(&commands, &backlog.commands)
    // The deadlines of this iteration no longer apply once the shard has stopped.
    if case .stopped = life { return nil }
    expireDeadlines()
    if case .stopped = life { return nil }
    applyReassignments()
    endTurn()
    poolObservation?.report(&pool)
    if case .shuttingDown = life, exchanges.isEmpty { stop() }
    if retired != nil, exchanges.isEmpty { retired = nil }
    return backlog.isEmpty ? deadlines.earliest : now
  }

  /// The number of open connections that serve no exchange.
  var idleConnectionCount: Int { connections.pooled.count - min(exchanges.count, connections.pooled.count) }

  /// Marks an exchange that has delivered body bytes to its sink, or taken bytes from its request body. The sink receives
  /// `turnEnded` at the end of this iteration.
  func touch(_ exchange: Exchange) {
    guard !exchange.isTouched else { return }
    exchange.isTouched = true
    backlog.touched.append(exchange)
  }

  private func endTurn() {
    guard !backlog.touched.isEmpty else { return }
    for exchange in backlog.touched {
      // Of a WebSocket, the sink receives only the head.
      exchange.isTouched = exchange.openWebSocket != nil
      if exchange.hasEnded { continue }
      exchange.sink.turnEnded(sentBodyByteCount: exchange.metrics.requestBodyBytes)
    }
    backlog.touched.removeAll(keepingCapacity: true)
  }

  /// Passes an event to the engine's tracer, if there is one.
  func trace(_ kind: @autoclosure () -> TraceEvent.Kind) {
    if let tracer = configuration.tracer { tracer(TraceEvent(time: now, loop: index, kind: kind())) }
  }

  private func handle(_ event: Poller.Event) {
    now = network.now
    let id = ConnectionID(rawValue: event.token)
    if let connection = connections[id] {
      if event.hasPeerClosed { connection.hasPeerClosed = true }
      if event.isWritable { pump(connection) }
      // The poller reports errors even if it doesn't watch for input. A paused sink must receive its earlier bytes first, and a
      // postponed connection is read after the events.
      let isPaused = connection.exchange?.isPaused == true
      if event.isReadable, !isPaused, !connection.isClosed, !connection.isPostponed { receive(connection) }
    } else if let opening = openings[id] {
      proceed(opening)
    } else if let opening = openings.opening(connecting: event.token) {
      continueConnecting(opening, token: event.token)
    }
  }

  private func handle(_ command: ShardCommand) {
    switch command {
    case .submit(let submission): submit(submission)
    case .cancel(let id):
      if let exchange = exchanges[id] { fail(exchange, .cancelled) }
    case .setPaused(let id, let isPaused):
      guard let exchange = exchanges[id] else { return }
      changeWindow(of: exchange) { $0.isPausedByCaller = isPaused }
    case .extendWindow(let id, let count):
      guard let exchange = exchanges[id] else { return }
      changeWindow(of: exchange) { exchange in
        let (sum, isOverflow) = exchange.windowBytes.addingReportingOverflow(count)
        exchange.windowBytes = isOverflow ? .max : sum
      }
    case .discardBody(let id):
      guard let exchange = exchanges[id] else { return }
      let connection = exchange.connection
      discardBody(exchange)
      if let connection { drainUnread(connection) }
    case .startTLS(let id):
      if let exchange = exchanges[id] { startTLS(exchange) }
    case .bodyReady(let id):
      guard let exchange = exchanges[id], let connection = exchange.connection else { return }
      pump(connection)
    case .resolved(let id, let result):
      if let opening = openings[id] { resolved(opening, result) }
    case .verified(let id, let verdict):
      if let opening = openings[id] {
        verified(opening, verdict)
      } else if let connection = connections[id] {
        verified(connection, verdict)
      }
    case .refreshed(let key, let host, let result): refreshed(key, host, result)
    case .prewarm(let request, let count, let completion): prewarm(request, count, completion)
    case .count(let completion): completion(pool.counters())
    case .retain(let owner): retired = owner
    case .shutDown(let isGraceful, let limit, let completion):
      shutDown(isGraceful: isGraceful, limit: limit, completion)
    }
  }

  private func shutDown(isGraceful: Bool, limit: Duration?, _ completion: (@Sendable () -> Void)?) {
    life = .shuttingDown(completions: shutdownCompletions + [completion].compactMap(\.self))
    guard isGraceful else { return stop() }
    // If there are several limits, the earliest one applies.
    if let end = limit.map({ now + $0 }), end < shutdownEnd ?? Instant(nanoseconds: .max) {
      shutdownEnd = end
      deadlines.set(.shutdown, to: end)
    }
    perform(pool.beginShutdown())
  }

  private var shutdownCompletions: [@Sendable () -> Void] {
    if case .shuttingDown(let completions) = life { completions } else { [] }
  }

  // Closes all connections without telling the pool, which would open connections for its waiters.
  func stop() {
    let completions = shutdownCompletions
    life = .stopped
    network.stop()
    for connection in connections.removeAll() { disconnect(connection, .shutdown) }
    // A program's verifier isn't called any more for these.
    for opening in openings.values { opening.liveness.end() }
    openings.removeAll()
    for exchange in exchanges.values {
      let error = EngineError(
        .shutDown, exchange.phase, exchange.request.uri.origin, progress: exchange.progress,
        wasReused: exchange.metrics.isReusedConnection)
      exchange.connection = nil
      endExchange(exchange, .failure(error))
    }
    poolObservation?.end()
    backlog.touched = []
    backlog.restarts = []
    backlog.openings = []
    inbox.stopAccepting()
    retired = nil
    for completion in completions { completion() }
  }

  private func submit(_ submission: Submission) {
    if let total = submission.request.timeouts.total, total <= .zero {
      let origin = submission.request.uri.origin
      return submission.refuse(EngineError(.timedOut, .setup, origin, cause: .totalLimit(total)), now: now)
    }
    do {
      let exchange = try Exchange(
        submission, key: try key(of: submission.request, submission.id), codingLimits: configuration.codings,
        inbox: inbox,
        headBuffer: buffers.borrowHead(), now: now)
      exchanges[exchange.id] = exchange
      trace(.exchangeStarted(exchange: exchange.id, method: exchange.request.method, uri: exchange.request.uri))
      acquire(exchange)
    } catch {
      let origin = submission.request.uri.origin
      submission.refuse(EngineError(error.code, .setup, origin, cause: error.cause), now: now)
    }
  }

  /// Returns the pool key of a request, which the exchange `id` sends.
  func key(of request: EngineRequest, _ id: ExchangeID) throws(Failure) -> PoolKey {
    guard let extras = request.extras?.value else {
      let key =
        if let latest = keys.latestKey(for: request.uri.origin) { latest } else {
          try keys.key(for: request.uri.origin, originCount: pool.origins.count)
        }
      return request.presentsIdentity ? key : key.anonymous
    }
    var key =
      if let own = extras.connection { try keys.key(for: request.uri.origin, own) } else {
        try keys.key(for: request.uri.origin, originCount: pool.origins.count)
      }
    if !request.presentsIdentity { key = key.anonymous }
    if extras.webSocket != nil { key = key.tunneled }
    if let choice = extras.identityChoice { key = key.presenting(choice) }
    if extras.rawBytes != nil { key.exclusiveTo = .exchange(id) }
    if extras.streamSink != nil {
      key = key.with(tls: nil)
      key.exclusiveTo = .stream(id)
    }
    if let group = extras.connectionDemand?.group { key.exclusiveTo = .group(group) }
    return key
  }

  // MARK: Ending exchanges

  /// Ends an exchange with an error, or sends its request again if `ReplayRule` allows it.
  func fail(_ exchange: Exchange, _ code: EngineError.Code, cause: EngineError.Cause? = nil) {
    let error = EngineError(
      code, exchange.phase, exchange.request.uri.origin, proxy: exchange.key.route.proxy, cause: cause,
      progress: exchange.progress, wasReused: exchange.metrics.isReusedConnection)
    if let connection = exchange.connection {
      exchange.connection = nil
      release(connection, closing: CloseReason(of: code))
    } else if let ticket = exchange.ticket {
      perform(pool.cancel(ticket))
    }
    if ReplayRule.allows(
      error, isIdempotent: exchange.request.isIdempotent, hasReplayableBody: exchange.body.isReplayable)
    {
      sendAgain(exchange, isExpecting: true, after: error)
    } else {
      endExchange(exchange, .failure(error))
    }
  }

  /// Schedules an exchange's request to be sent again in the loop's next iteration. The exchange must have released its connection.
  /// `error` is the error of the previous attempt, or nil if its response asks for another attempt.
  func sendAgain(_ exchange: Exchange, isExpecting: Bool, after error: EngineError?) {
    exchange.observation?.restart(after: error, exchange.metrics, now: now)
    do {
      try exchange.rewind(isExpecting: isExpecting, inbox: inbox, now: now)
    } catch {
      return fail(exchange, error)
    }
    trace(.exchangeRestarted(exchange: exchange.id))
    backlog.restarts.append(exchange)
  }

  /// Ends an exchange with an error of a lower layer, or sends its request again if `ReplayRule` allows it.
  func fail(_ exchange: Exchange, _ failure: Failure) {
    fail(exchange, failure.code, cause: failure.cause)
  }

  /// Ends an exchange and passes the result to its sink. The exchange must have released its connection.
  func endExchange(_ exchange: Exchange, _ result: Result<Fields, EngineError>) {
    exchange.response = .ended
    exchanges[exchange.id] = nil
    disarm(exchange)
    exchange.abandonBody()
    exchange.stream?.liveness.end()
    exchange.metrics.end = now
    trace(.exchangeEnded(exchange: exchange.id, error: result.failure))
    exchange.observation?.end(result.failure, exchange.request, exchange.metrics, now: now)
    buffers.giveBackHead(exchange.giveUpHeadBuffer())
    exchange.sink.finish(result, exchange.metrics)
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}
