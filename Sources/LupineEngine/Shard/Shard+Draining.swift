// Bodies that nobody wants: a little is read, so that the connection can be used again; with more it is closed.

@_spi(Loop) internal import LupineReactor
internal import LupineWire

extension Shard {
  /// How long an unwanted body is read: 1 s. A connection to a server that takes longer is cheaper to open anew.
  private static let drainTime = Duration.seconds(1)

  /// Ends the exchange in the middle of its response's body, as its sink wants no more of it: when a short rest has been
  /// read, so that who goes on with another request finds the connection idle, or else at once.
  func discardBody(_ exchange: Exchange) {
    guard !exchange.isDiscarded else { return }
    guard let connection = exchange.connection, exchange.hasHead else { return fail(exchange, .cancelled) }
    let isRestShort = exchange.isRestShort(configuration.drainedBytesMax)
    exchange.response = .discarded
    detach(exchange, connection, isRestShort: isRestShort, notifies: true)
    if connection.isDraining {
      // The connection's deadline isn't the exchange's any more.
      rearm(exchange)
    } else {
      finishDiscarded(exchange)
    }
  }

  private func finishDiscarded(_ exchange: Exchange) {
    exchange.metrics.responseEnd = now
    finish(exchange, .success(Fields()))
  }

  /// Reads what has been kept back of a body that has just been found unwanted.
  func drainKept(_ connection: Connection) {
    // Nobody has watched it while it was held.
    connection.mayHoldMore = true
    var unread: [UInt8] = []
    swap(&unread, &connection.unread)
    drain(connection, unread.span)
    // TLS may hold plaintext that no event of the socket will announce.
    if connection.isDraining { receive(connection) }
    updateInterest(connection)
  }

  /// Separates an exchange from its connection, which drains the rest of the response if that is short, and is closed
  /// otherwise. With `notifies`, the exchange ends when draining does.
  func detach(_ exchange: Exchange, _ connection: Connection, isRestShort: Bool, notifies: Bool) {
    exchange.connection = nil
    let isRequestSent = exchange.metrics.requestEnd != nil
    guard isRequestSent, !connection.isUpgraded, isRestShort else {
      return release(connection, closing: isRequestSent ? .bodyUnwanted : .requestUnfinished)
    }
    let deadline = now + Self.drainTime
    connection.use = .draining(
      Connection.Draining(
        byteCountMax: configuration.drainedBytesMax, deadline: deadline, exchange: notifies ? exchange : nil))
    watch(connection, until: deadline)
  }

  /// Reads on in a body that nobody wants.
  func drain(_ connection: Connection, _ bytes: borrowing Span<UInt8>) {
    guard case .draining(var draining) = connection.use else { return }
    guard bytes.count <= draining.byteCountMax else { return stopDraining(connection) }
    draining.byteCountMax -= bytes.count
    connection.use = .draining(draining)
    var cursor = 0
    do {
      while true {
        switch try connection.next(bytes, at: &cursor) {
        case .needMoreBytes: return
        case .informational, .head, .body, .handedOver: break
        case .end(_, let reason): return endDraining(connection, closing: reason ?? surplus(on: connection))
        }
      }
    } catch {
      stopDraining(connection)
    }
  }

  /// Gives up a connection that is being drained.
  func stopDraining(_ connection: Connection) {
    endDraining(connection, closing: .bodyUnwanted)
  }

  private func endDraining(_ connection: Connection, closing reason: CloseReason?) {
    guard case .draining(let draining) = connection.use else { return }
    release(connection, closing: reason)
    // It may have been cancelled meanwhile.
    if let exchange = draining.exchange, !exchange.hasEnded { finishDiscarded(exchange) }
  }

  /// A connection that serves nobody has ended, or its peer said something.
  func lose(_ connection: Connection, _ reason: CloseReason) {
    if connection.isDraining {
      endDraining(connection, closing: reason)
    } else {
      perform(pool.evict(connection.id, reason))
    }
  }
}
