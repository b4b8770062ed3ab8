// PoolState+Ending: the pool's shutdown and its counters.

internal import LupineWire

extension PoolState {
  /// Begins the shutdown of the pool: closes idle connections, abandons those being opened, and refuses current and later waiters.
  /// Busy connections are closed when their exchanges release them. A second call does nothing.
  mutating func beginShutdown() -> [Action] {
    guard !isShuttingDown else { return [] }
    isShuttingDown = true
    var actions: [Action] = []
    let tickets = (0..<waiters.upperBound).filter { waiters[$0].serial > 0 }
    for waiter in tickets.sorted(by: { waiters[$0].serial < waiters[$1].serial }) {
      let origin = waiters[waiter].origin
      actions.append(.refuse(dequeue(waiter), .shuttingDown))
      reclassify(origin)
    }
    while let origin = orphaned.first {
      while let orphan = origins[origin].orphans.first { abandon(orphan, &actions) }
      reclassify(origin)
    }
    while let oldest = idle.first { closeConnection(oldest, .shutdown, &actions) }
    assignPlaces(&actions)
    return actions
  }

  /// Whether the pool is shutting down and has no connections left.
  var isDrained: Bool { isShuttingDown && connectionCount == 0 }

  /// Returns the current counters. The call takes time proportional to the number of remembered origins.
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
