// PoolModel+Rules: the rules for the pool's actions, and those that hold after every event.

@testable import LupineEngine
@testable import LupineReactor
@testable import LupineWire

extension PoolModel {
  // MARK: Actions

  mutating func perform(_ actions: [PoolState.Action]) throws(PoolViolation) {
    var connected: [ExchangeID] = []
    for action in actions {
      switch action {
      case .use(let id, let exchange): try use(id, exchange, index(of: id))
      case .connect(let id, let exchange):
        try connect(id, exchange)
        connected.append(exchange)
      case .prewarm: throw violation("a connection was opened in advance")
      case .wait(let exchange):
        try require(model.contains { $0.waiting.contains(exchange) }, "\(exchange) doesn't wait")
      case .close(let id, let reason): try close(id, reason)
      case .abandon(let id):
        let index = try index(of: id)
        try require(model[index].connections[id]?.activity == .opening, "\(id.serial) isn't being opened")
        model[index].connections[id] = nil
        count(index) { $0.openingsAbandoned += 1 }
      case .fail(let exchange), .refuse(let exchange, _):
        guard let index = model.firstIndex(where: { $0.waiting.contains(exchange) }) else {
          throw violation("\(exchange) doesn't wait")
        }
        model[index].waiting.removeAll { $0 == exchange }
        try end(exchange, "failed")
      }
    }
    if let latest = connected.max(), let longestWaiter = awaitingPlace().min() {
      try require(longestWaiter > latest, "\(latest) was preferred to \(longestWaiter)")
    }
    try require(connected == connected.sorted(), "\(connected) got places in that order")
  }

  private func index(of id: ConnectionID) throws(PoolViolation) -> Int {
    guard let index = model.firstIndex(where: { $0.connections[id] != nil }) else {
      throw violation("\(id.serial) doesn't exist")
    }
    return index
  }

  mutating func use(_ id: ConnectionID, _ exchange: ExchangeID, _ index: Int) throws(PoolViolation) {
    switch model[index].connections[id]?.activity {
    case .idle, .free: break
    case let other: throw violation("\(id.serial) was given to \(exchange), and is \(String(describing: other))")
    }
    try require(model[index].waiting.first == exchange, "\(exchange) isn't the longest waiter")
    model[index].waiting.removeFirst()
    try end(exchange, "served")
    if let uses = model[index].connections[id]?.uses, uses > 0 {
      count(index) { $0.reused += 1 }
      try require(uses < limits.usesPerConnectionMax ?? .max, "\(id.serial) was used too often")
      try require(!isTooOld(id, index), "\(id.serial) is too old")
      try require(model[index].connections[id]?.isWithdrawn == false, "\(id.serial) was withdrawn")
    }
    model[index].connections[id]?.uses += 1
    model[index].connections[id]?.activity = .busy(exchange)
  }

  private mutating func connect(_ id: ConnectionID, _ exchange: ExchangeID) throws(PoolViolation) {
    guard let index = model.firstIndex(where: { $0.waiting.contains(exchange) }) else {
      throw violation("\(exchange) gets a connection, and doesn't wait")
    }
    try add(id, index)
  }

  mutating func add(_ id: ConnectionID, _ index: Int) throws(PoolViolation) {
    try require(id.serial > lastConnection, "the serial number \(id.serial) was used before")
    try require(model.allSatisfy { $0.connections.keys.allSatisfy { $0.slot != id.slot } }, "slot \(id.slot) is taken")
    lastConnection = id.serial
    model[index].connections[id] = Connection()
    try require(connectionCount <= limits.connectionsMax, "the limit of connections in all is exceeded")
  }

  private mutating func close(_ id: ConnectionID, _ reason: CloseReason) throws(PoolViolation) {
    let index = try index(of: id)
    guard let connection = model[index].connections[id] else { throw violation("\(id.serial) doesn't exist") }
    var idleSince: Instant?
    switch connection.activity {
    case .idle(let since): idleSince = since
    case .free: break
    default: throw violation("\(id.serial) was closed while it is \(connection.activity)")
    }
    let idle = model.flatMap { $0.connections.values }.compactMap {
      if case .idle(let since) = $0.activity { since } else { nil }
    }
    let isFreeOrOldest = idleSince.map { $0 == idle.min() } ?? true
    switch reason {
    case .idleTimeout: try require(idleSince.map { $0 + limits.idleTimeout <= now } ?? false, "closed too early")
    case .keepAliveLimit:
      let end = connection.idleTimeMax.flatMap { limit in idleSince.map { $0 + limit } }
      try require(end.map { $0 <= now } ?? false, "closed too early")
    case .ageLimit: try require(isTooOld(id, index, jitter: limits.connectionAgeJitter), "it isn't too old")
    case .addressWithdrawn: try require(connection.isWithdrawn, "its address wasn't withdrawn")
    case .usesLimit: try require(connection.uses == limits.usesPerConnectionMax, "it was used \(connection.uses) times")
    case .totalLimit:
      try require(connectionCount == limits.connectionsMax, "there was a place")
      try require(isFreeOrOldest, "another connection has been idle for longer")
    case .descriptorsNeeded:
      try require(connectionCount < limits.connectionsMax, "a place was lacking as well")
      try require(isFreeOrOldest, "another connection has been idle for longer")
    case .idleLimit:
      // The connection that has become free isn't counted as idle yet.
      let own = model[index].idle.count + (idleSince == nil ? 1 : 0)
      try require(own >= limits.idlePerOriginMax || idle.count >= limits.idleMax, "there was room for it")
    case .exchangeFailed, .serverAskedForClose: try require(idleSince == nil, "\(id.serial) wasn't in use")
    case .closedByPeer, .shutdown: break
    default: throw violation("\(id.serial) was closed because of \(reason.rawValue)")
    }
    reasons.insert(reason)
    model[index].connections[id] = nil
    count(index) { $0.closed[reason, default: 0] += 1 }
  }

  private func isTooOld(_ id: ConnectionID, _ index: Int, jitter: Double = 0) -> Bool {
    guard let age = limits.connectionAgeMax, let openedAt = model[index].connections[id]?.openedAt else { return false }
    return openedAt + (age - age * jitter) <= now
  }

  // MARK: Rules

  /// Returns the first waiter without an opening connection, for each key that has fewer connections than the limit per origin.
  func awaitingPlace() -> [ExchangeID] {
    model.compactMap { key in
      guard key.connections.count < limits.connectionsPerOriginMax else { return nil }
      let withOpening = Set(key.opening.compactMap { pool.waiter(of: $0) })
      return key.waiting.first { !withOpening.contains($0) }
    }
  }

  mutating func checkAlways() throws(PoolViolation) {
    for key in model {
      try require(key.connections.count <= limits.connectionsPerOriginMax, "the limit of connections is exceeded")
      try require(key.idle.count <= limits.idlePerOriginMax, "the limit of idle connections is exceeded")
      try require(key.idle.isEmpty || key.waiting.isEmpty, "an exchange waits although a connection is idle")
      let waiters = key.opening.compactMap { pool.waiter(of: $0) }
      try require(waiters.sorted() == Array(key.waiting.prefix(waiters.count)), "\(waiters) aren't the first waiters")
    }
    let idleCount = model.reduce(0) { $0 + $1.idle.count }
    let waitingCount = model.reduce(0) { $0 + $1.waiting.count }
    try require(connectionCount <= limits.connectionsMax, "the limit of connections in all is exceeded")
    try require(pool.connectionCount == connectionCount, "the pool's count is wrong")
    try require(idleCount <= limits.idleMax, "the limit of idle connections in all is exceeded")
    try require(waitingCount <= limits.waitersMax, "the limit of waiters is exceeded")
    if !awaitingPlace().isEmpty {
      let isShort = pool.shortage.map { $0.permits == 0 } ?? false
      try require(connectionCount == limits.connectionsMax || isShort, "an exchange waits although there is room")
      try require(idleCount == 0, "an exchange waits for an idle connection's place")
      let isWasting = model.contains { $0.waiting.isEmpty && !$0.opening.isEmpty }
      try require(!isWasting, "an exchange waits for an unneeded connection's place")
    }
    if let shortage = pool.shortage {
      let isBeingTried = model.contains { !$0.opening.isEmpty }
      try require(
        shortage.permits > 0 || shortage.retry != nil || isBeingTried, "nothing would end the lack of descriptors")
      try require(waitingCount > 0, "descriptors are lacking without a waiter")
    }
    try checkDeadline()
    try checkCounters()
  }

  private func checkDeadline() throws(PoolViolation) {
    for key in model {
      for connection in key.connections.values {
        guard case .idle(let since) = connection.activity, let openedAt = connection.openedAt else { continue }
        let idleTime = min(connection.idleTimeMax ?? limits.idleTimeout, limits.idleTimeout)
        let ends = [since + idleTime] + (limits.connectionAgeMax.map { [openedAt + $0] } ?? [])
        try require(ends.allSatisfy { pool.nextDeadline ?? Instant(nanoseconds: .max) <= $0 }, "a deadline is missed")
      }
    }
  }

  /// Checks that the pool's counters equal the sums of the events that the model has recorded.
  private mutating func checkCounters() throws(PoolViolation) {
    let counters = pool.counters()
    var sum = ConnectionCounters()
    for (index, key) in keys.enumerated() {
      if let own = counters.origins.first(where: { $0.origin == key.origin }) {
        try require(own.connections == present(model[index], model[index].counters), "\(own) is counted wrong")
      } else {
        try require(model[index].connections.isEmpty && model[index].waiting.isEmpty, "\(key) was forgotten")
        model[index].counters = ConnectionCounters()
      }
      sum.add(present(model[index], ConnectionCounters()))
    }
    sum.add(total)
    try require(counters.total == sum, "\(counters.total) is counted wrong")
    try require(sum.created == sum.idle + sum.active + sum.closed.values.reduce(0, +), "connections were lost")
    let used = model.count { !$0.connections.isEmpty || !$0.waiting.isEmpty }
    try require(counters.origins.count <= max(limits.originsRememberedMax, used), "too many origins are remembered")
  }

  // Adds the current numbers of connections and waiters to the counters of past events.
  private func present(_ key: Key, _ past: ConnectionCounters) -> ConnectionCounters {
    var counters = past
    counters.idle = key.idle.count
    counters.active = key.busy.count
    counters.opening = key.opening.count
    counters.waiting = key.waiting.count
    return counters
  }

  // MARK: The end of a history

  /// Ends all connection attempts, busy connections and waiters one by one, and checks that nothing is left in the pool.
  mutating func finish() throws(PoolViolation) {
    while model.contains(where: { !$0.waiting.isEmpty || !$0.busy.isEmpty || !$0.opening.isEmpty }) {
      if let index = model.firstIndex(where: { !$0.opening.isEmpty }), let id = model[index].opening.first {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: try failed(id, index, .outOfDescriptors)
        case 1: try failed(id, index, .unreachable)
        default: try opened(id, index)
        }
      } else if let index = model.firstIndex(where: { !$0.busy.isEmpty }), let id = model[index].busy.first {
        try release(id, index, closing: Bool.random(using: &random) ? nil : .serverAskedForClose)
      } else if let retry = pool.shortage?.retry {
        try pass(retry - now)
      } else {
        throw violation("\(model.flatMap(\.waiting)) wait without end")
      }
    }
    try pass(limits.idleTimeout)
    try checkEmpty()
  }

  /// Shuts the pool down, ends all busy connections, and checks that nothing is left in the pool.
  mutating func shutDown() throws(PoolViolation) {
    event = "shutdown"
    let waiting = model.flatMap(\.waiting).sorted()
    let actions = pool.beginShutdown()
    try require(
      Array(actions.prefix(waiting.count)) == waiting.map { .refuse($0, .shuttingDown) },
      "not all were refused in order")
    try perform(actions)
    try require(
      model.allSatisfy { $0.opening.isEmpty && $0.idle.isEmpty && $0.waiting.isEmpty },
      "more than the busy ones are left")
    while let index = model.firstIndex(where: { !$0.busy.isEmpty }), let id = model[index].busy.first {
      try require(!pool.isDrained, "drained too early")
      try release(id, index, closing: nil)
    }
    try require(pool.isDrained, "not drained")
    try checkEmpty()
  }

  private func checkEmpty() throws(PoolViolation) {
    try require(connectionCount == 0, "connections are left")
    try require(pool.nextDeadline == nil, "a deadline is left")
    try require(endings.count == Int(lastExchange), "exchanges are left")
    try require(pool.waiters.count == 0 && pool.connections.count == 0, "slots are left")
    try require(pool.origins.count <= limits.originsRememberedMax, "origins are left")
    try require(pool.slots.count == pool.origins.count, "keys are left")
  }
}
