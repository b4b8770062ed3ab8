// The connection pool's decisions. Pure: events and the time in, what to do out; it knows no sockets.

internal import LupineReactor
internal import LupineWire

/// Which connections exist, which are idle, and who waits for one.
///
/// A connection that is being opened isn't bound to the exchange it was opened for: whatever becomes free first
/// serves whoever waits longest, and what nobody needs any more is kept as idle.
///
/// Who waits is served in the order of coming: at an origin for its connections, and among all origins for the places
/// under `connectionsMax` and for descriptors. Nobody waits for what an idle connection takes.
///
/// Every event is O(1), or O(log n) in the number of origins; only what is closed at once with others takes its time.
/// The actions of an answer have to be done, in their order, before the next event is told.
struct PoolState: Sendable {
  /// The answer to whoever needs a connection.
  enum Grant: Equatable {
    /// Use that idle connection.
    case use(ConnectionID)
    /// The exchange waits, with a ticket to cancel it by. The actions may open a connection, or serve it already.
    case wait(Ticket, [Action])
    /// It isn't served.
    case refused(Refusal)
  }

  /// What becomes of a connection that has been opened, or that an exchange has let go of.
  enum Released: Equatable {
    /// It is kept as idle.
    case idle
    /// It serves that exchange, which has waited.
    case use(by: ExchangeID)
    /// All of this is to be done. Unless it says otherwise, the connection is kept as idle.
    case actions([Action])
  }

  enum Action: Equatable {
    case use(ConnectionID, by: ExchangeID)
    /// Open a connection, on behalf of that exchange.
    case connect(ConnectionID, for: ExchangeID)
    /// The exchange keeps its place in the queue, but no connection is being opened for it any more.
    case wait(ExchangeID)
    case close(ConnectionID, CloseReason)
    /// Give up a connection that is being opened.
    case abandon(ConnectionID)
    /// The connection that was to serve that exchange couldn't be opened.
    case fail(ExchangeID)
    /// The exchange has waited in vain.
    case refuse(ExchangeID, Refusal)
  }

  /// Why an exchange isn't served.
  enum Refusal: Equatable {
    case shuttingDown
    /// So many wait already (`PoolLimits.waitersMax`).
    case tooManyWaiters(Int)
  }

  /// Why a connection couldn't be opened.
  enum OpeningFailure {
    /// The network, the peer, or a timeout.
    case unreachable
    /// The process or the system has no descriptor left (EMFILE, ENFILE).
    case outOfDescriptors
  }

  let limits: PoolLimits
  var isShuttingDown = false

  var slots: [PoolKey: Int] = [:]
  var origins = Slots<PooledOrigin>()
  var connections = Slots<PooledConnection>()
  var waiters = Slots<Waiter>()
  var lastConnection: UInt32 = 0
  var lastWaiter: UInt64 = 0

  /// The links of the origins' queues.
  var queueLinks = LinkedLists()
  /// The links of the origins' idle connections and orphans.
  var originLinks = LinkedLists()
  /// All idle connections, the one that has been idle for longest first.
  var idle = LinkedLists.List()
  var idleLinks = LinkedLists()
  /// Connections that were not seen to be too old yet, the oldest first.
  var aging = LinkedLists.List()
  var agingLinks = LinkedLists()
  /// Origins by their standing, the one that has had it for longest first.
  var needless = LinkedLists.List()
  var dormant = LinkedLists.List()
  var spent = LinkedLists.List()
  var standingLinks = LinkedLists()

  /// Origins that lack a place or a descriptor for their first unattended waiter, by its serial number.
  ///
  /// Behind every event there are none, or neither idle connections nor needless ones on their way.
  var hungry = RankedSlots()
  /// Openings that others than before have come to wait for, until they are taken.
  private var inherited: [ConnectionID] = []
  /// Holds back what is to be opened once descriptors have run out.
  var strain: Strain?
  /// Everything that was counted, but for what the lists tell.
  var total = ConnectionCounters()

  init(_ limits: PoolLimits) {
    limits.validate()
    self.limits = limits
  }

  // MARK: Events

  /// An exchange needs a connection. The newest idle one is the least likely to be stale.
  mutating func acquire(_ key: PoolKey, for exchange: ExchangeID, now: Instant) -> Grant {
    guard !isShuttingDown else { return .refused(.shuttingDown) }
    let known = slots[key]
    if let known, let newest = origins[known].idle.last, connections[newest].isFit(now) {
      take(newest)
      return .use(id(of: newest))
    }
    guard waiters.count < limits.waitersMax else { return .refused(.tooManyWaiters(limits.waitersMax)) }
    let origin = known ?? remember(key)
    let ticket = enqueue(exchange, at: origin)
    var actions: [Action] = []
    if !origins[origin].idle.isEmpty {
      closeExpired(now, &actions)
      if let newest = origins[origin].idle.last {
        take(newest)
        actions.append(.use(id(of: newest), by: dequeue(ticket.slot)))
      }
    }
    settle(origin)
    conclude(&actions)
    return .wait(ticket, actions)
  }

  /// A connection has been opened.
  mutating func opened(_ id: ConnectionID, now: Instant) -> Released {
    let connection = slot(of: id)
    let origin = connections[connection].origin
    guard case .opening(let asker) = connections[connection].state else {
      preconditionFailure("\(id) was opened twice")
    }
    count(origin) {
      $0.opening -= 1
      $0.created += 1
    }
    if let asker {
      giveOpeningOfFirst(to: asker)
    } else {
      originLinks.remove(connection, from: &origins[origin].orphans)
    }
    connections[connection].state = .busy
    if let age = limits.connectionAgeMax { watchAge(connection, until: now + age) }
    relax()
    settle(origin)
    return free(connection, now)
  }

  /// A connection couldn't be opened.
  ///
  /// Whoever asked for it fails, if it still waits; but for want of descriptors it only goes on waiting.
  mutating func openingFailed(_ id: ConnectionID, because failure: OpeningFailure, now: Instant) -> [Action] {
    let connection = slot(of: id)
    let origin = connections[connection].origin
    guard case .opening(let asker) = connections[connection].state else { preconditionFailure("\(id) was opened") }
    count(origin) { $0.openingsFailed += 1 }
    removeOpening(connection)
    var actions: [Action] = []
    switch failure {
    case .unreachable:
      permitOpening()
      if let asker { actions.append(.fail(dequeue(asker))) }
    case .outOfDescriptors:
      if let asker { actions.append(.wait(unattend(asker))) }
      pauseOpening(now)
    }
    settle(origin)
    conclude(&actions)
    return actions
  }

  /// An exchange is done with its connection. With a reason to close, it isn't used again.
  mutating func release(_ id: ConnectionID, closing reason: CloseReason?, now: Instant) -> Released {
    let connection = slot(of: id)
    guard case .busy = connections[connection].state else {
      preconditionFailure("\(id) was released, and isn't in use")
    }
    guard let reason = reason ?? reasonToRetire(connection, now) else { return free(connection, now) }
    var actions: [Action] = []
    close(connection, reason, &actions)
    conclude(&actions)
    return .actions(actions)
  }

  /// An exchange's connection speaks another protocol from now on: it leaves the pool, and isn't closed.
  mutating func detach(_ id: ConnectionID) -> [Action] {
    let connection = slot(of: id)
    guard case .busy = connections[connection].state else {
      preconditionFailure("\(id) was detached, and isn't in use")
    }
    remove(connection, .upgraded)
    var actions: [Action] = []
    conclude(&actions)
    return actions
  }

  /// An idle connection's peer has closed it, or said something.
  mutating func evict(_ id: ConnectionID, _ reason: CloseReason) -> [Action] {
    let connection = slot(of: id)
    guard case .idle = connections[connection].state else { preconditionFailure("\(id) was evicted, and isn't idle") }
    var actions: [Action] = []
    close(connection, reason, &actions)
    conclude(&actions)
    return actions
  }

  /// An exchange gave up waiting; nothing happens if it was served, failed or cancelled before.
  ///
  /// A connection being opened for it goes on if somebody else can use it.
  mutating func cancel(_ ticket: Ticket) -> [Action] {
    guard waiters[ticket.slot].serial == ticket.serial else { return [] }
    let origin = waiters[ticket.slot].origin
    let opening = waiters[ticket.slot].opening
    _ = dequeue(ticket.slot)
    var actions: [Action] = []
    if let opening, case .opening(asker: nil) = connections[opening].state { abandon(opening, &actions) }
    settle(origin)
    conclude(&actions)
    return actions
  }

  /// The exchange on whose behalf a connection is being opened, as long as it waits.
  func asker(of id: ConnectionID) -> ExchangeID? {
    guard case .opening(let asker?) = connections[slot(of: id)].state else { return nil }
    return waiters[asker].exchange
  }

  /// Somebody else waits for a connection that is being opened.
  mutating func noteHeir(of opening: Int) { inherited.append(id(of: opening)) }

  /// The connections whose asker has changed since this was called last, some of which may be open or gone by now.
  mutating func takeInherited() -> [ConnectionID] {
    if inherited.isEmpty { return [] }
    defer { inherited = [] }
    return inherited
  }

  /// Whether a connection serves nobody, and is promised to nobody.
  func isIdle(_ id: ConnectionID) -> Bool {
    if case .idle = connections[slot(of: id)].state { true } else { false }
  }

  // MARK: Free connections

  // Serves who waits longest, or becomes idle.
  private mutating func free(_ connection: Int, _ now: Instant) -> Released {
    let origin = connections[connection].origin
    var actions: [Action] = []
    guard let first = origins[origin].queue.first else {
      rest(connection, now, &actions)
      conclude(&actions)
      return actions.isEmpty ? .idle : .actions(actions)
    }
    // Whoever waits for a place comes before those who have come later, but for a connection's first use.
    if let serial = hungry.lowest, serial < waiters[first].serial, connections[connection].uses > 0 {
      close(connection, reasonToMakeRoom, &actions)
      conclude(&actions)
      return .actions(actions)
    }
    let exchange = dequeue(first)
    countUse(connection)
    settle(origin)
    conclude(&actions)
    guard !actions.isEmpty else { return .use(by: exchange) }
    return .actions([.use(id(of: connection), by: exchange)] + actions)
  }

  private mutating func rest(_ connection: Int, _ now: Instant, _ actions: inout [Action]) {
    let origin = connections[connection].origin
    connections[connection].state = .idle(until: now + limits.idleTimeout)
    originLinks.append(connection, to: &origins[origin].idle)
    idleLinks.append(connection, to: &idle)
    if origins[origin].idle.count > limits.idlePerOriginMax, let oldest = origins[origin].idle.first {
      close(oldest, .idleLimit, &actions)
    } else if idle.count > limits.idleMax, let oldest = idle.first {
      close(oldest, .idleLimit, &actions)
    }
  }

  // Gives an idle connection to an exchange.
  private mutating func take(_ connection: Int) {
    unlinkIdle(connection)
    connections[connection].state = .busy
    countUse(connection)
  }

  private mutating func countUse(_ connection: Int) {
    if connections[connection].uses > 0 { count(connections[connection].origin) { $0.reused += 1 } }
    connections[connection].uses += 1
  }

  // Why a connection isn't used again that could be.
  private func reasonToRetire(_ connection: Int, _ now: Instant) -> CloseReason? {
    if isShuttingDown { return .shutdown }
    if let usesMax = limits.usesPerConnectionMax, connections[connection].uses >= usesMax { return .usesLimit }
    return connections[connection].end <= now ? .ageLimit : nil
  }
}
