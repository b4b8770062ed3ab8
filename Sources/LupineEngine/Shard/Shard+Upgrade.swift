// Shard+Upgrade: connections that have switched to another protocol (101, RFC 9110 §7.8). The request's body then contains the
// bytes for the server, and the response's body the bytes from it, unchanged.

internal import LupineWire

extension Shard {
  /// Handles the head of a response that switches protocols (101) or opens a tunnel (2xx to CONNECT).
  func switchProtocols(_ head: ResponseHead, _ exchange: Exchange, _ connection: Connection) throws(Failure) {
    trace(.headReceived(exchange: exchange.id, status: head.status))
    // The observation ends here, because the other protocol's connection may exist for days.
    if let observation = exchange.observation {
      observation.receive(status: head.status, minorVersion: head.minorVersion)
      observation.end(nil, exchange.request, exchange.metrics, now: now)
    }
    connection.use = .upgraded(exchange)
    // The connection leaves the pool and its limits, because it may exist for days. It is removed from the table first, because
    // `detach` may immediately reuse its slot.
    connections.pooled[connection.id] = nil
    connections.upgraded[connection.id] = connection
    perform(pool.detach(connection.id))
    let isWanted = exchange.requestState == .awaitingUpgrade
    let disposition = try exchange.receive(head: head, framing: .none, transferCodings: [])
    // The peer has opened a tunnel that the request didn't offer to use. The response has no content and ends the connection.
    guard isWanted else { return completeResponse(exchange, connection, Fields(), closing: .upgraded) }
    exchange.requestState = .sending
    exchange.response = .upgraded
    if let resumptions { exchange.openWebSocket?.use(resumptions) }
    if disposition == .discard { discardBody(exchange) }
  }

  /// Delivers bytes of the other protocol to the exchange's sink, as the response body.
  func passOn(_ bytes: borrowing Span<UInt8>, _ exchange: Exchange, _ connection: Connection) {
    do {
      try withScratch(for: exchange) { room throws(Failure) in try exchange.receive(body: bytes, scratch: &room) }
      if exchange.isPaused { updateInterest(connection) }
    } catch {
      fail(exchange, error)
    }
  }
}
