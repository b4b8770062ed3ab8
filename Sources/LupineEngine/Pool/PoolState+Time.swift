// PoolState+Time: the pool's deadlines for idle times, ages, and new attempts after descriptors have run out.

@_spi(Loop) internal import LupineReactor
internal import LupineWire

extension PoolState {
  /// The time at which the caller must call `expire`, or nil if no deadline is pending. Each event that the pool handles may change
  /// this time. Inlined, because a call would copy the pool's state.
  @inline(__always)
  var nextDeadline: Instant? {
    var next = shortage?.retry
    if let oldest = idle.first, case .idle(let until) = connections[oldest].state { next = min(next ?? until, until) }
    if let earliest = keepAliveDeadlines.earliest { next = min(next ?? earliest, earliest) }
    if let earliest = aging.earliest { next = min(next ?? earliest, earliest) }
    return next
  }

  /// Closes connections that have exceeded their idle time or maximum age. Permits the pool to open a connection if a pause for
  /// lack of descriptors is over.
  mutating func expire(now: Instant) -> [Action] {
    var actions: [Action] = []
    closeExpired(now, &actions)
    if let retry = shortage?.retry, retry <= now { permitOpening() }
    assignPlaces(&actions)
    return actions
  }

  /// Closes idle connections that have exceeded their idle time or maximum age. The age of a busy connection is checked when its
  /// exchange releases it.
  mutating func closeExpired(_ now: Instant, _ actions: inout [Action]) {
    while let connection = keepAliveDeadlines.popExpired(now: now) {
      closeConnection(connection, .keepAliveLimit, &actions)
    }
    // If a connection in the list has expired, so have all before it: they have been idle for longer, and no connection may be idle
    // for longer than `PoolLimits.idleTimeout`.
    while let oldest = idle.first, case .idle(let until) = connections[oldest].state, until <= now {
      closeConnection(oldest, .idleTimeout, &actions)
    }
    while let connection = aging.popExpired(now: now) {
      if case .idle = connections[connection].state { closeConnection(connection, .ageLimit, &actions) }
    }
  }

  /// Sets the time at which a new connection reaches its maximum age: a random time, so that connections that were opened together
  /// aren't replaced together.
  mutating func watchAge(_ connection: Int, _ ageMax: Duration, now: Instant) {
    let end = now + (ageMax - ageMax * (limits.connectionAgeJitter * Double.random(in: 0..<1, using: &random)))
    connections[connection].end = end
    aging.set(connection, to: end)
  }
}
