// Connections that have left HTTP: 101 (RFC 9110 §7.8). From then on the request's body is what is said and the
// response's body is what is heard, byte for byte.

internal import LupineWire

extension Shard {
  /// The server has switched protocols, or opened a tunnel.
  func handOver(_ head: ResponseHead, _ exchange: Exchange, _ connection: Connection) throws(Failure) {
    trace(.headReceived(exchange: exchange.id, status: head.status))
    connection.use = .upgraded(exchange)
    // It counts for no limit of the pool's any more, as it may live for days. First, as its slot may be given away at once.
    connections[connection.id] = nil
    handedOver[connection.id] = connection
    perform(pool.detach(connection.id))
    let isWanted = exchange.requestState == .awaitingUpgrade
    let disposition = try exchange.receive(head: head, framing: .none, transferCodings: [])
    // A tunnel that nobody goes through: the response has no content and ends the connection.
    guard isWanted else { return end(exchange, connection, Fields(), closing: .upgraded) }
    exchange.requestState = .sending
    exchange.response = .upgraded
    if disposition == .discard { discardBody(exchange) }
  }

  /// Hands over bytes of the other protocol.
  func passOn(_ bytes: borrowing Span<UInt8>, _ exchange: Exchange, _ connection: Connection) {
    do {
      try withScratch(for: exchange) { room throws(Failure) in try exchange.receive(body: bytes, scratch: &room) }
      if exchange.isHeld { updateInterest(connection) }
    } catch {
      fail(exchange, error)
    }
  }
}
