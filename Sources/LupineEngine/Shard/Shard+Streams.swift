// Shard+Streams: raw streams, whose connections carry another protocol than HTTP from their first byte (`Engine.openStream`). TLS may
// start at any time.

@_spi(Loop) internal import LupineReactor
internal import LupineTLS
internal import LupineWire

extension Shard {
  /// Starts a raw stream on the connection that was opened for it. The connection leaves the pool.
  func startStream(_ exchange: Exchange, _ connection: Connection) {
    connection.use = .upgraded(exchange)
    connections.pooled[connection.id] = nil
    connections.upgraded[connection.id] = connection
    disarm(exchange)
    exchange.begin(on: connection, now: now)
    exchange.response = .upgraded
    trace(
      .requestStarted(exchange: exchange.id, connection: UInt64(connection.id.serial), isReused: false))
    perform(pool.detach(connection.id))
    let early = Swift.exchange(&connection.unread, with: [])
    if !early.isEmpty { process(connection, early.span) }
    // Starts the producer, which notifies the sink.
    pump(connection)
    if connection.exchange === exchange { rearm(exchange) }
  }

  /// Notifies the sink of a stream that the kernel has accepted all bytes so far. Ends the sending direction after the last byte.
  func reportSent(_ stream: RawStream, _ exchange: Exchange, _ connection: Connection) throws(Failure) {
    guard connection.transport.unsentCount == 0 else { return }
    let byteCount = exchange.body.byteCount
    if byteCount > stream.reportedByteCount {
      stream.reportedByteCount = byteCount
      stream.sink.sent(byteCount: byteCount)
    }
    guard exchange.isBodyExhausted, !stream.hasEndedSending, try connection.transport.endSending() else { return }
    stream.hasEndedSending = true
    exchange.metrics.requestEnd = now
  }

  /// Notifies the sink of a stream that the peer sends no more bytes. The connection stays open, for the sending direction.
  func receiveEnd(_ stream: RawStream, _ exchange: Exchange, _ connection: Connection) {
    exchange.metrics.responseEnd = now
    // Nothing is read from now on, because the kernel would report the end again and again.
    exchange.isPausedByCaller = true
    stream.sink.receivedEnd()
    updateInterest(connection)
  }

  // MARK: TLS

  /// Starts TLS on the connection of a stream. The sink must have been notified that all bytes were sent.
  func startTLS(_ exchange: Exchange) {
    guard let stream = exchange.stream, let connection = exchange.connection, stream.handshake == .none,
      connection.transport.unsentCount == 0, !stream.hasEndedSending
    else { return }
    stream.handshake = .running(start: now)
    exchange.response = .securing
    exchange.requestState = .awaitingUpgrade
    exchange.enter(.tls, now: now)
    do throws(TLSError) {
      let context = try tlsContexts.context(for: streamTLS(exchange))
      let origin = exchange.key.origin
      let session = try TLSSession(client: context, host: origin.host, port: origin.port)
      // Bytes that the server has sent in the clear must not be taken for protected ones later. They aren't TLS, so the handshake
      // fails.
      connection.transport.startTLS(session, received: exchange.takeUndelivered())
    } catch {
      return fail(exchange, .tls(error))
    }
    rearm(exchange)
    continueSecuring(exchange, connection)
  }

  private func streamTLS(_ exchange: Exchange) -> TLSConfiguration {
    exchange.request.streamTLS(or: configuration.tls)
  }

  /// Continues the TLS handshake of a stream when its socket is readable.
  func continueSecuring(_ exchange: Exchange, _ connection: Connection) {
    guard let stream = exchange.stream, case .running(let start) = stream.handshake else { return }
    var ciphertext = buffers.borrow()
    defer { buffers.giveBack(&ciphertext) }
    do throws(Failure) {
      let progress = try connection.transport.handshake(ciphertext: &ciphertext)
      try connection.transport.flush()
      switch progress {
      case .waiting: updateInterest(connection)
      case .needsVerdict(let verification):
        stream.handshake = .verifying(start: start)
        updateInterest(connection)
        guard connection.exchange === exchange else { return }
        do throws(SystemError) {
          try decide(verification, for: connection.id, while: stream.liveness)
        } catch {
          fail(exchange, .outOfResources, cause: .system(error))
        }
      case .complete: secured(stream, exchange, connection, since: start)
      }
    } catch {
      fail(exchange, error)
    }
  }

  /// Continues the TLS handshake of a stream after its certificate verifier has decided.
  func verified(_ connection: Connection, _ verdict: Verdict) {
    guard let exchange = connection.exchange, let stream = exchange.stream,
      case .verifying(let start) = stream.handshake
    else { return }
    stream.handshake = .running(start: start)
    connection.transport.resolve(verdict)
    continueSecuring(exchange, connection)
    updateInterest(connection)
  }

  private func secured(_ stream: RawStream, _ exchange: Exchange, _ connection: Connection, since start: Instant) {
    stream.handshake = .done
    connection.noteEncryption(streamTLS(exchange), start: start, end: now)
    exchange.metrics.connection = connection.record
    exchange.response = .upgraded
    exchange.requestState = .sending
    exchange.enter(.send, now: now)
    if let info = connection.transport.tlsInfo {
      trace(.handshakeDone(connection: UInt64(connection.id.serial), tls: info))
    }
    stream.sink.secured()
    // No socket event announces bytes that arrived with the last message of the handshake.
    if connection.transport.mayHoldPlaintext { postpone(connection) }
    pump(connection)
  }
}
