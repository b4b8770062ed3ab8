// PoolHandles: the IDs of connections and waiters. Each ID has a slot, and a serial number that reveals stale IDs.

typealias ExchangeID = UInt64

/// The ID of a connection. It is valid from the decision to open the connection until the connection is closed.
struct ConnectionID: Sendable, Hashable {
  /// The connection's serial number in the upper 32 bits, and its slot in the lower 32. The highest bit is 0. Poller tokens that
  /// don't identify a connection set it to 1, so that they differ from all IDs.
  let rawValue: UInt64

  /// The largest serial number of a connection. The connection that follows gets the serial number 1.
  static let serialMax: UInt32 = .max >> 1

  init(serial: UInt32, slot: Int) {
    self.init(rawValue: UInt64(serial) << 32 | UInt64(UInt32(slot)))
  }

  init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// The connection's number within its loop, counted from 1 in the order in which connections are opened.
  var serial: UInt32 { UInt32(rawValue >> 32) }

  /// The connection's slot: a small number that indexes arrays and is unique among the loop's current connections.
  var slot: Int { Int(rawValue & 0xFFFF_FFFF) }
}

/// The identifier of an exchange that waits for a connection. It contains a serial number, so the ticket of an exchange that no
/// longer waits never identifies another exchange.
struct Ticket: Sendable, Hashable {
  /// The rank of the waiting exchange in the pool's queue. The exchange with the lowest rank gets a connection first. Unique in
  /// each pool.
  let serial: UInt64
  let slot: Int
}
