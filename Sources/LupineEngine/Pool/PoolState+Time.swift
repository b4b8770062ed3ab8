// What the pool does when time has passed: idle times, ages, and another try for descriptors.

internal import LupineReactor
internal import LupineWire

extension PoolState {
  /// When `expire` has to be called, or nil. It changes with every event.
  var nextDeadline: Instant? {
    var next = strain?.retry
    if let oldest = idle.first, case .idle(let until) = connections[oldest].state { next = min(next ?? until, until) }
    if let oldest = aging.first { next = min(next ?? connections[oldest].end, connections[oldest].end) }
    return next
  }

  /// Closes what has been idle for too long or is too old, and tries for descriptors again when it's time to.
  mutating func expire(now: Instant) -> [Action] {
    var actions: [Action] = []
    closeExpired(now, &actions)
    if let retry = strain?.retry, retry <= now { permitOpening() }
    conclude(&actions)
    return actions
  }

  /// Closes idle connections whose time is over. Busy ones are looked at when they become free.
  mutating func closeExpired(_ now: Instant, _ actions: inout [Action]) {
    while let oldest = idle.first, case .idle(let until) = connections[oldest].state, until <= now {
      close(oldest, .idleTimeout, &actions)
    }
    while let oldest = aging.first, connections[oldest].end <= now {
      unwatchAge(oldest)
      if case .idle = connections[oldest].state { close(oldest, .ageLimit, &actions) }
    }
  }

  /// A connection must not become older than that.
  mutating func watchAge(_ connection: Int, until end: Instant) {
    connections[connection].end = end
    connections[connection].isAging = true
    agingLinks.append(connection, to: &aging)
  }

  mutating func unwatchAge(_ connection: Int) {
    connections[connection].isAging = false
    agingLinks.remove(connection, from: &aging)
  }
}
