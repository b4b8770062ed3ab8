// PoolModel: a simplified model of the pool. It follows the pool's answers and reports those that can't be right.

@testable import LupineEngine
import LupineRandom
@testable import LupineReactor
@testable import LupineWire

/// The error for an action of the pool that breaks a rule. The description contains the event and the command that repeats the
/// history.
struct PoolViolation: Error, CustomStringConvertible {
  let description: String
}

/// A connection pool, random events for it, and a simplified model of the pool's state. The model follows the pool's actions, and
/// reports those that break a rule.
struct PoolModel {
  enum Activity: Equatable {
    case opening
    case busy(ExchangeID)
    case idle(since: Instant)
    /// The connection was just opened or released, and the pool's next action decides what happens to it.
    case free
  }

  struct Connection {
    var activity = Activity.opening
    var openedAt: Instant?
    var uses = 0
    var isWithdrawn = false
    /// The time for which the server permits the connection to be idle, or nil for no limit.
    var idleTimeMax: Duration?
  }

  struct Key {
    /// The exchanges that wait for a connection, sorted by priority, and by arrival if their priorities are equal. An exchange's
    /// identifier begins with its inverted priority, so the exchange with the lowest identifier is the first.
    var waiting: [ExchangeID] = []
    var connections: [ConnectionID: Connection] = [:]
    var counters = ConnectionCounters()

    func ids(where isWanted: (Activity) -> Bool) -> [ConnectionID] {
      connections.filter { isWanted($0.value.activity) }.keys.sorted { $0.serial < $1.serial }
    }
    var idle: [ConnectionID] { ids { if case .idle = $0 { true } else { false } } }
    var busy: [ConnectionID] { ids { if case .busy = $0 { true } else { false } } }
    var opening: [ConnectionID] { ids { $0 == .opening } }
  }

  let seed: UInt64
  let limits: PoolLimits
  let keys: [PoolKey]
  var random: Decisions
  var pool: PoolState
  var now = Instant(nanoseconds: 0)
  var model: [Key]
  var total = ConnectionCounters()
  var tickets: [ExchangeID: Ticket] = [:]
  var lastExchange: ExchangeID = 0
  var lastConnection: UInt32 = 0
  private let priorities = [0, 126, 128].map { ExchangePriority(level: $0) }
  var endings: [ExchangeID: String] = [:]
  var reasons: Set<CloseReason> = []
  var eventCount = 0
  var event = ""

  init(seed: UInt64, tape: DecisionTape? = nil) {
    self.seed = seed
    random = Decisions(seed: seed, tape: tape)
    var limits = PoolLimits()
    limits.connectionsPerOriginMax = Int.random(in: 1...5, using: &random)
    limits.connectionsMax = Int.random(in: 2...14, using: &random)
    limits.idlePerOriginMax = Int.random(in: 0...4, using: &random)
    limits.idleMax = Int.random(in: 0...8, using: &random)
    limits.idleTimeout = .seconds(10)
    limits.connectionAgeMax = Bool.random(using: &random) ? .seconds(25) : nil
    limits.usesPerConnectionMax = Bool.random(using: &random) ? Int.random(in: 1...6, using: &random) : nil
    limits.waitersMax = Int.random(in: 3...40, using: &random)
    limits.originsRememberedMax = Int.random(in: 0...5, using: &random)
    self.limits = limits
    keys = (0..<4).map { PoolKey(origin: Origin(scheme: .http, host: "host-\($0)", port: 80), tls: nil) }
    model = keys.map { _ in Key() }
    pool = PoolState(limits, random: SplitMix64(seed: seed))
  }

  var connectionCount: Int { model.reduce(0) { $0 + $1.connections.count } }

  func require(_ condition: Bool, _ rule: @autoclosure () -> String) throws(PoolViolation) {
    if !condition { throw violation(rule()) }
  }

  func violation(_ rule: String) -> PoolViolation {
    PoolViolation(
      description:
        "event \(eventCount), \(event): \(rule). To repeat: LUPINE_POOL_SEED=\(seed) swift test --filter PoolModel")
  }

  // MARK: Events

  mutating func step() throws(PoolViolation) {
    let index = Int.random(in: 0..<keys.count, using: &random)
    let key = model[index]
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<30: try acquire(index)
    case 30..<48: if let id = key.opening.randomElement(using: &random) { try opened(id, index) }
    case 48..<52: if let id = key.opening.randomElement(using: &random) { try failed(id, index, .unreachable) }
    case 52..<57: if let id = key.opening.randomElement(using: &random) { try failed(id, index, .outOfDescriptors) }
    case 57..<75: if let id = key.busy.randomElement(using: &random) { try release(id, index, closing: nil) }
    case 75..<81:
      if let id = key.busy.randomElement(using: &random) { try release(id, index, closing: .exchangeFailed) }
    case 81: if let id = key.busy.randomElement(using: &random) { try detach(id, index) }
    case 82..<85: if let id = key.idle.randomElement(using: &random) { try evict(id, index) }
    case 85..<92: if let exchange = key.waiting.randomElement(using: &random) { try cancel(exchange, index) }
    case 92: if let exchange = endings.keys.randomElement(using: &random) { try cancelTooLate(exchange) }
    default: try pass(.milliseconds(Int.random(in: 0...3_000, using: &random)))
    }
    // These events aren't random, so that the rest of a seed's history needs no further draws.
    if eventCount % 41 == 3 { try prewarm(index, count: eventCount % 5) }
    if eventCount % 53 == 5, let id = (model[index].busy + model[index].idle).first { try withdraw(id, index) }
    // Long enough for idle connections to expire.
    if eventCount % 97 == 7 { try pass(limits.idleTimeout) }
  }

  private mutating func begin(_ event: String) {
    eventCount += 1
    self.event = event
  }

  mutating func acquire(_ index: Int) throws(PoolViolation) {
    lastExchange += 1
    // The priority isn't random, so that the rest of a seed's history stays the same.
    let priority = lastExchange % 4 == 0 ? priorities[Int(lastExchange / 4 % 3)] : .normal
    let exchange = Waiter.rank(priority, arrival: lastExchange)
    begin("acquire \(exchange) at \(index)")
    let before = model[index]
    let waiting = model.reduce(0) { $0 + $1.waiting.count }
    switch pool.acquire(keys[index], for: exchange, priority, now: now) {
    case .use(let id):
      let newest = before.connections.values.compactMap {
        if case .idle(let since) = $0.activity { since } else { nil }
      }
      try require(before.connections[id]?.activity == newest.max().map { .idle(since: $0) }, "not the newest idle one")
      try require(before.waiting.isEmpty, "it overtook waiters")
      model[index].waiting.append(exchange)
      try use(id, exchange, index)
    case .wait(let ticket, let actions):
      try require(waiting < limits.waitersMax, "there are too many waiters")
      model[index].waiting.append(exchange)
      model[index].waiting.sort()
      tickets[exchange] = ticket
      try perform(actions)
    case .refused(let refusal):
      try require(refusal == .tooManyWaiters(limits.waitersMax), "refused for \(refusal)")
      try require(waiting == limits.waitersMax, "refused with \(waiting) waiting")
      try end(exchange, "refused")
    }
    try checkAlways()
  }

  mutating func opened(_ id: ConnectionID, _ index: Int) throws(PoolViolation) {
    begin("opened \(id.serial)")
    model[index].connections[id] = Connection(activity: .free, openedAt: now)
    count(index) { $0.created += 1 }
    try take(pool.opened(id, now: now), id, index)
  }

  mutating func release(_ id: ConnectionID, _ index: Int, closing reason: CloseReason?) throws(PoolViolation) {
    begin("release \(id.serial) \(reason?.rawValue ?? "")")
    model[index].connections[id]?.activity = .free
    // The server's limit isn't random, so that the rest of a seed's history stays the same. 12 s are more than the idle timeout.
    let idleTimes: [Duration?] = [nil, .seconds(4), nil, nil, .seconds(12), nil, .milliseconds(500), nil]
    let idleTimeMax = idleTimes[eventCount % idleTimes.count]
    model[index].connections[id]?.idleTimeMax = idleTimeMax
    let longestWaiter = awaitingPlace().min()
    let first = model[index].waiting.first
    let released = pool.release(id, closing: reason, idleTimeMax: idleTimeMax, now: now)
    if let reason {
      guard case .actions(let actions) = released else { throw violation("it wasn't closed") }
      try require(actions.first == .close(id, reason), "it wasn't closed first")
    } else if let longestWaiter, let first, longestWaiter < first {
      guard case .actions(let actions) = released, case .close(id, _) = actions.first else {
        throw violation("\(longestWaiter) has waited for longer than \(first)")
      }
    }
    try take(released, id, index)
  }

  private mutating func take(_ released: PoolState.Released, _ id: ConnectionID, _ index: Int) throws(PoolViolation) {
    switch released {
    case .idle: break
    case .use(let exchange): try use(id, exchange, index)
    case .actions(let actions): try perform(actions)
    }
    if model[index].connections[id]?.activity == .free {
      try require(model[index].waiting.isEmpty, "it became idle although an exchange waits")
      model[index].connections[id]?.activity = .idle(since: now)
    }
    try checkAlways()
  }

  mutating func failed(
    _ id: ConnectionID, _ index: Int, _ failure: PoolState.OpeningFailure
  ) throws(PoolViolation) {
    begin("failed \(id.serial) \(failure)")
    let waiter = pool.waiter(of: id)
    model[index].connections[id] = nil
    count(index) { $0.openingsFailed += 1 }
    let actions = pool.openingFailed(id, because: failure, now: now)
    for action in actions {
      switch action {
      case .fail(let exchange): try require(failure == .unreachable && exchange == waiter, "\(exchange) was failed")
      case .wait: try require(failure == .outOfDescriptors && waiter != nil, "a waiter lost its attempt")
      default: break
      }
    }
    if let waiter, failure == .unreachable { try require(actions.first == .fail(waiter), "\(waiter) wasn't failed") }
    try perform(actions)
    try checkAlways()
  }

  private mutating func detach(_ id: ConnectionID, _ index: Int) throws(PoolViolation) {
    begin("detach \(id.serial)")
    model[index].connections[id] = nil
    count(index) { $0.closed[.upgraded, default: 0] += 1 }
    try perform(pool.detach(id))
    try checkAlways()
  }

  private mutating func evict(_ id: ConnectionID, _ index: Int) throws(PoolViolation) {
    begin("evict \(id.serial)")
    let actions = pool.evict(id, .closedByPeer)
    try require(actions == [.close(id, .closedByPeer)], "it led to \(actions)")
    try perform(actions)
    try checkAlways()
  }

  private mutating func prewarm(_ index: Int, count: Int) throws(PoolViolation) {
    begin("prewarm \(count) at \(index)")
    let isFull = !awaitingPlace().isEmpty
    for action in pool.prewarm(keys[index], count: count) {
      guard case .prewarm(let id, keys[index]) = action else { throw violation("it led to \(action)") }
      try require(!isFull, "exchanges wait for a place")
      try add(id, index)
      try require(pool.isOpening(id) && pool.waiter(of: id) == nil, "\(id.serial) isn't opened in advance")
      let idleCount = model.reduce(0) { $0 + $1.idle.count }
      try require(idleCount < limits.idleMax, "there are too many idle connections")
      try require(
        model[index].idle.count + model[index].opening.count { pool.waiter(of: $0) == nil }
          <= min(count, limits.idlePerOriginMax), "too many were opened")
    }
    try checkAlways()
  }

  private mutating func withdraw(_ id: ConnectionID, _ index: Int) throws(PoolViolation) {
    begin("withdraw \(id.serial)")
    let isIdle = model[index].idle.contains(id)
    model[index].connections[id]?.isWithdrawn = true
    let actions = pool.withdraw(id)
    try require(actions == (isIdle ? [.close(id, .addressWithdrawn)] : []), "it led to \(actions)")
    try perform(actions)
    try checkAlways()
  }

  private mutating func cancel(_ exchange: ExchangeID, _ index: Int) throws(PoolViolation) {
    begin("cancel \(exchange)")
    guard let ticket = tickets[exchange] else { throw violation("it waits without a ticket") }
    model[index].waiting.removeAll { $0 == exchange }
    try end(exchange, "cancelled")
    try perform(pool.cancel(ticket))
    try checkAlways()
  }

  private mutating func cancelTooLate(_ exchange: ExchangeID) throws(PoolViolation) {
    begin("cancel \(exchange) too late")
    guard let ticket = tickets[exchange] else { return }
    try require(pool.cancel(ticket).isEmpty, "it still had an effect")
    try checkAlways()
  }

  mutating func pass(_ duration: Duration) throws(PoolViolation) {
    now = now + duration
    begin("expire at \(now.nanoseconds)")
    try perform(pool.expire(now: now))
    try require(pool.nextDeadline.map { $0 > now } ?? true, "an expired deadline was kept")
    try checkAlways()
  }

  mutating func end(_ exchange: ExchangeID, _ ending: String) throws(PoolViolation) {
    let before = endings.updateValue(ending, forKey: exchange)
    try require(before == nil, "\(exchange) was \(before ?? ""), and then \(ending)")
  }

  mutating func count(_ index: Int, _ change: (inout ConnectionCounters) -> Void) {
    change(&model[index].counters)
    change(&total)
  }
}
