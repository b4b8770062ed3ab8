// What is waited for on a connection: nothing to read while the sink has no room.

@_spi(Loop) internal import LupineReactor
internal import LupineWire

extension Shard {
  /// Gives the sink more or less room.
  func changeRoom(of exchange: Exchange, _ change: (Exchange) -> Void) {
    let wasHeld = exchange.isHeld
    change(exchange)
    // While it was held the server could do nothing; otherwise its time goes on.
    if wasHeld { exchange.enter(exchange.phase, now: now) }
    guard let connection = exchange.connection else { return rearm(exchange) }
    // Nobody has watched it meanwhile.
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
      // TLS may hold plaintext that no event of the socket will announce.
      if connection.exchange === exchange, !exchange.hasKept { receive(connection) }
    }
    // Also if the exchange has ended meanwhile, since the rest of its response may be read without it.
    updateInterest(connection)
    if connection.exchange === exchange { rearm(exchange) }
  }

  /// Asks the poller for what can be dealt with: nothing to read while the sink has no room.
  func updateInterest(_ connection: Connection) {
    guard !connection.isClosed else { return }
    var wanted: Poller.Interest = connection.exchange?.isHeld == true ? [] : .readable
    // What the turn had no time for goes on in the next one, as soon as the kernel takes more.
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
        // Errors are reported to whoever watches at all, again and again while nobody reads them.
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
        // What comes on it meanwhile would be taken for the next response. One that is promised is watched with its request.
        lose(connection, .exchangeFailed)
      }
    }
  }
}
