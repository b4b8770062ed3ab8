// Shard+Holding: stops reading from a connection while its sink has no room, and updates the poller.

@_spi(Loop) internal import LupineReactor
internal import LupineWire

extension Shard {
  /// Changes the sink's room by `change` (credit or pause), then delivers held bytes and reads on if there is room.
  func changeRoom(of exchange: Exchange, _ change: (Exchange) -> Void) {
    let wasHeld = exchange.isHeld
    change(exchange)
    // Restarts the phase's time after a hold, because the server could do nothing meanwhile. Otherwise the time
    // continues.
    if wasHeld { exchange.enter(exchange.phase, now: now) }
    guard let connection = exchange.connection else { return rearm(exchange) }
    // The poller didn't watch the connection while it was held, so more bytes may be waiting.
    if wasHeld { connection.mayHoldMore = true }
    if !exchange.isHeld {
      if exchange.hasKept { touch(exchange) }
      do {
        let isAllDelivered = try withScratch(for: exchange) { room throws(Failure) in
          try exchange.deliverKept(scratch: &room)
        }
        guard isAllDelivered else { return }
      } catch {
        return fail(exchange, error)
      }
      var unread: [UInt8] = []
      swap(&unread, &connection.unread)
      if !unread.isEmpty || connection.wire.hasPendingEnd { process(connection, unread.span) }
      // TLS may hold plaintext that no socket event announces.
      if connection.exchange === exchange, !exchange.hasKept { receive(connection) }
    }
    // Needed even if the exchange has ended, because the connection may be draining the rest of its response.
    updateInterest(connection)
    if connection.exchange === exchange { rearm(exchange) }
  }

  /// Updates the events that the poller reports for a connection. Doesn't watch for input while the sink has no room.
  func updateInterest(_ connection: Connection) {
    guard !connection.isClosed else { return }
    var wanted: Poller.Interest = connection.exchange?.isHeld == true ? [] : .readable
    // If this iteration had no time to send everything, the next one continues when the socket is writable.
    let exchange = connection.exchange
    let hasMore =
      connection.transport.unsentCount > 0
      || (exchange?.hasBodyToSend == true && exchange?.requestState != .awaitingProducer)
    if hasMore, connection.sendFailure == nil { wanted.insert(.writable) }
    let before = connection.interest
    guard wanted != before else { return }
    connection.interest = wanted
    let number = connection.transport.socket.number
    do {
      if wanted.isEmpty {
        // Unwatches the socket, because epoll reports errors to any watcher, again and again until they are read.
        try network.unwatch(number)
      } else if before.isEmpty {
        try network.watch(number, wanted, token: connection.id.rawValue)
      } else {
        try network.rewatch(number, wanted, token: connection.id.rawValue)
      }
    } catch {
      connection.interest = before
      if let exchange = connection.exchange {
        fail(exchange, .outOfResources, cause: .system(error))
      } else if !isPromised(connection) {
        // Unwatched bytes would be taken for part of the next response. A promised connection is watched when its
        // request starts.
        lose(connection, .exchangeFailed)
      }
    }
  }
}
