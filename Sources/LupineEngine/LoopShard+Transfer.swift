// Moving bytes: requests out, responses in.

internal import LupineReactor
internal import LupineWire

/// Room to read into, taken while it is in use, so that a nested use gets its own.
struct Buffers {
  /// 64 KiB: four TLS records, or what a loopback socket usually has at once.
  static let byteCount = 64 * 1024

  private var free: [[UInt8]] = []

  mutating func take() -> [UInt8] {
    free.popLast() ?? [UInt8](repeating: 0, count: Self.byteCount)
  }

  mutating func put(_ buffer: consuming [UInt8]) {
    free.append(buffer)
  }
}

extension LoopShard {
  /// A body is pulled from its source while fewer bytes than this wait to be sent.
  private static let lowWaterBytes = 64 * 1024
  /// How much is read from, or written to, one connection before others get their turn.
  private static let bytesPerTurnMax = 1024 * 1024

  // MARK: Out

  /// Sends the exchange's request on a connection that serves nobody else.
  func start(_ exchange: Exchange, on id: ConnectionID) {
    guard let connection = connections[id] else { preconditionFailure("the pool knows a connection that isn't there") }
    connection.exchange = exchange
    connection.useCount += 1
    connection.wire.start(method: exchange.request.method, closes: exchange.request.asksForClose)
    exchange.begin(on: connection, now: now)
    do {
      try connection.transport.queue(exchange.headBytes)
    } catch {
      return fail(exchange, error)
    }
    pump(connection)
    if exchanges[exchange.id] === exchange { rearm(exchange) }
  }

  /// Sends as much as the kernel takes.
  func pump(_ connection: Connection) {
    do {
      if let exchange = connection.exchange {
        try pump(exchange, connection)
      } else {
        try connection.transport.flush()
      }
      updateInterest(connection)
    } catch {
      guard let exchange = connection.exchange else {
        return perform(pool.evict(connection.id, connection.key, .closedByPeer))
      }
      // The server may have answered before it closed, so its bytes come first, unless others have to go before them.
      if !exchange.isHeld { receive(connection) }
      if connection.exchange === exchange { fail(exchange, error) }
    }
  }

  private func pump(_ exchange: Exchange, _ connection: Connection) throws(Failure) {
    var sentCount = 0
    while sentCount < Self.bytesPerTurnMax {
      try pull(exchange, connection)
      let queued = connection.transport.unsentCount
      if queued == 0 { break }
      defer { if connection.transport.unsentCount < queued { exchange.noteSent() } }
      try connection.transport.flush()
      let unsent = connection.transport.unsentCount
      sentCount += queued - unsent
      if unsent < queued, exchange.phase == .send { exchange.enter(.send, now: now) }
      if unsent > 0 { return }
    }
    guard exchange.body.isExhausted, exchange.metrics.requestEnd == nil else { return }
    exchange.metrics.requestEnd = now
    connection.wire.requestSent()
    if exchange.phase == .send { exchange.enter(.firstByte, now: now) }
    rearm(exchange)
  }

  private func pull(_ exchange: Exchange, _ connection: Connection) throws(Failure) {
    while !exchange.body.isExhausted, connection.transport.unsentCount < Self.lowWaterBytes {
      var bytes: [UInt8] = []
      do {
        try exchange.body.pull(Self.lowWaterBytes, into: &bytes)
      } catch {
        throw .bodyUnreadable(error)
      }
      exchange.metrics.requestBodyBytes += UInt64(bytes.count)
      try connection.transport.queue(bytes)
    }
  }

  // MARK: In

  /// Reads what has arrived.
  func receive(_ connection: Connection) {
    var buffer = buffers.take()
    var ciphertext = buffers.take()
    defer {
      buffers.put(buffer)
      buffers.put(ciphertext)
    }
    var total = 0
    while total < Self.bytesPerTurnMax {
      do {
        switch try connection.transport.receive(into: &buffer, ciphertext: &ciphertext) {
        case .nothing: return flushAnswers(connection)
        case .end: return receiveEnd(connection)
        case .bytes(let count):
          total += count
          process(connection, buffer.span.extracting(0..<count))
          let goesOn = connections[connection.id] === connection && connection.exchange?.isHeld != true
          guard goesOn, count == buffer.count || connection.key.tls != nil else { return }
        }
      } catch {
        guard let exchange = connection.exchange else {
          return perform(pool.evict(connection.id, connection.key, .closedByPeer))
        }
        return fail(exchange, error)
      }
    }
    // Others first. What TLS has decrypted by now is announced by no event of the socket.
    postponed.append(connection.id)
  }

  /// Reads on where a turn had no time for more.
  func receivePostponed() {
    var ids: [ConnectionID] = []
    swap(&ids, &postponed)
    for id in ids {
      if let connection = connections[id], connection.exchange?.isHeld != true { receive(connection) }
    }
  }

  /// Reads events out of received plaintext.
  private func process(_ connection: Connection, _ bytes: borrowing Span<UInt8>) {
    guard let exchange = connection.exchange else {
      return perform(pool.evict(connection.id, connection.key, .unsolicitedBytes))
    }
    if exchange.delivery != .responseBegan {
      exchange.delivery = .responseBegan
      exchange.metrics.responseStart = now
    }
    exchange.enter(.receive, now: now)
    var cursor = 0
    do {
      while connection.exchange === exchange {
        switch try connection.next(bytes, at: &cursor) {
        case .needMoreBytes: return rearm(exchange)
        case .informational(let head): exchange.sink.receive(informational: head)
        case .head(let head, let framing): try exchange.receive(head: head, framing: framing)
        case .body(let range):
          var scratch = buffers.take()
          defer { buffers.put(scratch) }
          try exchange.receive(body: bytes.extracting(range), scratch: &scratch)
          if exchange.hasKept {
            connection.unread.append(copying: bytes, cursor..<bytes.count)
            return updateInterest(connection)
          }
        case .end(let trailers, let reason): end(exchange, connection, trailers, closing: reason)
        }
      }
    } catch {
      fail(exchange, error)
    }
  }

  private func receiveEnd(_ connection: Connection) {
    guard let exchange = connection.exchange else {
      return perform(pool.evict(connection.id, connection.key, .closedByPeer))
    }
    do {
      if case .end(let trailers, let reason) = try connection.end() {
        end(exchange, connection, trailers, closing: reason)
      }
    } catch {
      fail(exchange, error)
    }
  }

  private func end(
    _ exchange: Exchange, _ connection: Connection, _ trailers: Fields, closing reason: CloseReason?
  ) {
    do {
      try exchange.finishBody()
    } catch {
      return fail(exchange, error)
    }
    exchange.metrics.responseEnd = now
    exchange.connection = nil
    // Released before the sink hears the end, so that its next request finds the connection idle.
    release(connection, closing: reason)
    finish(exchange, .success(trailers))
  }

  // MARK: Holding back

  /// The sink has got more or less room.
  func hold(_ exchange: Exchange) {
    exchange.enter(exchange.phase, now: now)
    guard let connection = exchange.connection else { return rearm(exchange) }
    if !exchange.isHeld {
      var scratch = buffers.take()
      defer { buffers.put(scratch) }
      do {
        guard try exchange.deliverKept(scratch: &scratch) else { return }
      } catch {
        return fail(exchange, error)
      }
      var unread: [UInt8] = []
      swap(&unread, &connection.unread)
      if !unread.isEmpty || connection.wire.hasPendingEnd { process(connection, unread.span) }
      // TLS may hold plaintext that no event of the socket will announce.
      if connection.exchange === exchange, !exchange.hasKept { receive(connection) }
    }
    if connection.exchange === exchange {
      updateInterest(connection)
      rearm(exchange)
    }
  }

  /// Asks the poller for what can be dealt with: nothing to read while the sink has no room.
  func updateInterest(_ connection: Connection) {
    guard connections[connection.id] === connection else { return }
    var wanted: Poller.Interest = connection.exchange?.isHeld == true ? [] : .readable
    // What the turn had no time for goes on in the next one, as soon as the kernel takes more.
    let hasMore = connection.transport.unsentCount > 0 || connection.exchange?.body.isExhausted == false
    if hasMore { wanted.insert(.writable) }
    let before = connection.interest
    guard wanted != before else { return }
    connection.interest = wanted
    let number = connection.transport.socket.number
    do {
      if wanted.isEmpty {
        // Errors are reported to whoever watches at all, again and again while nobody reads them.
        try loop.unwatch(number)
      } else if before.isEmpty {
        try loop.watch(number, wanted, token: connection.id)
      } else {
        try loop.rewatch(number, wanted, token: connection.id)
      }
    } catch {
      if let exchange = connection.exchange { fail(exchange, .outOfResources, cause: .system(error)) }
    }
  }

  // TLS answers of its own accord, to a key update for instance.
  private func flushAnswers(_ connection: Connection) {
    if connection.transport.unsentCount > 0 { pump(connection) }
  }
}
