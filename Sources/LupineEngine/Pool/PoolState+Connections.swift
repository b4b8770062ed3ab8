// PoolState+Connections: adds, closes and removes connections, and keeps their counts.

@_spi(Loop) internal import LupineReactor
internal import LupineWire

extension PoolState {
  /// The number of all connections in the pool, including those being opened.
  var connectionCount: Int { connections.count }

  func id(of connection: Int) -> ConnectionID {
    ConnectionID(serial: connections[connection].serial, slot: connection)
  }

  /// Returns the slot of the connection with this ID. Traps if the connection was closed.
  func slot(of id: ConnectionID) -> Int {
    precondition(
      id.slot < connections.upperBound && connections[id.slot].serial == id.serial, "\(id) was already closed")
    return id.slot
  }

  /// Applies `change` both to the counters of an origin and to the totals.
  mutating func count(_ origin: Int, _ change: (inout ConnectionCounters) -> Void) {
    change(&origins[origin].counters)
    change(&total)
  }

  /// Records that the origin's number of connections or waiters has changed, if anything observes the pool.
  @inline(__always)
  mutating func noteChange(of origin: Int) { changedOrigins?.append(origin) }

  /// Adds a connection for the origin's first waiter for which none is being opened. Returns the action that opens the connection.
  mutating func open(_ origin: Int) -> Action {
    guard let waiter = origins[origin].firstWithoutOpening else {
      preconditionFailure("a connection is opened without a waiter")
    }
    let connection = addOpening(origin)
    shortage?.permits -= 1
    assign(connection, to: waiter)
    reclassify(origin)
    return .connect(id(of: connection), for: waiters[waiter].exchange)
  }

  /// Adds a connection that is being opened, for no waiter yet, and returns its slot.
  mutating func addOpening(_ origin: Int) -> Int {
    lastConnection = lastConnection == ConnectionID.serialMax ? 1 : lastConnection + 1
    let connection = connections.insert(
      PooledConnection(serial: lastConnection, origin: origin, state: .opening(for: nil)))
    origins[origin].connectionCount += 1
    count(origin) { $0.opening += 1 }
    noteChange(of: origin)
    return connection
  }

  /// Closes an open connection: removes it from the pool, and appends the action that closes it.
  mutating func closeConnection(_ connection: Int, _ reason: CloseReason, _ actions: inout [Action]) {
    actions.append(.close(id(of: connection), reason))
    remove(connection, reason)
    permitOpening()
  }

  /// Abandons a connection that is being opened without a waiter: removes it from the pool, and appends the action that ends its
  /// opening. The caller must call `reclassify` for the origin.
  mutating func abandon(_ connection: Int, _ actions: inout [Action]) {
    actions.append(.abandon(id(of: connection)))
    count(connections[connection].origin) { $0.openingsAbandoned += 1 }
    removeOpening(connection)
    permitOpening()
  }

  /// Removes from the pool a connection that was being opened. The caller must update the waiter and call `reclassify` for the
  /// origin.
  mutating func removeOpening(_ connection: Int) {
    let origin = connections[connection].origin
    guard case .opening(let waiter) = connections[connection].state else {
      preconditionFailure("the connection was already open")
    }
    if let waiter {
      waiters[waiter].opening = nil
    } else {
      originLinks.remove(connection, from: &origins[origin].orphans)
    }
    count(origin) { $0.opening -= 1 }
    noteChange(of: origin)
    origins[origin].connectionCount -= 1
    connections.remove(connection, leaving: PooledConnection())
  }

  /// Removes an open connection from the pool, and counts `reason` as the reason for its end.
  mutating func remove(_ connection: Int, _ reason: CloseReason) {
    let origin = connections[connection].origin
    if case .idle = connections[connection].state { unlinkIdle(connection) }
    if aging.count > 0 { aging.remove(connection) }
    count(origin) { $0.closed[reason, default: 0] += 1 }
    noteChange(of: origin)
    origins[origin].connectionCount -= 1
    connections.remove(connection, leaving: PooledConnection())
    reclassify(origin)
  }

  mutating func unlinkIdle(_ connection: Int) {
    originLinks.remove(connection, from: &origins[connections[connection].origin].idle)
    noteChange(of: connections[connection].origin)
    idleLinks.remove(connection, from: &idle)
    if keepAliveDeadlines.count > 0 { keepAliveDeadlines.remove(connection) }
  }
}
