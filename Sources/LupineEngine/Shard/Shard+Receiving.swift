// Shard+Receiving: reads responses, parses them into events, and delivers the events to exchanges.

@_spi(Loop) internal import LupineReactor
internal import LupineWire

extension Shard {
  /// The minimum cost of a TLS record: it reduces the connection's byte budget for one iteration by at least 4 KiB. Each handshake
  /// message before the record costs the same. Reading a record of a single byte takes as long as decrypting about 4 KiB.
  private static let recordCostBytes = 4 * 1024

  /// Reads the bytes that are available on a connection and processes them, up to `bytesPerTurnMax` in one iteration.
  func receive(_ connection: Connection) {
    if case .upgraded(let exchange) = connection.use, case .securing = exchange.response {
      return continueSecuring(exchange, connection)
    }
    var ciphertext = ciphertextBuffer(for: connection)
    defer { buffers.giveBack(&ciphertext) }
    var total = 0
    var decodedBefore: UInt64?
    while total < Self.bytesPerTurnMax {
      do {
        let room = room(on: connection)
        var buffer = buffers.borrow(room)
        defer { buffers.giveBack(&buffer) }
        let start = buffer.count - room
        switch try connection.transport.receive(into: &buffer, from: start, ciphertext: &ciphertext) {
        case .nothing: return receivedAll(connection)
        case .end: return receiveEnd(connection)
        case .noPlaintext: total += ciphertext.count
        case .bytes(let count):
          total += connection.key.isEncrypted ? cost(of: count, on: connection) : count
          // If sending has failed, reads to the end, because the peer may have responded before it closed the connection.
          connection.mayHoldMore =
            count == room || connection.transport.socketMayHoldMore || connection.hasPeerClosed
            || connection.sendFailure != nil
          process(connection, buffer.span.extracting(start..<start + count))
          // Decoded bytes count toward the budget too, because a body can expand by a factor of a thousand.
          if let exchange = connection.exchange, exchange.isDecoding {
            let decoded = exchange.metrics.decodedBodyBytes
            // The connection may already serve a different exchange.
            total += Int(clamping: decoded - min(decodedBefore ?? decoded, decoded))
            decodedBefore = decoded
          }
          // A read that didn't fill the buffer has emptied the socket, unless the socket holds more.
          let mayHoldMore = connection.mayHoldMore || connection.key.isEncrypted
          guard mayHoldMore, readsOn(connection) else {
            // Without an exchange, the connection is idle, draining or closed, and its interest is already up to date.
            return connection.exchange == nil ? () : updateInterest(connection)
          }
        }
      } catch {
        guard let exchange = connection.exchange else { return lose(connection, .closedByPeer) }
        return fail(exchange, error)
      }
    }
    // Other connections proceed first. No socket event announces data that TLS has already decrypted.
    postpone(connection)
  }

  private func cost(of byteCount: Int, on connection: Connection) -> Int {
    max(byteCount, Self.recordCostBytes) + connection.transport.handshakeMessageCount * Self.recordCostBytes
  }

  /// Schedules a read from the connection in the next iteration, whether or not the poller reports the connection as readable.
  func postpone(_ connection: Connection) {
    guard !connection.isPostponed else { return }
    connection.isPostponed = true
    backlog.postponed.append(connection.id)
  }

  /// Returns whether the bytes that arrive next on the connection can be processed now: the connection is open, its exchange isn't
  /// paused, and the connection isn't reserved for an exchange that hasn't started.
  private func readsOn(_ connection: Connection) -> Bool {
    guard !connection.isClosed else { return false }
    if let exchange = connection.exchange { return !exchange.isPaused }
    return !isPromised(connection)
  }

  /// Reads from the connections on which the previous iteration postponed reading, for example because they had used up their byte
  /// budget.
  func receivePostponed() {
    let ids = Swift.exchange(&backlog.postponed, with: [])
    for id in ids {
      guard let connection = connections[id] else { continue }
      connection.isPostponed = false
      if connection.exchange?.isPaused != true { receive(connection) }
    }
  }

  /// Parses plaintext received on the connection, and passes the resulting events to the connection's exchange.
  func process(_ connection: Connection, _ bytes: borrowing Span<UInt8>) {
    guard let exchange = connection.exchange else {
      return connection.isDraining ? drain(connection, bytes) : lose(connection, .unsolicitedBytes)
    }
    if exchange.progress != .responseBegan {
      exchange.progress = .responseBegan
      exchange.metrics.responseStart = now
    }
    exchange.enter(.receive, now: now)
    // An exchange that has ended needs no `turnEnded`. Almost every response arrives in one piece and ends in this call.
    defer { if !exchange.hasEnded { touch(exchange) } }
    if connection.isUpgraded { return passOn(bytes, exchange, connection) }
    var cursor = 0
    do {
      while connection.exchange === exchange {
        switch try connection.next(bytes, at: &cursor) {
        case .needMoreBytes:
          rearm(exchange)
          // The received bytes may have used up the sink's window exactly.
          if exchange.isPaused { updateInterest(connection) }
          // Done after all received bytes, because a failed send reads from the connection.
          if exchange.phase == .send { pump(connection) }
          return
        case .informational(let head): receive(informational: head, exchange, connection)
        case .head(let head, let framing, let codings): try receive(head, framing, codings, exchange, connection)
        case .body(let range):
          try withScratch(for: exchange) { room throws(Failure) in
            try exchange.receive(body: bytes.extracting(range), scratch: &room)
          }
          if exchange.hasPendingBody {
            connection.unread.append(copying: bytes, cursor..<bytes.count)
            return updateInterest(connection)
          }
        case .end(let trailers, let reason): completeResponse(exchange, connection, trailers, closing: reason)
        case .handedOver(let head):
          try switchProtocols(head, exchange, connection)
          if connection.exchange === exchange, cursor < bytes.count {
            process(connection, bytes.extracting(cursor..<bytes.count))
          }
          // Done after all received bytes, because a failed send reads from the connection.
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
    // Bytes pulled from the body may still be unsent.
    let isSent = exchange.metrics.requestEnd != nil
    exchange.enter(isWaiting ? .awaitContinue : isSent ? .firstByte : .send, now: now)
  }

  private func receive(
    _ head: consuming ResponseHead, _ framing: BodyFraming, _ codings: [TransferCoding], _ exchange: Exchange,
    _ connection: Connection
  ) throws(Failure) {
    let status = head.status
    trace(.headReceived(exchange: exchange.id, status: status))
    exchange.observation?.receive(status: status, minorVersion: head.minorVersion)
    if status == 417, exchange.isExpecting, exchange.body.isReplayable {
      // RFC 9110 §10.1.1: the request is repeated without the expectation that the server can't meet.
      detach(exchange, connection, notifies: false)
      return sendAgain(exchange, isExpecting: false, after: nil)
    }
    exchange.refuseBody()
    let disposition = try exchange.receive(head: head, framing: framing, transferCodings: codings)
    if disposition == .discard, connection.exchange === exchange { discardBody(exchange) }
  }

  private func receiveEnd(_ connection: Connection) {
    guard let exchange = connection.exchange else { return lose(connection, .closedByPeer) }
    if let stream = exchange.stream { return receiveEnd(stream, exchange, connection) }
    if connection.isUpgraded { return completeResponse(exchange, connection, Fields(), closing: .upgraded) }
    do {
      if case .end(let trailers, let reason) = try connection.end() {
        completeResponse(exchange, connection, trailers, closing: reason)
      }
    } catch {
      fail(exchange, error)
    }
  }

  /// Returns the reason why a connection can't be reused although its response was well-formed: the peer has sent further bytes, or
  /// has closed the connection. Returns nil if the connection can be reused.
  ///
  /// Reads from the connection only if there may be unread bytes: further TLS records, or bytes that didn't fit in the buffer. The
  /// next exchange would mistake such bytes for its response (RFC 9112 §9.2).
  func surplus(on connection: Connection) -> CloseReason? {
    guard connection.mayHoldMore || (connection.key.isEncrypted && connection.transport.mayHoldPlaintext) else {
      return nil
    }
    // Sending has failed, so the connection can't be used for another request.
    if connection.sendFailure != nil { return .closedByPeer }
    var buffer = buffers.borrow()
    var ciphertext = ciphertextBuffer(for: connection)
    defer {
      buffers.giveBack(&buffer)
      buffers.giveBack(&ciphertext)
    }
    do {
      return switch try connection.transport.receive(into: &buffer, ciphertext: &ciphertext) {
      // A partial record may be a harmless session ticket, or surplus data. This is
      // rare, so the connection is closed in both cases.
      case .nothing: connection.transport.hasUnreadInput ? .unsolicitedBytes : nil
      case .bytes, .noPlaintext: .unsolicitedBytes
      case .end: .closedByPeer
      }
    } catch {
      return .closedByPeer
    }
  }

  func completeResponse(
    _ exchange: Exchange, _ connection: Connection, _ trailers: Fields, closing reason: CloseReason?
  ) {
    do {
      try exchange.checkBodyIsComplete()
    } catch {
      return fail(exchange, error)
    }
    let reason = reason ?? surplus(on: connection)
    exchange.metrics.responseEnd = now
    exchange.metrics.closeReason = reason
    exchange.connection = nil
    // Released before the sink is notified of the end, so that the caller's next request finds the connection idle.
    release(connection, closing: reason)
    endExchange(exchange, .success(trailers))
  }

  /// Returns the maximum number of bytes to read from the connection at once. A body that is delivered undecoded and without TLS is
  /// read in large pieces, up to the sink's receive window. Otherwise the size is `Buffers.byteCount`, because TLS returns one
  /// record at a time, and a decoder chooses the size of its pieces.
  private func room(on connection: Connection) -> Int {
    guard let exchange = connection.exchange, exchange.hasHead, !exchange.isDecoding, !connection.key.isEncrypted else {
      return Buffers.byteCount
    }
    return min(max(exchange.windowBytes, Buffers.byteCount), Buffers.bulkByteCount)
  }

  /// Returns a buffer for received ciphertext, or an empty array for a connection without TLS.
  private func ciphertextBuffer(for connection: Connection) -> [UInt8] {
    connection.key.isEncrypted ? buffers.borrow() : []
  }

  /// Calls `body` with a buffer for the decoder's output. The buffer is empty if the exchange doesn't decode its response.
  func withScratch<Result>(
    for exchange: Exchange, _ body: (inout [UInt8]) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var scratch = exchange.isDecoding ? buffers.borrow(Buffers.bulkByteCount) : []
    defer { buffers.giveBack(&scratch) }
    return try body(&scratch)
  }

  private func receivedAll(_ connection: Connection) {
    if let exchange = connection.exchange {
      if let failure = connection.sendFailure { return fail(exchange, failure) }
    } else if !connection.isDraining, connection.transport.hasUnreadInput {
      // The bytes are part of a TLS record. A later request could take the rest for its response.
      return lose(connection, .unsolicitedBytes)
    }
    // TLS sends some messages on its own, such as answers to key updates.
    if connection.transport.unsentCount > 0 { pump(connection) }
  }
}
