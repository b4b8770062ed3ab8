// Shard+Sending: sends requests: the head, then the body as fast as the kernel accepts it.

@_spi(Loop) internal import LupineReactor
internal import LupineWire

extension Shard {
  /// The number of unsent bytes of a connection below which the shard reads more bytes from the request body's source: 64 KiB.
  private static let lowWaterBytes = 64 * 1024
  /// The maximum number of bytes read from or written to one connection in one iteration of the loop: 1 MiB.
  static let bytesPerTurnMax = 1024 * 1024

  /// Starts the exchange on a connection that the pool has given to it: sends the request.
  func start(_ exchange: Exchange, on id: ConnectionID) {
    guard let connection = connections.pooled[id] else {
      preconditionFailure("the pool returned an unknown connection")
    }
    if exchange.stream != nil { return startStream(exchange, connection) }
    if let authorities = connection.requestedAuthorities, choosesIdentity(exchange) {
      return reportIdentityRequest(from: authorities, connection, exchange)
    }
    connection.use = .serving(exchange)
    connection.wire.start(
      method: exchange.request.method, closes: exchange.traits.asksForClose,
      upgrades: exchange.traits.offersUpgrade)
    disarm(exchange)
    exchange.begin(on: connection, now: now)
    exchange.request.onBegin?(exchange.metrics)
    trace(
      .requestStarted(
        exchange: exchange.id, connection: UInt64(id.serial), isReused: exchange.metrics.isReusedConnection))
    do {
      if let observation = exchange.observation {
        let head = observation.begin(exchange.request, head: exchange.headBytes)
        exchange.metrics.requestHeadBytes = head.count
        try connection.transport.queue(head)
      } else {
        try connection.transport.queue(exchange.headBytes)
      }
    } catch {
      return fail(exchange, error)
    }
    pump(connection, for: exchange)
    // If the entire request has been sent, `pump` has already set the deadline.
    if exchange.phase == .send, !exchange.hasEnded { rearm(exchange) }
  }

  /// Sends the connection's unsent bytes and its exchange's request body, as far as the kernel accepts them.
  func pump(_ connection: Connection) {
    pump(connection, for: connection.exchange)
  }

  private func pump(_ connection: Connection, for exchange: Exchange?) {
    guard connection.sendFailure == nil else { return }
    do {
      if let exchange {
        try pump(exchange, connection)
      } else {
        try connection.transport.flush()
      }
      updateInterest(connection)
    } catch {
      guard let exchange = connection.exchange else { return lose(connection, .closedByPeer) }
      // If the socket caused the error, the server may have responded before it closed the connection, so the exchange fails
      // only if nothing more can be read. If the body caused the error, the exchange fails at once.
      guard case .system = error else { return fail(exchange, error) }
      connection.sendFailure = error
      // A stream whose reader is idle would not notice the failure.
      if exchange.stream != nil, exchange.isPaused { return fail(exchange, error) }
      if exchange.isPaused { updateInterest(connection) } else { receive(connection) }
    }
  }

  private func pump(_ exchange: Exchange, _ connection: Connection) throws(Failure) {
    var count = 0
    repeat {
      var pulledCount = 0
      if exchange.hasBodyToSend {
        if connection.transport.canSendFiles, exchange.body.isAtDirectFile {
          guard let sent = try sendFile(exchange, connection, Self.bytesPerTurnMax - count) else { return }
          count += sent
          continue
        }
        pulledCount = try pull(exchange, connection)
      }
      let queued = connection.transport.unsentCount
      if queued == 0 { break }
      let unsent = try flush(queued, exchange, connection)
      // Bytes pulled from the body count even if fewer are sent, because compressing them takes time.
      count += max(queued - unsent, pulledCount)
      if unsent > 0 { return }
    } while exchange.hasBodyToSend && count < Self.bytesPerTurnMax
    if let stream = exchange.stream { return try reportSent(stream, exchange, connection) }
    if exchange.requestState == .awaitingContinue, exchange.phase == .send {
      exchange.enter(.awaitContinue, now: now)
      rearm(exchange)
    }
    // After an offer to upgrade, the body belongs to the new protocol and is not part of the request.
    guard exchange.isBodyExhausted || exchange.requestState == .awaitingUpgrade, exchange.metrics.requestEnd == nil
    else {
      return
    }
    exchange.metrics.requestEnd = now
    trace(.requestSent(exchange: exchange.id))
    connection.wire.requestSent()
    if exchange.phase == .send { exchange.enter(.firstByte, now: now) }
    rearm(exchange)
  }

  /// Sends the bytes queued on the connection. Returns the number of bytes that the kernel didn't accept.
  private func flush(_ queued: Int, _ exchange: Exchange, _ connection: Connection) throws(Failure) -> Int {
    let unsent: Int
    do {
      unsent = try connection.transport.flush()
    } catch {
      if connection.transport.unsentCount < queued { exchange.noteSent() }
      throw error
    }
    if unsent < queued {
      exchange.noteSent()
      if exchange.phase == .send || exchange.phase == .receive { exchange.enter(exchange.phase, now: now) }
    }
    return unsent
  }

  /// Sends part of a file of the request body with sendfile(2). Returns the number of bytes sent, or nil if the kernel accepts none
  /// now.
  private func sendFile(_ exchange: Exchange, _ connection: Connection, _ countMax: Int) throws(Failure) -> Int? {
    guard let sent = try exchange.body.sendFile(to: connection.transport.socket, countMax: countMax) else {
      return nil
    }
    exchange.metrics.requestBodyBytes = exchange.body.byteCount
    guard sent > 0 else { return 0 }
    touch(exchange)
    exchange.noteSent()
    if exchange.phase == .send || exchange.phase == .receive { exchange.enter(exchange.phase, now: now) }
    return sent
  }

  /// Reads bytes of the request body and queues them on the connection, until about `lowWaterBytes` bytes are queued. Returns the
  /// number of bytes requested from the body's source.
  private func pull(_ exchange: Exchange, _ connection: Connection) throws(Failure) -> Int {
    var count = 0
    while exchange.hasBodyToSend, connection.transport.unsentCount < Self.lowWaterBytes, count < Self.bytesPerTurnMax {
      // The file is sent directly, after the queued bytes.
      if !connection.transport.isEncrypted, exchange.body.isAtDirectFile { return count }
      var bytes: [UInt8] = []
      let pulled = try exchange.body.pull(Self.lowWaterBytes, into: &bytes)
      count += Self.lowWaterBytes
      exchange.metrics.requestBodyBytes = exchange.body.byteCount
      if !bytes.isEmpty {
        touch(exchange)
        try connection.transport.queue(bytes)
      }
      let wasAwaiting = exchange.requestState == .awaitingProducer
      exchange.requestState = pulled == .nothingYet ? .awaitingProducer : .sending
      if wasAwaiting, !bytes.isEmpty || pulled != .nothingYet {
        exchange.enter(exchange.phase, now: now)
        rearm(exchange)
      }
      if pulled == .nothingYet { return count }
    }
    return count
  }

  /// Sends the request body although the server's `100 Continue` hasn't arrived in time.
  func sendUnasked(_ exchange: Exchange) {
    exchange.requestState = .sending
    exchange.enter(.send, now: now)
    if let connection = exchange.connection { pump(connection) }
    if !exchange.hasEnded { rearm(exchange) }
  }
}
