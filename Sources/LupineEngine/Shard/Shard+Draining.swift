// Bodies that nobody wants: a little is read, so that the connection can be used again; with more it is closed.

@_spi(Loop) internal import LupineReactor
internal import LupineWire

extension Shard {
  /// How long an unwanted body is read: 1 s. A connection to a server that takes longer is cheaper to open anew.
  private static let drainTime = Duration.seconds(1)

  /// Ends the exchange in the middle of its response's body, as its sink wants no more of it: when a short rest has been
  /// read, so that who goes on with another request finds the connection idle, or else at once.
  func discardBody(_ exchange: Exchange) {
    guard !exchange.isDiscarding else { return }
    guard let connection = exchange.connection, exchange.hasHead else { return fail(exchange, .cancelled) }
    exchange.isDiscarding = true
    detach(exchange, connection)
    if connection.drainCredit != nil {
      connection.discarding = exchange
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
    if connection.drainCredit != nil { receive(connection) }
    updateInterest(connection)
  }

  /// Parts an exchange from its connection, which is kept if the rest of the response is short.
  func detach(_ exchange: Exchange, _ connection: Connection) {
    exchange.connection = nil
    connection.exchange = nil
    let isRequestSent = exchange.metrics.requestEnd != nil
    guard isRequestSent, !connection.isHandedOver, exchange.isRestShort(configuration.drainedBytesMax) else {
      return release(connection, closing: isRequestSent ? .bodyUnwanted : .requestUnfinished)
    }
    connection.drainCredit = configuration.drainedBytesMax
    let end = now + Self.drainTime
    connection.drainingEnd = end
    watch(connection, until: end)
  }

  /// Reads on in a body that nobody wants.
  func drain(_ connection: Connection, _ bytes: borrowing Span<UInt8>) {
    guard let credit = connection.drainCredit else { return }
    guard bytes.count <= credit else { return stopDraining(connection) }
    connection.drainCredit = credit - bytes.count
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
    guard connection.drainCredit != nil else { return }
    endDraining(connection, closing: .bodyUnwanted)
  }

  private func endDraining(_ connection: Connection, closing reason: CloseReason?) {
    connection.drainCredit = nil
    connection.drainingEnd = nil
    let exchange = connection.discarding.take()
    release(connection, closing: reason)
    // It may have been cancelled meanwhile.
    if let exchange, !exchange.hasEnded { finishDiscarded(exchange) }
  }

  /// A connection that serves nobody has ended, or its peer said something.
  func lose(_ connection: Connection, _ reason: CloseReason) {
    if connection.drainCredit != nil {
      endDraining(connection, closing: reason)
    } else {
      perform(pool.evict(connection.id, reason))
    }
  }
}
