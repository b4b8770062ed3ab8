// PoolHandles: the IDs of connections and waiters. Each ID has a slot, and a serial number that reveals stale IDs.

typealias ExchangeID = UInt64

/// The ID of a connection, from the decision to open it until it is closed.
struct ConnectionID: Sendable, Hashable {
  /// The serial number in the upper 32 bits, and the slot in the lower 32. The highest bit is 0, so that poller tokens can set
  /// it to differ from all IDs.
  let rawValue: UInt64

  /// The largest serial number. Serial number 1 follows it.
  static let serialMax: UInt32 = .max >> 1

  init(serial: UInt32, slot: Int) {
    self.init(rawValue: UInt64(serial) << 32 | UInt64(UInt32(slot)))
  }

  init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// The connection's number within its loop, counted from 1.
  var serial: UInt32 { UInt32(rawValue >> 32) }

  /// A small number, unique among the loop's current connections, that can index arrays.
  var slot: Int { Int(rawValue & 0xFFFF_FFFF) }
}

/// The identifier of a waiter in the queue. A stale ticket never matches another waiter.
struct Ticket: Sendable, Hashable {
  /// The waiter's number in order of arrival, counted from 1 in each pool.
  let serial: UInt64
  let slot: Int
}
