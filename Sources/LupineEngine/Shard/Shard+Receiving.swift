// Responses in: bytes become events, and events go to the exchange.

@_spi(Loop) internal import LupineReactor
internal import LupineWire

extension Shard {
  /// What a record of TLS counts as at least, of a connection's share of the turn, and each handshake message in front of
  /// it: to read one of a single byte takes as long as to decrypt some 4 KiB.
  private static let recordCostBytes = 4 * 1024

  /// Reads what has arrived.
  func receive(_ connection: Connection) {
    var ciphertext = ciphertextBuffer(for: connection)
    defer { buffers.put(ciphertext) }
    var total = 0
    var decodedBefore: UInt64?
    while total < Self.bytesPerTurnMax {
      do {
        let room = room(on: connection)
        var buffer = buffers.take(room)
        defer { buffers.put(buffer) }
        let start = buffer.count - room
        switch try connection.transport.receive(into: &buffer, from: start, ciphertext: &ciphertext) {
        case .nothing: return receivedAll(connection)
        case .end: return receiveEnd(connection)
        case .noPlaintext: total += ciphertext.count
        case .bytes(let count):
          total += connection.key.isEncrypted ? cost(of: count, on: connection) : count
          // What nobody can answer any more is read to its end.
          connection.mayHoldMore = count == room || connection.sendFailure != nil
          process(connection, buffer.span.extracting(start..<start + count))
          // To decode and hand over what unpacks to a thousand times its size takes its time, too.
          if let exchange = connection.exchange, exchange.isDecoding {
            let decoded = exchange.metrics.decodedBodyBytes
            // It may be another exchange by now.
            total += Int(clamping: decoded - min(decodedBefore ?? decoded, decoded))
            decodedBefore = decoded
          }
          // Of the kernel's bytes a read that doesn't fill its buffer has got all.
          let mayHoldMore = connection.mayHoldMore || connection.key.isEncrypted
          guard mayHoldMore, readsOn(connection) else {
            // One that serves nobody is idle, drained or closed, and what is waited for on it was decided then.
            return connection.exchange == nil ? () : updateInterest(connection)
          }
        }
      } catch {
        guard let exchange = connection.exchange else { return lose(connection, .closedByPeer) }
        return fail(exchange, error)
      }
    }
    // Others first. What TLS has decrypted by now is announced by no event of the socket.
    postpone(connection)
  }

  private func cost(of byteCount: Int, on connection: Connection) -> Int {
    max(byteCount, Self.recordCostBytes) + connection.transport.handshakeMessageCount * Self.recordCostBytes
  }

  /// Reads from the connection in the next turn, whatever the poller says.
  func postpone(_ connection: Connection) {
    guard !connection.isPostponed else { return }
    connection.isPostponed = true
    postponed.append(connection.id)
  }

  /// Whether what comes next on a connection can be dealt with now.
  private func readsOn(_ connection: Connection) -> Bool {
    guard !connection.isClosed else { return false }
    if let exchange = connection.exchange { return !exchange.isHeld }
    return !isPromised(connection)
  }

  /// Reads on where a turn had no time for more.
  func receivePostponed() {
    var ids: [ConnectionID] = []
    swap(&ids, &postponed)
    for id in ids {
      guard let connection = connection(id) else { continue }
      connection.isPostponed = false
      if connection.exchange?.isHeld != true { receive(connection) }
    }
  }

  /// Reads events out of received plaintext.
  func process(_ connection: Connection, _ bytes: borrowing Span<UInt8>) {
    guard let exchange = connection.exchange else {
      return connection.isDraining ? drain(connection, bytes) : lose(connection, .unsolicitedBytes)
    }
    if exchange.delivery != .responseBegan {
      exchange.delivery = .responseBegan
      exchange.metrics.responseStart = now
    }
    exchange.enter(.receive, now: now)
    // Nearly every response comes in one piece: then nothing is to be told behind the turn.
    defer { if !exchange.hasEnded { touch(exchange) } }
    if connection.isUpgraded { return passOn(bytes, exchange, connection) }
    var cursor = 0
    do {
      while connection.exchange === exchange {
        switch try connection.next(bytes, at: &cursor) {
        case .needMoreBytes:
          rearm(exchange)
          // What came may have been just as much as the sink had room for.
          if exchange.isHeld { updateInterest(connection) }
          // Behind everything that came, since sending may fail and then reads on.
          if exchange.phase == .send { pump(connection) }
          return
        case .informational(let head): receive(informational: head, exchange, connection)
        case .head(let head, let framing, let codings): try receive(head, framing, codings, exchange, connection)
        case .body(let range):
          try withScratch(for: exchange) { room throws(Failure) in
            try exchange.receive(body: bytes.extracting(range), scratch: &room)
          }
          if exchange.hasKept {
            connection.unread.append(copying: bytes, cursor..<bytes.count)
            return updateInterest(connection)
          }
        case .end(let trailers, let reason): end(exchange, connection, trailers, closing: reason)
        case .handedOver(let head):
          try handOver(head, exchange, connection)
          if connection.exchange === exchange, cursor < bytes.count {
            process(connection, bytes.extracting(cursor..<bytes.count))
          }
          // Behind everything that came, for the reason above.
          if connection.exchange === exchange { pump(connection) }
          return
        }
      }
      if connection.isDraining {
        drain(connection, bytes.extracting(cursor..<bytes.count))
      }
    } catch {
      fail(exchange, error)
    }
  }

  private func receive(informational head: ResponseHead, _ exchange: Exchange, _ connection: Connection) {
    trace(.headReceived(exchange: exchange.id, status: head.status))
    exchange.sink.receive(informational: head)
    if head.status == 100, exchange.requestState == .awaitingContinue { exchange.requestState = .sending }
    let isWaiting = exchange.requestState == .awaitingContinue
    // What was pulled from the body may still wait for the kernel.
    let isSent = exchange.metrics.requestEnd != nil
    exchange.enter(isWaiting ? .awaitContinue : isSent ? .firstByte : .send, now: now)
  }

  private func receive(
    _ head: ResponseHead, _ framing: BodyFraming, _ codings: [TransferCoding], _ exchange: Exchange,
    _ connection: Connection
  ) throws(Failure) {
    trace(.headReceived(exchange: exchange.id, status: head.status))
    if head.status == 417, exchange.isExpecting, !exchange.body.isSpent {
      // RFC 9110 §10.1.1: sent again without what can't be met.
      detach(exchange, connection, isRestShort: true, notifies: false)
      return sendAgain(exchange, isExpecting: false)
    }
    exchange.refuseBody()
    let disposition = try exchange.receive(head: head, framing: framing, transferCodings: codings)
    if disposition == .discard, connection.exchange === exchange { discardBody(exchange) }
  }

  private func receiveEnd(_ connection: Connection) {
    guard let exchange = connection.exchange else { return lose(connection, .closedByPeer) }
    if connection.isUpgraded { return end(exchange, connection, Fields(), closing: .upgraded) }
    do {
      if case .end(let trailers, let reason) = try connection.end() {
        end(exchange, connection, trailers, closing: reason)
      }
    } catch {
      fail(exchange, error)
    }
  }

  /// Why a connection can't be used again though its response was well-formed: more than that response has come.
  ///
  /// Asked for only if something may lie ready that nobody has looked at: further records in TLS, or what didn't fit the
  /// buffer. A request that waits would take it for its response (RFC 9112 §9.2).
  func surplus(on connection: Connection) -> CloseReason? {
    guard connection.mayHoldMore || (connection.key.isEncrypted && connection.transport.mayHoldPlaintext) else {
      return nil
    }
    // Nothing more could be sent on it.
    if connection.sendFailure != nil { return .closedByPeer }
    var buffer = buffers.take()
    var ciphertext = ciphertextBuffer(for: connection)
    defer {
      buffers.put(buffer)
      buffers.put(ciphertext)
    }
    do {
      return switch try connection.transport.receive(into: &buffer, ciphertext: &ciphertext) {
      // Whose part a record is of that was begun, nobody knows; it may be a ticket, and is rare enough.
      case .nothing: connection.transport.hasUnreadInput ? .unsolicitedBytes : nil
      case .bytes, .noPlaintext: .unsolicitedBytes
      case .end: .closedByPeer
      }
    } catch {
      return .closedByPeer
    }
  }

  func end(
    _ exchange: Exchange, _ connection: Connection, _ trailers: Fields, closing reason: CloseReason?
  ) {
    do {
      try exchange.finishBody()
    } catch {
      return fail(exchange, error)
    }
    let reason = reason ?? surplus(on: connection)
    exchange.metrics.responseEnd = now
    exchange.metrics.closeReason = reason
    exchange.connection = nil
    // Released before the sink hears the end, so that its next request finds the connection idle.
    release(connection, closing: reason)
    finish(exchange, .success(trailers))
  }

  /// How much is read at a time: of a body that is handed over as it came, as much as its sink takes, in few pieces. TLS
  /// gives a record at a time whatever the room, and a decoder works in pieces of its own.
  private func room(on connection: Connection) -> Int {
    guard let exchange = connection.exchange, exchange.hasHead, !exchange.isDecoding, !connection.key.isEncrypted else {
      return Buffers.byteCount
    }
    return min(max(exchange.credit, Buffers.byteCount), Buffers.bulkByteCount)
  }

  /// Room for what arrives through TLS.
  private func ciphertextBuffer(for connection: Connection) -> [UInt8] {
    connection.key.isEncrypted ? buffers.take() : []
  }

  /// Gives room to decode a body into, if it is to be decoded.
  func withScratch<Result>(
    for exchange: Exchange, _ body: (inout [UInt8]) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var scratch = exchange.isDecoding ? buffers.take(Buffers.bulkByteCount) : []
    defer { buffers.put(scratch) }
    return try body(&scratch)
  }

  private func receivedAll(_ connection: Connection) {
    if let exchange = connection.exchange {
      if let failure = connection.sendFailure { return fail(exchange, failure) }
    } else if !connection.isDraining, connection.transport.hasUnreadInput {
      // A part of a record, whose rest a later request could take for its response.
      return lose(connection, .unsolicitedBytes)
    }
    // TLS answers of its own accord, to a key update for instance.
    if connection.transport.unsentCount > 0 { pump(connection) }
  }
}
