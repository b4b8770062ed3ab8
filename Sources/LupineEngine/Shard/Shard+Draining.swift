// Shard+Draining: reads the rest of an unwanted body if it is short, so that the connection can be reused. If the rest is long,
// the connection is closed.

@_spi(Loop) internal import LupineReactor
internal import LupineWire

extension Shard {
  /// The maximum time for reading the rest of an unwanted response body: 1 s. If the server needs longer, it is cheaper to open a
  /// new connection.
  private static let drainTime = Duration.seconds(1)

  /// Ends an exchange whose sink doesn't want the rest of the response body.
  ///
  /// If the rest is short, the exchange ends after the shard has read it, so that the caller's next request finds the connection
  /// idle. Otherwise the exchange ends immediately. An exchange without a response head fails with `.cancelled`.
  func discardBody(_ exchange: Exchange) {
    guard !exchange.isDiscarded else { return }
    guard let connection = exchange.connection, exchange.hasHead else { return fail(exchange, .cancelled) }
    detach(exchange, connection, notifies: true)
    if connection.isDraining {
      exchange.response = .discarded
      // The connection's deadline no longer covers the exchange.
      rearm(exchange)
    } else {
      endDiscarded(exchange)
    }
  }

  private func endDiscarded(_ exchange: Exchange) {
    exchange.metrics.responseEnd = now
    endExchange(exchange, .success(Fields()))
  }

  /// Discards the bytes of an unwanted response body that were received but not parsed, because the exchange was paused. Then
  /// continues to read the rest of the body.
  func drainUnread(_ connection: Connection) {
    // The poller didn't watch the connection during the pause, so more bytes may be waiting.
    connection.mayHoldMore = true
    let unread = Swift.exchange(&connection.unread, with: [])
    drain(connection, unread.span)
    // TLS may hold plaintext that no socket event announces.
    if connection.isDraining { receive(connection) }
    updateInterest(connection)
  }

  /// Separates an exchange from its connection. If the rest of the response is short, the shard reads it, so that the connection
  /// can be reused. Otherwise the connection is closed.
  ///
  /// If `notifies` is true, the exchange ends when the rest has been read.
  func detach(_ exchange: Exchange, _ connection: Connection, notifies: Bool) {
    exchange.connection = nil
    let isRequestSent = exchange.metrics.requestEnd != nil
    guard isRequestSent, !connection.isUpgraded, exchange.isRestShort(configuration.drainedBytesMax) else {
      return release(connection, closing: isRequestSent ? .bodyUnwanted : .requestUnfinished)
    }
    let deadline = now + Self.drainTime
    connection.use = .draining(
      Connection.Draining(
        byteCountMax: configuration.drainedBytesMax, deadline: deadline, exchange: notifies ? exchange : nil))
    watch(connection, until: deadline)
  }

  /// Parses and discards received bytes of an unwanted response body. Stops draining the connection at the end of the body.
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

  /// Closes a connection from which the rest of an unwanted response body is being read.
  func stopDraining(_ connection: Connection) {
    endDraining(connection, closing: .bodyUnwanted)
  }

  private func endDraining(_ connection: Connection, closing reason: CloseReason?) {
    guard case .draining(let draining) = connection.use else { return }
    release(connection, closing: reason)
    // The exchange may have been cancelled in the meantime.
    if let exchange = draining.exchange, !exchange.hasEnded { endDiscarded(exchange) }
  }

  /// Closes a connection that serves no exchange. The connection has failed, or its peer has closed it or sent unsolicited bytes.
  func lose(_ connection: Connection, _ reason: CloseReason) {
    if connection.isDraining {
      endDraining(connection, closing: reason)
    } else {
      perform(pool.evict(connection.id, reason))
    }
  }
}
