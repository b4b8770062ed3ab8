// When something is looked at though nothing has happened to it.

@_spi(Loop) internal import LupineReactor

extension Shard {
  /// Sets a deadline for the exchange if it has become earlier. A later one is found out when the earlier one passes.
  func rearm(_ exchange: Exchange) {
    guard let deadline = exchange.deadline else { return }
    if let connection = exchange.connection { return watch(connection, until: deadline) }
    if let armed = exchange.armedDeadline, armed <= deadline { return }
    exchange.armedDeadline = deadline
    deadlines.set(.exchange(exchange.id), to: deadline)
  }

  /// Removes the deadline of an exchange that has ended, or whose connection's holds from now on.
  func disarm(_ exchange: Exchange) {
    guard exchange.armedDeadline != nil else { return }
    exchange.armedDeadline = nil
    deadlines.remove(.exchange(exchange.id))
  }

  /// Looks at the connection, and at what is on it, at that time or earlier.
  func watch(_ connection: Connection, until deadline: Instant) {
    if let armed = connection.armedDeadline, armed <= deadline { return }
    connection.armedDeadline = deadline
    deadlines.set(.connection(connection.id), to: deadline)
  }

  /// Removes the deadline of a connection that is closed.
  func disarm(_ connection: Connection) {
    guard connection.armedDeadline != nil else { return }
    connection.armedDeadline = nil
    deadlines.remove(.connection(connection.id))
  }

  /// Does what was to be done by the time when the events were fetched.
  func expireDeadlines() {
    guard let earliest = deadlines.earliest, earliest <= fetched else { return }
    while let key = deadlines.popExpired(now: fetched) {
      switch key {
      case .exchange(let id):
        guard let exchange = exchanges[id] else { continue }
        exchange.armedDeadline = nil
        expire(exchange)
      case .opening(let id):
        if let opening = openings[id] { expire(opening) }
      case .connection(let id):
        guard let connection = connection(id) else { continue }
        connection.armedDeadline = nil
        expire(connection)
      case .pool:
        poolDeadline = nil
        perform(pool.expire(now: now))
        watchPool()
      }
    }
  }

  private func expire(_ connection: Connection) {
    switch connection.use {
    case .draining(let draining) where draining.deadline <= fetched: stopDraining(connection)
    case .draining(let draining): watch(connection, until: draining.deadline)
    case .serving(let exchange), .upgraded(let exchange): expire(exchange)
    case .idle, .closed: break
    }
  }

  private func expire(_ exchange: Exchange) {
    guard let deadline = exchange.deadline, deadline <= fetched else { return rearm(exchange) }
    if exchange.phase == .awaitContinue, !exchange.hasPassedTotal(now: fetched) {
      sendUnasked(exchange)
    } else {
      fail(exchange, .timedOut, cause: exchange.passedLimit(now: fetched))
    }
  }
}
