// An open connection: its transport, its protocol state, and whom it serves.

internal import LupineReactor
internal import LupineTLS
internal import LupineWire

/// One connection of a loop; touched on that loop's thread alone.
final class Connection {
  let id: ConnectionID
  let key: PoolKey
  let localAddress: SocketAddress?
  let remoteAddress: SocketAddress?
  let tlsInfo: TLSInfo?

  var transport: Transport
  var wire: ClientConnection
  /// Whom it serves; nil while it is idle.
  var exchange: Exchange?
  /// Whether HTTP has ended on it, because the protocol was switched.
  var isHandedOver = false
  /// How many more bytes of an unwanted body are read, so that the connection can be used again; nil if it serves
  /// somebody or nobody.
  var drainCredit: Int?
  /// Whose response's rest is being read, if it is to hear of the end.
  var discarding: Exchange?
  /// What the poller was asked for.
  var interest: Poller.Interest
  /// Whether more may have come than was looked at: the latest read filled its buffer, or nobody has watched it since.
  var mayHoldMore = false
  /// Plaintext that was received and not looked at, because the sink had no room.
  var unread: [UInt8] = []
  /// How many requests were started on it.
  var useCount = 0
  /// What opening it cost; for the metrics of its first exchange.
  let opening: OpeningTimes

  init(
    id: ConnectionID, key: PoolKey, transport: consuming Transport, limits: Limits, interest: Poller.Interest,
    opening: OpeningTimes
  ) {
    self.id = id
    self.key = key
    localAddress = transport.socket.localAddress
    remoteAddress = transport.socket.peerAddress
    tlsInfo = transport.tlsInfo
    self.transport = transport
    wire = ClientConnection(limits: limits)
    self.interest = interest
    self.opening = opening
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

/// When the phases of opening a connection began and ended.
struct OpeningTimes {
  var resolveStart: Instant?
  var resolveEnd: Instant?
  var connectStart: Instant?
  var connectEnd: Instant?
  var proxyStart: Instant?
  var proxyEnd: Instant?
  var tlsStart: Instant?
  var tlsEnd: Instant?
}
