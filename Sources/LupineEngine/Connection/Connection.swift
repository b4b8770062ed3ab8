// Connection: an open connection with its transport, protocol state and current use.

internal import LupineReactor
internal import LupineTLS
internal import LupineWire

/// An open connection, which belongs to one event loop. Used only on that loop's thread.
final class Connection {
  let id: ConnectionID
  /// The key under which the pool knows the connection. It changes only when TLS starts on a connection that has left the pool.
  @exclusivity(unchecked) private(set) var key: PoolKey
  /// The properties of the connection that appear in the metrics of its exchanges.
  @exclusivity(unchecked) private(set) var record: ConnectionRecord
  /// The DER-encoded names of the certificate authorities from which the server accepts client certificates. Nil unless the server
  /// requested a client certificate and the client presented none.
  let requestedAuthorities: [[UInt8]]?

  /// The current use of a connection: idle, for an exchange, for another protocol, or closed.
  enum Use {
    /// No exchange uses the connection. It is idle in the pool, or reserved for a waiting exchange whose request hasn't started.
    case idle
    /// This exchange sends its request on the connection and receives its response.
    case serving(Exchange)
    /// The event loop reads the rest of an unwanted response body, so that the connection can be reused. The case is indirect so
    /// that the enum, which the loop reads at each event, takes only one word. The case is rare.
    indirect case draining(Draining)
    /// The connection has switched from HTTP to another protocol (101, or 2xx to CONNECT). The bodies of the exchange's request and
    /// response carry that protocol's bytes.
    case upgraded(Exchange)
    /// The event loop has closed the connection and removed it from its tables.
    case closed
  }

  /// The state of a connection while the event loop reads the rest of an unwanted response body.
  struct Draining {
    /// The maximum number of further body bytes that the event loop reads. If more remain, it closes the connection.
    var byteCountMax: Int
    /// The deadline for receiving the rest of the unwanted body. If the deadline passes first, the connection is closed.
    let deadline: Instant
    /// The exchange that ends when the rest of the body has been read. Nil if that exchange has already ended, or if its request is
    /// sent again.
    let exchange: Exchange?
  }

  @exclusivity(unchecked) var transport: Transport
  @exclusivity(unchecked) var wire: ClientConnection
  @exclusivity(unchecked) var use = Use.idle
  /// Whether the next iteration of the loop reads from the connection, because this iteration had no time to read all available
  /// bytes.
  @exclusivity(unchecked) var isPostponed = false
  /// The events for which the poller watches the connection's socket.
  @exclusivity(unchecked) var interest: Poller.Interest
  /// Whether the connection may have unread bytes that the poller hasn't reported, or its end. True if the latest read filled its
  /// buffer, if the socket object holds received bytes, if the peer has closed the connection, or if the poller hasn't watched the
  /// connection since the latest read.
  @exclusivity(unchecked) var mayHoldMore = false
  /// Whether the poller has reported that the peer has closed the connection in its direction. The end of the connection then
  /// follows the bytes that it still holds.
  @exclusivity(unchecked) var hasPeerClosed = false
  /// The error of a send that failed, or nil. After this error, the loop sends nothing more, but still reads bytes that the server
  /// had already sent.
  @exclusivity(unchecked) var sendFailure: Failure?
  /// Received plaintext that hasn't been parsed yet, because the exchange is paused.
  @exclusivity(unchecked) var unread: [UInt8] = []
  /// Whether the connection was used or idle before its current exchange, so that the peer may have closed the connection in the
  /// meantime.
  @exclusivity(unchecked) var mayBeStale = false
  /// The deadline that is registered with the event loop for the connection and its exchange, or nil if none is registered. It may
  /// be earlier than their actual deadline, but never later.
  @exclusivity(unchecked) var armedDeadline: Instant?

  init(
    id: ConnectionID, key: PoolKey, transport: consuming Transport, limits: Limits, interest: Poller.Interest,
    opening: OpeningTimes
  ) {
    self.id = id
    self.key = key
    record = ConnectionRecord(
      id: UInt64(id.serial), opening: opening, proxy: key.route.proxy, localAddress: transport.socket.localAddress,
      remoteAddress: transport.socket.peerAddress, tls: transport.tlsInfo)
    requestedAuthorities = transport.requestedAuthorities
    self.transport = transport
    wire = ClientConnection(limits: limits)
    self.interest = interest
  }

  /// The exchange that uses the connection, or nil if none does.
  var exchange: Exchange? {
    switch use {
    case .serving(let exchange), .upgraded(let exchange): exchange
    case .idle, .draining, .closed: nil
    }
  }

  /// Records that the connection uses TLS from now on. `times` are the times of the handshake.
  func noteEncryption(_ tls: TLSConfiguration, start: Instant, end: Instant) {
    var times = record.opening
    (times.tlsStart, times.tlsEnd) = (start, end)
    key = key.with(tls: tls)
    record = ConnectionRecord(
      id: record.id, opening: times, proxy: record.proxy, localAddress: record.localAddress,
      remoteAddress: record.remoteAddress, tls: transport.tlsInfo)
  }

  /// Whether the event loop is reading the rest of an unwanted response body from the connection.
  var isDraining: Bool {
    if case .draining = use { true } else { false }
  }

  /// Whether the connection has switched from HTTP to another protocol.
  var isUpgraded: Bool {
    if case .upgraded = use { true } else { false }
  }

  var isClosed: Bool {
    if case .closed = use { true } else { false }
  }

  /// Parses the received bytes from index `cursor` on, and returns the resulting HTTP event. Moves `cursor` past the parsed bytes.
  func next(_ bytes: borrowing Span<UInt8>, at cursor: inout Int) throws(Failure) -> ClientConnection.Event {
    do {
      return try wire.receive(bytes, at: &cursor)
    } catch {
      throw .wire(error)
    }
  }

  /// Notifies the HTTP parser that the peer sends no more bytes, and returns the resulting event.
  func end() throws(Failure) -> ClientConnection.Event {
    do {
      return try wire.receiveEnd()
    } catch {
      throw .wire(error)
    }
  }
}
