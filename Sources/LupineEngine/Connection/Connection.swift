// An open connection: its transport, its protocol state, and whom it serves.

internal import LupineReactor
internal import LupineTLS
internal import LupineWire

/// One connection of a loop; touched on that loop's thread alone.
final class Connection {
  let id: ConnectionID
  let key: PoolKey
  /// What metrics say of it.
  let record: ConnectionRecord

  var transport: Transport
  var wire: ClientConnection
  /// Whether its loop has given it up.
  var isClosed = false
  /// Whom it serves; nil while it is idle.
  var exchange: Exchange?
  /// Whether HTTP has ended on it, because the protocol was switched.
  var isHandedOver = false
  /// How many more bytes of an unwanted body are read, so that the connection can be used again; nil if it serves
  /// somebody or nobody.
  var drainCredit: Int?
  /// Whose response's rest is being read, if it is to hear of the end.
  var discarding: Exchange?
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
  /// When the rest of an unwanted body has to have come.
  var drainingEnd: Instant?

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
