// The pool's end, and what it has counted until then.

internal import LupineWire

extension PoolState {
  /// Closes what is idle, gives up what is being opened, and refuses who waits or comes. What is busy is closed when
  /// it is released. A second call does nothing.
  mutating func beginShutdown() -> [Action] {
    guard !isShuttingDown else { return [] }
    isShuttingDown = true
    var actions: [Action] = []
    let tickets = (0..<waiters.upperBound).filter { waiters[$0].serial > 0 }
    for waiter in tickets.sorted(by: { waiters[$0].serial < waiters[$1].serial }) {
      let origin = waiters[waiter].origin
      actions.append(.refuse(dequeue(waiter), .shuttingDown))
      settle(origin)
    }
    while let origin = needless.first {
      while let orphan = origins[origin].orphans.first { abandon(orphan, &actions) }
      settle(origin)
    }
    while let oldest = idle.first { close(oldest, .shutdown, &actions) }
    conclude(&actions)
    return actions
  }

  /// Whether the shutdown is complete: no connection is left.
  var isDrained: Bool { isShuttingDown && connectionCount == 0 }

  /// What was counted until now; it takes a step for each origin that is remembered.
  func counters() -> PoolCounters {
    var counters = PoolCounters()
    counters.total = total
    counters.total.idle = idle.count
    counters.total.waiting = waiters.count
    counters.total.active = connectionCount - idle.count - total.opening
    for slot in 0..<origins.upperBound {
      guard let key = origins[slot].key else { continue }
      var own = origins[slot].counters
      own.idle = origins[slot].idle.count
      own.waiting = origins[slot].queue.count
      own.active = origins[slot].connectionCount - own.idle - own.opening
      counters.origins.append(PoolCounters.OfOrigin(origin: key.origin, connections: own))
    }
    return counters
  }
}
