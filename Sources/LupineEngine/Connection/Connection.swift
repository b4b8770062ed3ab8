// Connection: an open connection with its transport, protocol state and current use.

internal import LupineReactor
internal import LupineTLS
internal import LupineWire

/// An open connection of a loop. Used only on that loop's thread.
final class Connection {
  let id: ConnectionID
  let key: PoolKey
  /// The properties of the connection that appear in metrics.
  let record: ConnectionRecord

  /// The current use of a connection.
  enum Use {
    /// The connection is idle in the pool, or reserved for a waiter whose request hasn't started.
    case idle
    /// The exchange sends its request and receives its response.
    case serving(Exchange)
    /// The loop reads the rest of an unwanted body, so that the connection can be reused. The case is indirect to keep
    /// the enum one word long, because each event reads it and this case is rare.
    indirect case draining(Draining)
    /// HTTP has ended (101, or 2xx to CONNECT): the exchange's bodies carry another protocol.
    case upgraded(Exchange)
    /// The loop has closed the connection and removed it from its tables.
    case closed
  }

  /// The state of a connection while the loop reads the rest of an unwanted body.
  struct Draining {
    /// The number of further bytes after which the connection is closed instead.
    var byteCountMax: Int
    /// The time by which the body must have ended.
    let deadline: Instant
    /// The exchange that ends with the body, or nil if the exchange has already ended or is sent again.
    let exchange: Exchange?
  }

  @exclusivity(unchecked) var transport: Transport
  @exclusivity(unchecked) var wire: ClientConnection
  @exclusivity(unchecked) var use = Use.idle
  /// Whether the next iteration reads from the connection, because this iteration had no time for all of its bytes.
  @exclusivity(unchecked) var isPostponed = false
  /// The events that the poller watches for.
  @exclusivity(unchecked) var interest: Poller.Interest
  /// Whether there may be unread bytes: the latest read filled its buffer, or the
  /// poller hasn't watched the connection since then.
  @exclusivity(unchecked) var mayHoldMore = false
  /// The error of an earlier send, after which nothing more is sent. Bytes that the server had already sent are still read.
  @exclusivity(unchecked) var sendFailure: Failure?
  /// Received plaintext that hasn't been parsed, because the exchange is paused.
  @exclusivity(unchecked) var unread: [UInt8] = []
  /// Whether the connection was used or idle before, so that its peer may have closed it in the meantime.
  @exclusivity(unchecked) var mayBeStale = false
  /// The deadline that the loop has for the connection and its exchange. It may be too early, but is never too late.
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
    self.transport = transport
    wire = ClientConnection(limits: limits)
    self.interest = interest
  }

  /// The exchange that uses the connection, or nil.
  var exchange: Exchange? {
    switch use {
    case .serving(let exchange), .upgraded(let exchange): exchange
    case .idle, .draining, .closed: nil
    }
  }

  /// Whether the loop reads the rest of an unwanted body.
  var isDraining: Bool {
    if case .draining = use { true } else { false }
  }

  /// Whether HTTP has ended on the connection.
  var isUpgraded: Bool {
    if case .upgraded = use { true } else { false }
  }

  var isClosed: Bool {
    if case .closed = use { true } else { false }
  }

  /// Parses received bytes from `cursor` on and returns the next event.
  func next(_ bytes: borrowing Span<UInt8>, at cursor: inout Int) throws(Failure) -> ClientConnection.Event {
    do {
      return try wire.receive(bytes, at: &cursor)
    } catch {
      throw .wire(error)
    }
  }

  /// Returns the event caused by the end of the peer's data.
  func end() throws(Failure) -> ClientConnection.Event {
    do {
      return try wire.receiveEnd()
    } catch {
      throw .wire(error)
    }
  }
}
