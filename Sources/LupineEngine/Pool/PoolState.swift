// PoolState: the connection pool's decisions. It performs no I/O and reads no clock: it
// receives events with their time, and returns actions.

internal import LupineRandom
@_spi(Loop) internal import LupineReactor
internal import LupineWire

/// The state of one loop's connection pool: open connections, connections being opened, and exchanges that wait for one.
///
/// A connection being opened isn't bound to the exchange that requested it. The first free connection goes to the first waiter in
/// the origin's queue, and an opened connection without a waiter becomes idle.
///
/// Waiters get connections by priority, and in order of arrival if the priorities are equal. This order applies within an origin.
/// If `connectionsMax` or a shortage of descriptors prevents new connections, it applies across all origins. Idle connections are
/// closed when a waiter needs their place.
///
/// Each event takes O(1), O(log n) in the number of origins or of idle connections with a Keep-Alive field, or O(n) in the number
/// of different priorities. Closing several connections takes time for each of them. The caller must execute the returned actions
/// in order, before it reports the next event.
struct PoolState: Sendable {
  /// The pool's answer to an exchange that requests a connection.
  enum Acquisition: Equatable {
    /// The exchange can use this idle connection at once.
    case use(ConnectionID)
    /// The exchange waits for a connection. Calling `cancel` with this ticket ends the wait. The actions may open a connection, or
    /// may already give one to the exchange.
    case wait(Ticket, [Action])
    /// The pool refuses to serve the exchange.
    case refused(Refusal)
  }

  /// The pool's decision about a connection that was opened, or that its exchange has released.
  enum Released: Equatable {
    /// The connection stays open and becomes idle.
    case idle
    /// The pool gives the connection to this exchange, which was waiting for one.
    case use(by: ExchangeID)
    /// The caller must execute these actions. If none of them uses or closes the connection, it becomes idle.
    case actions([Action])
  }

  enum Action: Equatable {
    case use(ConnectionID, by: ExchangeID)
    /// Open a connection on behalf of this exchange.
    case connect(ConnectionID, for: ExchangeID)
    /// Open a connection with this key in advance, for no exchange yet.
    case prewarm(ConnectionID, PoolKey)
    /// The exchange continues to wait in the queue, but no connection is being opened for it any longer.
    case wait(ExchangeID)
    case close(ConnectionID, CloseReason)
    /// Stop opening this connection.
    case abandon(ConnectionID)
    /// The exchange fails, because the connection for which it waited couldn't be opened.
    case fail(ExchangeID)
    /// The pool refuses to serve the exchange, which has waited until now.
    case refuse(ExchangeID, Refusal)
  }

  /// The reason why the pool refuses to serve an exchange.
  enum Refusal: Equatable {
    case shuttingDown
    /// The maximum number of exchanges is already waiting. The associated value is `PoolLimits.waitersMax`.
    case tooManyWaiters(Int)
  }

  /// The reason why a connection couldn't be opened.
  enum OpeningFailure {
    /// The network or the peer failed, or a time limit was exceeded.
    case unreachable
    /// The process or the system has run out of descriptors (EMFILE, ENFILE).
    case outOfDescriptors
  }

  let limits: PoolLimits
  var isShuttingDown = false
  /// The slots of the origins whose numbers of connections or waiters have changed. Nil if nothing observes the pool.
  var changedOrigins: [Int]?

  var slots: [PoolKey: Int] = [:]
  /// The index of the origin that `slot(of:)` has most recently found by its key. Its record may have been removed since, and the
  /// place reused for another origin.
  private var latest = 0
  var origins = Slots<PooledOrigin>()
  var connections = Slots<PooledConnection>()
  var waiters = Slots<Waiter>()
  var lastConnection: UInt32 = 0
  var lastWaiter: UInt64 = 0

  /// The links of the lists `PooledOrigin.queue`, which contain the waiters of each origin.
  var queueLinks = LinkedLists()
  /// The links of the lists `PooledOrigin.idle` and `PooledOrigin.orphans`, which contain connections of each origin.
  var originLinks = LinkedLists()
  /// The idle connections of all origins, starting with the one that has been idle longest.
  var idle = LinkedLists.List()
  var idleLinks = LinkedLists()
  /// The deadlines of those idle connections whose servers announced a shorter time than `PoolLimits.idleTimeout`, by slot.
  var keepAliveDeadlines = DeadlineQueue<Int>()
  /// The times at which connections reach their maximum age, by slot. Empty if there is no limit on the age of connections.
  var aging = DeadlineQueue<Int>()
  /// The source of the random ages.
  var random: SplitMix64
  /// The origins whose standing is `orphaned`: without waiters, but with a connection being opened. The origin that has been in
  /// this state longest is the first. The next two lists contain the dormant and the disposable origins in the same order.
  var orphaned = LinkedLists.List()
  var dormant = LinkedLists.List()
  var disposable = LinkedLists.List()
  var standingLinks = LinkedLists()

  /// The origins with a waiter for which the pool opens a connection as soon as its total limit and the available descriptors
  /// permit. Each origin is ranked by the serial number of its first such waiter.
  ///
  /// If any origin remains here after an event, there are no idle connections or orphans that could be closed to make room.
  var awaitingPlace = RankedQueue<Int, UInt64>()
  /// The connections that were reassigned to another waiter while they were being opened, since the last call of `takeReassigned`.
  private var reassigned: [ConnectionID] = []
  /// The limit on opening connections after the process has run out of descriptors, or nil if there is no shortage.
  var shortage: DescriptorShortage?
  /// The totals of all origins' counters, except for those that are derived from the lists, such as the number of idle connections.
  var total = ConnectionCounters()

  init(_ limits: PoolLimits, random: SplitMix64 = SplitMix64(seed: 0)) {
    limits.validate()
    self.limits = limits
    self.random = random
  }

  // MARK: Events

  /// Handles an exchange's request for a connection. Prefers the most recently used idle connection, because it is least likely to
  /// be stale.
  mutating func acquire(
    _ key: PoolKey, for exchange: ExchangeID, _ priority: ExchangePriority = .normal, now: Instant
  ) -> Acquisition {
    guard !isShuttingDown else { return .refused(.shuttingDown) }
    let known = slot(of: key)
    if let known, let newest = origins[known].idle.last, connections[newest].isFit(now) {
      useIdle(newest)
      return .use(id(of: newest))
    }
    guard waiters.count < limits.waitersMax else { return .refused(.tooManyWaiters(limits.waitersMax)) }
    let origin = known ?? remember(key)
    var actions: [Action] = []
    let ticket = enqueue(exchange, priority, at: origin, &actions)
    if !origins[origin].idle.isEmpty {
      closeExpired(now, &actions)
      if let newest = origins[origin].idle.last {
        useIdle(newest)
        actions.append(.use(id(of: newest), by: dequeue(ticket.slot)))
      }
    }
    reclassify(origin)
    assignPlaces(&actions)
    return .wait(ticket, actions)
  }

  /// Handles a connection that was opened: gives it to the first waiter, or makes it idle.
  mutating func opened(_ id: ConnectionID, now: Instant) -> Released {
    let connection = slot(of: id)
    let origin = connections[connection].origin
    guard case .opening(let waiter) = connections[connection].state else {
      preconditionFailure("\(id) was opened twice")
    }
    count(origin) {
      $0.opening -= 1
      $0.created += 1
    }
    noteChange(of: origin)
    if let waiter {
      giveOpeningOfFirst(to: waiter)
    } else {
      originLinks.remove(connection, from: &origins[origin].orphans)
    }
    connections[connection].state = .busy
    if let age = limits.connectionAgeMax { watchAge(connection, age, now: now) }
    easeShortage()
    reclassify(origin)
    return free(connection, nil, now)
  }

  /// Handles a connection that couldn't be opened.
  ///
  /// The exchange that waits for the connection fails. If descriptors have run out, the exchange continues to wait instead.
  mutating func openingFailed(_ id: ConnectionID, because failure: OpeningFailure, now: Instant) -> [Action] {
    let connection = slot(of: id)
    let origin = connections[connection].origin
    guard case .opening(let waiter) = connections[connection].state else {
      preconditionFailure("\(id) was already open")
    }
    count(origin) { $0.openingsFailed += 1 }
    removeOpening(connection)
    var actions: [Action] = []
    switch failure {
    case .unreachable:
      permitOpening()
      if let waiter { actions.append(.fail(dequeue(waiter))) }
    case .outOfDescriptors:
      if let waiter { actions.append(.wait(withdrawOpening(from: waiter))) }
      pauseOpening(now)
    }
    reclassify(origin)
    assignPlaces(&actions)
    return actions
  }

  /// Handles a connection that its exchange has released. If `reason` isn't nil, the pool closes the connection instead of reusing
  /// it.
  ///
  /// If `idleTimeMax` is shorter than `PoolLimits.idleTimeout`, it limits the time for which the connection may now be idle.
  mutating func release(
    _ id: ConnectionID, closing reason: CloseReason?, idleTimeMax: Duration? = nil, now: Instant
  ) -> Released {
    let connection = slot(of: id)
    guard case .busy = connections[connection].state else {
      preconditionFailure("\(id) was released but isn't in use")
    }
    guard let reason = reason ?? reasonToRetire(connection, now) else { return free(connection, idleTimeMax, now) }
    var actions: [Action] = []
    closeConnection(connection, reason, &actions)
    assignPlaces(&actions)
    return .actions(actions)
  }

  /// Removes a connection that has switched to another protocol from the pool, without closing the connection.
  mutating func detach(_ id: ConnectionID) -> [Action] {
    let connection = slot(of: id)
    guard case .busy = connections[connection].state else {
      preconditionFailure("\(id) was detached but isn't in use")
    }
    remove(connection, .upgraded)
    var actions: [Action] = []
    assignPlaces(&actions)
    return actions
  }

  /// Closes an idle connection that has failed, or whose peer has closed it or sent unsolicited bytes.
  mutating func evict(_ id: ConnectionID, _ reason: CloseReason) -> [Action] {
    let connection = slot(of: id)
    guard case .idle = connections[connection].state else { preconditionFailure("\(id) was evicted but isn't idle") }
    var actions: [Action] = []
    closeConnection(connection, reason, &actions)
    assignPlaces(&actions)
    return actions
  }

  /// Handles the withdrawal of an open connection's address from the addresses of its name: closes the connection if it is idle, or
  /// else when its exchange releases it.
  mutating func withdraw(_ id: ConnectionID) -> [Action] {
    let connection = slot(of: id)
    connections[connection].isWithdrawn = true
    connections[connection].end = Instant(nanoseconds: 0)
    guard case .idle = connections[connection].state else { return [] }
    var actions: [Action] = []
    closeConnection(connection, .addressWithdrawn, &actions)
    assignPlaces(&actions)
    return actions
  }

  /// Opens connections in advance, until `count` connections with this key are idle or are being opened without a waiter. Opens fewer
  /// if the limits don't permit more, or if exchanges or descriptors are waiting for places.
  mutating func prewarm(_ key: PoolKey, count: Int) -> [Action] {
    guard !isShuttingDown, shortage == nil else { return [] }
    let origin = slot(of: key) ?? remember(key)
    let ready = origins[origin].idle.count + origins[origin].orphans.count
    let missing = min(count, limits.idlePerOriginMax) - ready
    let room = min(
      limits.connectionsPerOriginMax - origins[origin].connectionCount, limits.connectionsMax - connectionCount,
      limits.idleMax - idle.count)
    var actions: [Action] = []
    for _ in 0..<max(min(missing, room), 0) {
      let connection = addOpening(origin)
      originLinks.append(connection, to: &origins[origin].orphans)
      actions.append(.prewarm(id(of: connection), key))
    }
    reclassify(origin)
    forgetUnused()
    return actions
  }

  /// Gives up a connection that is being opened, and for which no exchange waits any longer.
  mutating func abandon(_ id: ConnectionID) -> [Action] {
    let connection = slot(of: id)
    guard case .opening(for: nil) = connections[connection].state else {
      preconditionFailure("\(id) was abandoned but is needed")
    }
    let origin = connections[connection].origin
    var actions: [Action] = []
    abandon(connection, &actions)
    reclassify(origin)
    assignPlaces(&actions)
    return actions
  }

  /// Returns whether the connection is being opened.
  func isOpening(_ id: ConnectionID) -> Bool {
    guard id.slot < connections.upperBound, connections[id.slot].serial == id.serial,
      case .opening = connections[id.slot].state
    else { return false }
    return true
  }

  /// The number of idle connections with this key.
  func idleCount(_ key: PoolKey) -> Int { slots[key].map { origins[$0].idle.count } ?? 0 }

  /// Ends the wait of an exchange. Does nothing if the exchange has already been served, failed or cancelled.
  ///
  /// If a connection is being opened for the exchange, and another waiter can use it, the opening continues.
  mutating func cancel(_ ticket: Ticket) -> [Action] {
    guard waiters[ticket.slot].serial == ticket.serial else { return [] }
    let origin = waiters[ticket.slot].origin
    let opening = waiters[ticket.slot].opening
    _ = dequeue(ticket.slot)
    var actions: [Action] = []
    if let opening, case .opening(for: nil) = connections[opening].state { abandon(opening, &actions) }
    reclassify(origin)
    assignPlaces(&actions)
    return actions
  }

  /// Returns the exchange on whose behalf the connection is being opened, or nil if there is none.
  func waiter(of id: ConnectionID) -> ExchangeID? {
    guard case .opening(let waiter?) = connections[slot(of: id)].state else { return nil }
    return waiters[waiter].exchange
  }

  /// Records that a connection was reassigned to another waiter while it was being opened.
  mutating func noteReassignment(of opening: Int) { reassigned.append(id(of: opening)) }

  /// Returns the connections that were reassigned to another waiter while they were being opened, since the last call of this
  /// method. Some of them may have been opened, or may have failed to open, in the meantime.
  mutating func takeReassigned() -> [ConnectionID] { Swift.exchange(&reassigned, with: []) }

  /// Returns whether a connection with this key is idle, and has exceeded neither its idle time nor its maximum age.
  func hasFitConnection(_ key: PoolKey, now: Instant) -> Bool {
    guard let origin = slots[key] else { return false }
    // An older connection may be fit although a newer one isn't, because of the server's Keep-Alive fields.
    var next = origins[origin].idle.last
    while let connection = next {
      if connections[connection].isFit(now) { return true }
      next = originLinks.previous(before: connection)
    }
    return false
  }

  /// Returns whether the connection neither serves an exchange nor is reserved for one.
  func isIdle(_ id: ConnectionID) -> Bool {
    if case .idle = connections[slot(of: id)].state { true } else { false }
  }

  // MARK: Free connections

  // Gives the connection to the first waiter in its origin's queue, or makes the connection idle.
  private mutating func free(_ connection: Int, _ idleTimeMax: Duration?, _ now: Instant) -> Released {
    let origin = connections[connection].origin
    var actions: [Action] = []
    guard let first = origins[origin].queue.first else {
      rest(connection, idleTimeMax, now, &actions)
      assignPlaces(&actions)
      return actions.isEmpty ? .idle : .actions(actions)
    }
    // If an earlier waiter of another origin needs a place, this connection is closed to make room for that waiter. A new
    // connection serves one exchange before it is closed.
    if let serial = awaitingPlace.lowest, serial < waiters[first].serial, connections[connection].uses > 0 {
      closeConnection(connection, reasonToMakeRoom, &actions)
      assignPlaces(&actions)
      return .actions(actions)
    }
    let exchange = dequeue(first)
    countUse(connection)
    reclassify(origin)
    assignPlaces(&actions)
    guard !actions.isEmpty else { return .use(by: exchange) }
    return .actions([.use(id(of: connection), by: exchange)] + actions)
  }

  private mutating func rest(
    _ connection: Int, _ idleTimeMax: Duration?, _ now: Instant, _ actions: inout [Action]
  ) {
    let origin = connections[connection].origin
    var end = now + limits.idleTimeout
    if let idleTimeMax, idleTimeMax < limits.idleTimeout {
      end = now + idleTimeMax
      keepAliveDeadlines.set(connection, to: end)
    }
    connections[connection].state = .idle(until: end)
    originLinks.append(connection, to: &origins[origin].idle)
    noteChange(of: origin)
    idleLinks.append(connection, to: &idle)
    if origins[origin].idle.count > limits.idlePerOriginMax, let oldest = origins[origin].idle.first {
      closeConnection(oldest, .idleLimit, &actions)
    } else if idle.count > limits.idleMax, let oldest = idle.first {
      closeConnection(oldest, .idleLimit, &actions)
    }
  }

  // Returns the index of the origin with this key, or nil if the pool doesn't know the origin. Checks the latest origin first,
  // because consecutive requests often have the same origin.
  private mutating func slot(of key: PoolKey) -> Int? {
    if latest < origins.upperBound, origins[latest].key == key { return latest }
    guard let slot = slots[key] else { return nil }
    latest = slot
    return slot
  }

  // Gives an idle connection to an exchange.
  private mutating func useIdle(_ connection: Int) {
    unlinkIdle(connection)
    connections[connection].state = .busy
    countUse(connection)
  }

  private mutating func countUse(_ connection: Int) {
    if connections[connection].uses > 0 { count(connections[connection].origin) { $0.reused += 1 } }
    connections[connection].uses += 1
  }

  // Returns the reason why the pool doesn't keep an otherwise reusable connection, or nil if there is none. Inlined, because a call
  // would copy the pool's state.
  @inline(__always)
  private func reasonToRetire(_ connection: Int, _ now: Instant) -> CloseReason? {
    if isShuttingDown { return .shutdown }
    if let usesMax = limits.usesPerConnectionMax, connections[connection].uses >= usesMax { return .usesLimit }
    guard connections[connection].end <= now else { return nil }
    return connections[connection].isWithdrawn ? .addressWithdrawn : .ageLimit
  }
}
