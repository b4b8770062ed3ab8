// Shard+Backpressure: stops reading from a connection while its exchange is paused, and updates the poller.

@_spi(Loop) internal import LupineReactor
internal import LupineWire

extension Shard {
  /// Calls `change`, which pauses or resumes the exchange, or extends its receive window. Then delivers pending bytes and continues
  /// to read, unless the exchange is paused.
  func changeWindow(of exchange: Exchange, _ change: (Exchange) -> Void) {
    let wasPaused = exchange.isPaused
    change(exchange)
    // After a pause, the phase's time restarts, because the server couldn't make progress during the pause. Otherwise the time
    // continues.
    if wasPaused { exchange.enter(exchange.phase, now: now) }
    guard let connection = exchange.connection else { return rearm(exchange) }
    // The poller didn't watch the connection during the pause, so more bytes may be waiting.
    if wasPaused { connection.mayHoldMore = true }
    if !exchange.isPaused {
      if exchange.hasPendingBody { touch(exchange) }
      do {
        let isAllDelivered = try withScratch(for: exchange) { room throws(Failure) in
          try exchange.deliverPending(scratch: &room)
        }
        guard isAllDelivered else { return }
      } catch {
        return fail(exchange, error)
      }
      let unread = Swift.exchange(&connection.unread, with: [])
      if !unread.isEmpty || connection.wire.hasPendingEnd { process(connection, unread.span) }
      // TLS may hold plaintext that no socket event announces.
      if connection.exchange === exchange, !exchange.hasPendingBody { receive(connection) }
    }
    // Needed even if the exchange has ended, because the connection may be draining the rest of its response.
    updateInterest(connection)
    if connection.exchange === exchange { rearm(exchange) }
  }

  /// Tells the poller for which events to watch the connection. While the exchange is paused, the poller doesn't watch for input.
  func updateInterest(_ connection: Connection) {
    guard !connection.isClosed else { return }
    let exchange = connection.exchange
    // While a verifier decides about a stream's TLS handshake, nothing is read either.
    let isReading = exchange?.isPaused != true && exchange?.stream?.isVerifying != true
    var wanted: Poller.Interest = isReading ? .readable : []
    // If this iteration had no time to send everything, a later iteration continues when the socket is writable.
    let hasMore =
      connection.transport.unsentCount > 0
      || (exchange?.hasBodyToSend == true && exchange?.requestState != .awaitingProducer)
    if hasMore, connection.sendFailure == nil { wanted.insert(.writable) }
    let before = connection.interest
    // Compares the bits, because sets of options are compared without specialization.
    guard wanted.rawValue != before.rawValue else { return }
    connection.interest = wanted
    let number = connection.transport.socket.number
    do {
      if wanted.isEmpty {
        // Removes the socket from the poller, because epoll repeats an error in each iteration until the error is read.
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
        // An idle socket that can't be watched is closed: if bytes arrived unnoticed, they would be mistaken for part of the
        // next response. A connection reserved for a waiter is watched when the waiter's request starts.
        lose(connection, .exchangeFailed)
      }
    }
  }
}
