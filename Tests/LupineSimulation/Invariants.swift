// Invariants: the rules that a shard's state satisfies after every iteration of the loop. Of the simulation's files,
// only this one depends on how a shard stores its state.

@testable import LupineEngine
@_spi(Loop) @testable import LupineReactor

/// The rules that connect the state of a shard (one event loop of the engine) with the state of the simulated network.
struct Invariants {
  let shard: Shard
  let network: SimulatedNetwork
  let world: World

  func checkBehindTurn(wakeUp: Instant?) {
    world.require(
      shard.pool.connectionCount == shard.connections.pooled.count + shard.openings.count,
      "the pool has \(shard.pool.connectionCount) connections, the shard has \(shard.connections.pooled.count) and "
        + "\(shard.openings.count) being opened")
    world.require(
      network.streams.count == socketCount, "\(network.streams.count) sockets are open, the shard has \(socketCount)")
    for connection in shard.connections.pooled.values { check(connection) }
    for connection in shard.connections.upgraded.values { check(connection) }
    for exchange in shard.exchanges.values { check(exchange, wakeUp) }
    for opening in shard.openings.values {
      guard let deadline = opening.phaseDeadline else { continue }
      world.require(deadline > shard.fetched, "a connection attempt's deadline has passed in phase \(opening.phase)")
      world.require(wakeUp.map { $0 <= deadline } ?? false, "no wake-up is set for a connection attempt's deadline")
    }
  }

  /// Records in the stream of each idle connection that the connection has been idle.
  func noteIdle() {
    for connection in shard.connections.pooled.values where shard.pool.isIdle(connection.id) {
      network.stream(of: connection)?.hasBeenIdle = true
    }
  }

  private var socketCount: Int {
    shard.connections.pooled.count + shard.connections.upgraded.count
      + shard.openings.values.reduce(0) { $0 + $1.candidates.count + ($1.transport?.unsentCount != nil ? 1 : 0) }
  }

  private func check(_ connection: Connection) {
    guard let stream = network.stream(of: connection) else {
      return world.violate("the connection \(connection.id) has no socket")
    }
    let registered = stream.registration?.interest ?? []
    world.require(
      registered == connection.interest,
      "\(stream.name): watched for \(registered.rawValue), but the shard assumes \(connection.interest.rawValue)")
    world.require(
      stream.registration.map { $0.token == connection.id.rawValue } ?? true,
      "\(stream.name): watched with a wrong token")
    let isPaused = connection.exchange?.isPaused == true
    world.require(
      registered.contains(.readable) != isPaused, "\(stream.name): both paused and watched is \(isPaused)")
    world.require(
      connection.transport.unsentCount == 0 || connection.sendFailure != nil || registered.contains(.writable),
      "\(stream.name): bytes are unsent, but the socket isn't watched for room")
    guard let exchange = connection.exchange else { return }
    world.require(shard.exchanges[exchange.id] === exchange, "\(stream.name): its exchange has ended")
    world.require(exchange.connection === connection, "\(stream.name): its exchange has another connection")
  }

  private func check(_ exchange: Exchange, _ wakeUp: Instant?) {
    let name = "request \(exchange.id - 1)"
    if shard.backlog.restarts.contains(where: { $0 === exchange }) {
      world.require(exchange.phase == .setup, "\(name): will be replayed in phase \(exchange.phase)")
      return world.require(
        wakeUp.map { $0 <= shard.now } ?? false, "\(name): will be replayed, but no wake-up is set")
    }
    if let connection = exchange.connection {
      world.require(connection.exchange === exchange, "\(name): on a connection that serves another exchange")
      world.require(shard.connections[connection.id] === connection, "\(name): on a connection that doesn't exist")
    } else {
      world.require(
        [.poolWait, .resolve, .connect, .proxy].contains(exchange.phase) || exchange.isDiscarded,
        "\(name): without a connection in phase \(exchange.phase)")
    }
    guard let deadline = exchange.deadline else { return }
    world.require(deadline > shard.fetched, "\(name): its deadline has passed in phase \(exchange.phase)")
    world.require(wakeUp.map { $0 <= deadline } ?? false, "\(name): no wake-up is set for its deadline")
  }

  /// Returns whether an exchange currently has no time limit, because its timeouts don't set one.
  func isUnlimited(_ id: ExchangeID) -> Bool {
    guard let exchange = shard.exchanges[id] else { return false }
    // An exchange that waits for a connection attempt has the attempt's time limits.
    return exchange.deadline == nil
  }

  /// Checks the shard's state after all events have occurred: no exchange, connection, deadline or waiter may be left.
  func checkAtRest() {
    world.require(shard.exchanges.isEmpty, "exchanges are left: \(shard.exchanges.serials.sorted())")
    world.require(shard.connections.pooled.isEmpty, "\(shard.connections.pooled.count) connections are left")
    world.require(
      shard.connections.upgraded.isEmpty, "\(shard.connections.upgraded.count) connections to another protocol are left"
    )
    // A connection attempt without waiters continues for as long as its timeouts allow.
    let isHanging = { (opening: Opening) in opening.timeouts.limit(of: opening.phase) == nil }
    world.require(shard.openings.values.allSatisfy(isHanging), "openings are left")
    world.require(shard.deadlines.count == 0, "\(shard.deadlines.count) deadlines are left")
    world.require(shard.backlog.postponed.isEmpty && shard.poolWork.pendingActions.isEmpty, "work is left")
    guard shard.openings.isEmpty else { return }
    world.require(shard.openings.candidates.isEmpty, "\(shard.openings.candidates.count) tokens of candidates are left")
    let total = shard.pool.counters().total
    world.require(
      shard.pool.connectionCount == 0 && total.waiting == 0 && total.active == 0 && total.idle == 0,
      "the pool isn't empty")
  }

  var hasHangingOpenings: Bool { !shard.openings.isEmpty }
}

extension SimulatedNetwork {
  fileprivate func stream(of connection: Connection) -> SimulatedStream? {
    streams.first { $0.number == connection.transport.socket.number }
  }
}
