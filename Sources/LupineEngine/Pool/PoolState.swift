// The connection pool's decisions. Pure: events and the time in, what to do out; it knows no sockets.

internal import LupineReactor
internal import LupineWire

typealias ConnectionID = UInt64
typealias ExchangeID = UInt64

/// How many connections are kept and for how long.
struct PoolLimits: Sendable {
  /// Connections of one key, idle, busy and being opened together.
  var connectionsPerOriginMax: Int
  /// Idle connections of one key.
  var idlePerOriginMax: Int
  var idleTimeout: Duration
}

/// Which connections exist, which are idle, and who waits for one.
///
/// A connection that is being opened isn't bound to the exchange it was opened for: whatever becomes free first
/// serves whoever waits longest, and what nobody needs any more is kept as idle.
struct PoolState: Sendable {
  enum Grant: Equatable {
    /// Use that idle connection.
    case use(ConnectionID)
    /// Open a connection under that identifier; the exchange waits.
    case connect(ConnectionID)
    /// Every connection is busy; the exchange waits.
    case wait
  }

  enum Action: Equatable {
    case use(ConnectionID, by: ExchangeID)
    /// Open a connection, on behalf of that exchange.
    case connect(ConnectionID, for: ExchangeID)
    case close(ConnectionID, CloseReason)
    /// The connection that was to serve that exchange couldn't be opened.
    case fail(ExchangeID)
  }

  fileprivate struct Idle {
    let id: ConnectionID
    let since: Instant
  }

  fileprivate struct Pool {
    var idle: [Idle] = []  // the newest last
    var busy: Set<ConnectionID> = []
    var opening: [ConnectionID: ExchangeID?] = [:]  // with the exchange that asked, while it still waits
    var waiters: [ExchangeID] = []  // in order

    var count: Int { idle.count + busy.count + opening.count }
  }

  private let limits: PoolLimits
  private var pools: [PoolKey: Pool] = [:]
  private var lastID: ConnectionID = 0

  init(_ limits: PoolLimits) {
    self.limits = limits
  }

  /// An exchange needs a connection. The newest idle one is the least likely to be stale.
  mutating func acquire(_ key: PoolKey, for exchange: ExchangeID) -> Grant {
    if let id = pools[key, default: Pool()].takeIdle() { return .use(id) }
    pools[key]?.waiters.append(exchange)
    guard let id = open(key, for: exchange) else { return .wait }
    return .connect(id)
  }

  /// A connection has been opened.
  mutating func opened(_ id: ConnectionID, _ key: PoolKey, now: Instant) -> [Action] {
    guard pools[key]?.opening.removeValue(forKey: id) != nil else { return [] }
    pools[key]?.busy.insert(id)
    return free(id, key, now: now)
  }

  /// A connection couldn't be opened. Whoever asked for it fails, if it still waits.
  mutating func openingFailed(_ id: ConnectionID, _ key: PoolKey) -> [Action] {
    guard let asker = pools[key]?.opening.removeValue(forKey: id) else { return [] }
    var actions: [Action] = []
    if let asker {
      pools[key]?.waiters.removeAll { $0 == asker }
      actions.append(.fail(asker))
    }
    actions += openForWaiters(key)
    forgetIfEmpty(key)
    return actions
  }

  /// An exchange is done with its connection. With a reason to close, it is not used again.
  mutating func release(_ id: ConnectionID, _ key: PoolKey, closing reason: CloseReason?, now: Instant) -> [Action] {
    guard let reason else { return free(id, key, now: now) }
    pools[key]?.busy.remove(id)
    let actions = [.close(id, reason)] + openForWaiters(key)
    forgetIfEmpty(key)
    return actions
  }

  /// An idle connection's peer has closed it, or said something.
  mutating func evict(_ id: ConnectionID, _ key: PoolKey, _ reason: CloseReason) -> [Action] {
    pools[key]?.idle.removeAll { $0.id == id }
    forgetIfEmpty(key)
    return [.close(id, reason)]
  }

  /// An exchange gave up waiting. A connection being opened for it goes on if somebody else can use it.
  mutating func cancel(_ exchange: ExchangeID, _ key: PoolKey) -> [Action] {
    guard let index = pools[key]?.waiters.firstIndex(of: exchange) else { return [] }
    pools[key]?.waiters.remove(at: index)
    guard let id = pools[key]?.opening.first(where: { $0.value == exchange })?.key else { return [] }
    if let heir = waiterWithoutConnection(key) {
      pools[key]?.opening[id] = .some(heir)
      return []
    }
    pools[key]?.opening.removeValue(forKey: id)
    forgetIfEmpty(key)
    return [.close(id, .exchangeFailed)]
  }

  /// Closes what has been idle for too long.
  mutating func expire(now: Instant) -> [Action] {
    var actions: [Action] = []
    for (key, pool) in pools {
      let expired = pool.idle.prefix { $0.since + limits.idleTimeout <= now }
      guard !expired.isEmpty else { continue }
      actions += expired.map { .close($0.id, .idleTimeout) }
      pools[key]?.idle.removeFirst(expired.count)
      forgetIfEmpty(key)
    }
    return actions
  }

  /// When `expire` has to be called next, or nil.
  var nextExpiry: Instant? {
    pools.values.compactMap { $0.idle.first.map { $0.since + limits.idleTimeout } }.min()
  }

  /// The exchange on whose behalf a connection is being opened, as long as it waits.
  func asker(of id: ConnectionID, _ key: PoolKey) -> ExchangeID? {
    pools[key]?.opening[id] ?? nil
  }

  /// How many connections there are in all, those being opened included.
  var connectionCount: Int { pools.values.reduce(0) { $0 + $1.count } }

  // A free connection serves who waits longest, or becomes idle.
  private mutating func free(_ id: ConnectionID, _ key: PoolKey, now: Instant) -> [Action] {
    guard pools[key]?.waiters.isEmpty != false else {
      guard let exchange = pools[key]?.waiters.removeFirst() else { return [] }
      forgetAsker(exchange, key)
      return [.use(id, by: exchange)]
    }
    pools[key]?.busy.remove(id)
    pools[key]?.idle.append(Idle(id: id, since: now))
    guard let oldest = pools[key]?.idle.first, pools[key]?.idle.count ?? 0 > limits.idlePerOriginMax else { return [] }
    pools[key]?.idle.removeFirst()
    forgetIfEmpty(key)
    return [.close(oldest.id, .idleLimit)]
  }

  // The connection that was being opened for a served exchange now belongs to the next one without its own.
  private mutating func forgetAsker(_ exchange: ExchangeID, _ key: PoolKey) {
    guard let pool = pools[key], !pool.opening.isEmpty,
      let id = pool.opening.first(where: { $0.value == exchange })?.key
    else { return }
    let heir = waiterWithoutConnection(key)
    pools[key]?.opening[id] = .some(heir)
  }

  private func waiterWithoutConnection(_ key: PoolKey) -> ExchangeID? {
    guard let pool = pools[key] else { return nil }
    let askers = Set(pool.opening.values.compactMap(\.self))
    return pool.waiters.first { !askers.contains($0) }
  }

  private mutating func openForWaiters(_ key: PoolKey) -> [Action] {
    var actions: [Action] = []
    while let exchange = waiterWithoutConnection(key), let id = open(key, for: exchange) {
      actions.append(.connect(id, for: exchange))
    }
    return actions
  }

  private mutating func open(_ key: PoolKey, for exchange: ExchangeID) -> ConnectionID? {
    guard let pool = pools[key], pool.count < limits.connectionsPerOriginMax else { return nil }
    lastID += 1
    pools[key]?.opening[lastID] = .some(exchange)
    return lastID
  }

  private mutating func forgetIfEmpty(_ key: PoolKey) {
    if let pool = pools[key], pool.count == 0, pool.waiters.isEmpty { pools[key] = nil }
  }
}

extension PoolState.Pool {
  fileprivate mutating func takeIdle() -> ConnectionID? {
    guard let newest = idle.popLast() else { return nil }
    busy.insert(newest.id)
    return newest.id
  }
}
