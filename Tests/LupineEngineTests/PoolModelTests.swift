// Long random histories of the pool, held against what must always be true of it.

import LupineReactor
import LupineWire
import Testing

@testable import LupineEngine

/// What was broken, and how to see it again.
private struct Violation: Error, CustomStringConvertible {
  let description: String
}

/// A pool with the simplest account of what it has said so far: who waits, and what each connection does.
private struct PoolModel {
  enum Activity: Equatable {
    case opening
    case busy(ExchangeID)
    case idle(since: Instant)
  }

  struct Key {
    var waiting: [ExchangeID] = []
    var connections: [ConnectionID: Activity] = [:]

    var idle: [ConnectionID] {
      connections.keys.filter { if case .idle = connections[$0] { true } else { false } }.sorted()
    }
    var busy: [ConnectionID] {
      connections.keys.filter { if case .busy = connections[$0] { true } else { false } }.sorted()
    }
    var opening: [ConnectionID] { connections.keys.filter { connections[$0] == .opening }.sorted() }
  }

  let seed: UInt64
  let limits: PoolLimits
  let keys: [PoolKey]
  var random: SplitMix
  var pool: PoolState
  var now = Instant(nanoseconds: 0)
  var model: [Key]
  var lastExchange: ExchangeID = 0
  var lastConnection: ConnectionID = 0
  var endings: [ExchangeID: String] = [:]
  var eventCount = 0

  init(seed: UInt64) {
    self.seed = seed
    random = SplitMix(state: seed)
    limits = PoolLimits(
      connectionsPerOriginMax: Int.random(in: 1...6, using: &random),
      idlePerOriginMax: Int.random(in: 0...4, using: &random), idleTimeout: .seconds(10))
    keys = (0..<3).map { PoolKey(origin: Origin(scheme: .http, host: "host-\($0)", port: 80), tls: nil) }
    model = keys.map { _ in Key() }
    pool = PoolState(limits)
  }

  private func require(_ condition: Bool, _ rule: @autoclosure () -> String) throws(Violation) {
    if !condition { throw Violation(description: "seed \(seed), event \(eventCount): \(rule())") }
  }

  // MARK: Events

  mutating func step() throws(Violation) {
    eventCount += 1
    let index = Int.random(in: 0..<keys.count, using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<30: try acquire(index)
    case 30..<48: if let id = model[index].opening.randomElement(using: &random) { try opened(id, index) }
    case 48..<54: if let id = model[index].opening.randomElement(using: &random) { try openingFailed(id, index) }
    case 54..<74:
      if let id = model[index].busy.randomElement(using: &random) { try release(id, index, closing: nil) }
    case 74..<82:
      if let id = model[index].busy.randomElement(using: &random) { try release(id, index, closing: .exchangeFailed) }
    case 82..<85: if let id = model[index].idle.randomElement(using: &random) { try evict(id, index) }
    case 85..<93: if let exchange = model[index].waiting.randomElement(using: &random) { try cancel(exchange, index) }
    default:
      now = now + .milliseconds(Int.random(in: 0...6_000, using: &random))
      try expire()
    }
    try checkAlways()
  }

  private mutating func acquire(_ index: Int) throws(Violation) {
    lastExchange += 1
    let exchange = lastExchange
    switch pool.acquire(keys[index], for: exchange) {
    case .use(let id):
      guard case .idle(let since) = model[index].connections[id] else {
        throw Violation(description: "seed \(seed), event \(eventCount): \(id) was given out, and isn't idle")
      }
      let newest = model[index].connections.values.compactMap { if case .idle(let since) = $0 { since } else { nil } }
      try require(since == newest.max(), "an older idle connection was preferred")
      try require(model[index].waiting.isEmpty, "\(exchange) overtook those who wait")
      model[index].connections[id] = .busy(exchange)
      try end(exchange, "served")
    case .connect(let id):
      model[index].waiting.append(exchange)
      try connect(id, exchange, index)
    case .wait:
      try require(model[index].connections.count == limits.connectionsPerOriginMax, "\(exchange) waits without need")
      model[index].waiting.append(exchange)
    }
  }

  private mutating func opened(_ id: ConnectionID, _ index: Int) throws(Violation) {
    try perform(pool.opened(id, keys[index], now: now), index, freed: id)
  }

  private mutating func release(_ id: ConnectionID, _ index: Int, closing reason: CloseReason?) throws(Violation) {
    let actions = pool.release(id, keys[index], closing: reason, now: now)
    if let reason {
      try require(actions.first == .close(id, reason), "\(id) wasn't closed first")
      model[index].connections[id] = nil
      try perform(Array(actions.dropFirst()), index)
    } else {
      try perform(actions, index, freed: id)
    }
  }

  private mutating func openingFailed(_ id: ConnectionID, _ index: Int) throws(Violation) {
    model[index].connections[id] = nil
    let actions = pool.openingFailed(id, keys[index])
    let failures = actions.count { if case .fail = $0 { true } else { false } }
    try require(failures <= 1, "one connection failed \(failures) exchanges")
    try perform(actions, index, mayFail: true)
  }

  private mutating func evict(_ id: ConnectionID, _ index: Int) throws(Violation) {
    let actions = pool.evict(id, keys[index], .closedByPeer)
    try require(actions == [.close(id, .closedByPeer)], "an evicted connection led to \(actions)")
    model[index].connections[id] = nil
  }

  private mutating func cancel(_ exchange: ExchangeID, _ index: Int) throws(Violation) {
    model[index].waiting.removeAll { $0 == exchange }
    try end(exchange, "cancelled")
    try perform(pool.cancel(exchange, keys[index]), index)
  }

  private mutating func expire() throws(Violation) {
    for action in pool.expire(now: now) {
      guard case .close(let id, .idleTimeout) = action,
        let index = model.firstIndex(where: { $0.connections[id] != nil }),
        case .idle(let since) = model[index].connections[id]
      else { throw Violation(description: "seed \(seed), event \(eventCount): expiry led to \(action)") }
      try require(since + limits.idleTimeout <= now, "\(id) expired too early")
      model[index].connections[id] = nil
    }
    try require(pool.nextExpiry.map { $0 > now } ?? true, "what has expired was kept")
  }

  // MARK: Actions

  /// `freed` is the connection that was opened or released; it has to serve the first who waits, or become idle.
  private mutating func perform(
    _ actions: [PoolState.Action], _ index: Int, freed: ConnectionID? = nil, mayFail: Bool = false
  ) throws(Violation) {
    if let freed {
      if let first = model[index].waiting.first {
        try require(actions == [.use(freed, by: first)], "\(first) waits longest, and the pool said \(actions)")
        model[index].waiting.removeFirst()
        model[index].connections[freed] = .busy(first)
        return try end(first, "served")
      }
      model[index].connections[freed] = .idle(since: now)
    }
    for action in actions {
      switch action {
      case .use: try require(false, "nothing became free, and the pool said \(action)")
      case .connect(let id, let exchange): try connect(id, exchange, index)
      case .close(let id, let reason):
        guard let activity = model[index].connections.removeValue(forKey: id) else {
          throw Violation(description: "seed \(seed), event \(eventCount): \(id) was closed, and isn't this key's")
        }
        switch activity {
        case .busy(let exchange): try require(false, "\(id) was closed while it served \(exchange)")
        case .opening: try require(reason == .exchangeFailed, "\(id) was given up because of \(reason)")
        case .idle: try require(reason == .idleLimit, "\(id) was closed because of \(reason)")
        }
      case .fail(let exchange):
        try require(mayFail && model[index].waiting.contains(exchange), "\(exchange) was failed")
        model[index].waiting.removeAll { $0 == exchange }
        try end(exchange, "failed")
      }
    }
  }

  private mutating func connect(_ id: ConnectionID, _ exchange: ExchangeID, _ index: Int) throws(Violation) {
    try require(id > lastConnection, "the identifier \(id) was used before")
    try require(model[index].waiting.contains(exchange), "\(exchange) gets a connection, and doesn't wait")
    lastConnection = id
    model[index].connections[id] = .opening
  }

  private mutating func end(_ exchange: ExchangeID, _ ending: String) throws(Violation) {
    let before = endings.updateValue(ending, forKey: exchange)
    try require(before == nil, "\(exchange) was \(before ?? ""), and then \(ending)")
  }

  // MARK: Rules

  private func checkAlways() throws(Violation) {
    for key in model {
      try require(key.connections.count <= limits.connectionsPerOriginMax, "the limit of connections is exceeded")
      try require(key.idle.count <= limits.idlePerOriginMax, "the limit of idle connections is exceeded")
      try require(key.idle.isEmpty || key.waiting.isEmpty, "somebody waits beside an idle connection")
      let isFull = key.connections.count == limits.connectionsPerOriginMax
      try require(isFull || key.waiting.count <= key.opening.count, "somebody waits though there is room")
    }
    try require(pool.connectionCount == model.reduce(0) { $0 + $1.connections.count }, "the pool's count is wrong")
    let expiry = model.flatMap(\.connections.values).compactMap { activity -> Instant? in
      if case .idle(let since) = activity { since + limits.idleTimeout } else { nil }
    }.min()
    try require(pool.nextExpiry == expiry, "the next expiry is wrong")
  }

  /// Lets everything come to its end.
  mutating func finish() throws(Violation) {
    for index in keys.indices {
      while !model[index].waiting.isEmpty || !model[index].busy.isEmpty || !model[index].opening.isEmpty {
        eventCount += 1
        if let id = model[index].opening.first {
          if Bool.random(using: &random) { try opened(id, index) } else { try openingFailed(id, index) }
        } else if let id = model[index].busy.first {
          try release(id, index, closing: Bool.random(using: &random) ? nil : .serverAskedForClose)
        } else {
          try require(false, "\(model[index].waiting) wait for nothing")
        }
        try checkAlways()
      }
    }
    now = now + limits.idleTimeout
    try expire()
    try checkAlways()
    try require(pool.connectionCount == 0, "connections are left")
    try require(pool.nextExpiry == nil, "an expiry is left")
    try require(endings.count == Int(lastExchange), "exchanges are left")
    // Keys are kept in the pool's one dictionary; whatever stays in there is never removed again.
    let keysLeft = Mirror(reflecting: pool).children.first { $0.label == "pools" }.map { Mirror(reflecting: $0.value) }
    try require(keysLeft?.children.isEmpty == true, "keys are left")
  }
}

/// Random numbers that follow from their seed (SplitMix64, OOPSLA 2014).
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

@Suite("PoolState, random histories")
struct PoolModelTests {
  @Test("10,000 random events break no rule, and nothing is left at the end", arguments: 1...20 as ClosedRange<UInt64>)
  func history(seed: UInt64) throws {
    var model = PoolModel(seed: seed)
    for _ in 0..<10_000 { try model.step() }
    try model.finish()
    // Otherwise the random events would have tested less than they should.
    #expect(Set(model.endings.values) == ["served", "failed", "cancelled"], "seed \(seed)")
  }
}
