// Shard+Deadlines: sets, removes and processes the deadlines of exchanges and connections.

@_spi(Loop) internal import LupineReactor

extension Shard {
  /// Registers the exchange's deadline with the loop if it is earlier than the registered deadline. A later deadline isn't
  /// registered, because the loop checks for it when the registered deadline passes.
  func rearm(_ exchange: Exchange) {
    guard let deadline = exchange.deadline else { return }
    if let connection = exchange.connection { return watch(connection, until: deadline) }
    if let armed = exchange.armedDeadline, armed <= deadline { return }
    exchange.armedDeadline = deadline
    deadlines.set(.exchange(exchange.id), to: deadline)
  }

  /// Removes the registered deadline of an exchange that has ended, or whose connection now has a registered deadline.
  func disarm(_ exchange: Exchange) {
    guard exchange.armedDeadline != nil else { return }
    exchange.armedDeadline = nil
    deadlines.remove(.exchange(exchange.id))
  }

  /// Ensures that the loop checks the deadlines of the connection and its exchange no later than `deadline`.
  func watch(_ connection: Connection, until deadline: Instant) {
    if let armed = connection.armedDeadline, armed <= deadline { return }
    connection.armedDeadline = deadline
    deadlines.set(.connection(connection.id), to: deadline)
  }

  /// Removes the registered deadline of a closed connection.
  func disarm(_ connection: Connection) {
    guard connection.armedDeadline != nil else { return }
    connection.armedDeadline = nil
    deadlines.remove(.connection(connection.id))
  }

  /// Processes the deadlines that had already passed when the events of this iteration were fetched.
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
        guard let connection = connections[id] else { continue }
        connection.armedDeadline = nil
        expire(connection)
      case .pool:
        poolWork.deadline = nil
        perform(pool.expire(now: now))
        watchPool()
      case .addresses: refreshAddresses()
      case .shutdown: return stop()
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
