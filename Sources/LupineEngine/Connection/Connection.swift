// Connection: an open connection with its transport, its protocol state and what it is used for.

internal import LupineReactor
internal import LupineTLS
internal import LupineWire

/// One connection of a loop; touched on that loop's thread alone.
final class Connection {
  let id: ConnectionID
  let key: PoolKey
  /// What metrics say of it.
  let record: ConnectionRecord

  /// What a connection is used for.
  enum Use {
    /// Nothing: the connection is idle in the pool, or promised to a waiter whose request hasn't started.
    case idle
    /// The exchange sends its request and receives its response.
    case serving(Exchange)
    /// The loop reads the rest of an unwanted body, so that the connection can be reused. Indirect: a word is enough for
    /// the use of nearly every connection, which each event looks at.
    indirect case draining(Draining)
    /// HTTP has ended (101, or 2xx to CONNECT): the exchange's bodies carry another protocol.
    case upgraded(Exchange)
    /// The loop has closed the connection and removed it from its tables.
    case closed
  }

  /// The reading of an unwanted body's rest.
  struct Draining {
    /// How many more bytes may arrive before the connection is closed instead.
    var byteCountMax: Int
    /// When the body must have ended.
    let deadline: Instant
    /// The exchange that ends with the body; nil if it has ended or is sent again.
    let exchange: Exchange?
  }

  var transport: Transport
  var wire: ClientConnection
  var use = Use.idle
  /// Whether it is to be read from in the next turn, as one turn hasn't time for all that is there.
  var isPostponed = false
  /// What the poller was asked for.
  var interest: Poller.Interest
  /// Whether more may have come than was looked at: the latest read filled its buffer, or nobody has watched it since.
  var mayHoldMore = false
  /// Why nothing can be sent any more. What the server said before that is still read.
  var sendFailure: Failure?
  /// Plaintext that was received and not looked at, because the sink had no room.
  var unread: [UInt8] = []
  /// Whether it was used or idle before, so that its peer may have closed it by now.
  var isKept = false
  /// When it is looked at, with what is on it; it may be too early, never too late.
  var armedDeadline: Instant?

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

  /// The exchange whose request is sent and whose response is received.
  var exchange: Exchange? {
    switch use {
    case .serving(let exchange), .upgraded(let exchange): exchange
    case .idle, .draining, .closed: nil
    }
  }

  /// Whether the rest of an unwanted body is being read.
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

  /// What the next received bytes say.
  func next(_ bytes: borrowing Span<UInt8>, at cursor: inout Int) throws(Failure) -> ClientConnection.Event {
    do {
      return try wire.receive(bytes, at: &cursor)
    } catch {
      throw .wire(error)
    }
  }

  /// What the peer's end means.
  func end() throws(Failure) -> ClientConnection.Event {
    do {
      return try wire.receiveEnd()
    } catch {
      throw .wire(error)
    }
  }
}
