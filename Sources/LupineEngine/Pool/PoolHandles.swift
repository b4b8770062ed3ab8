// Names of what the pool holds: the slot it stands in, and a serial number by which a stale name is told.

typealias ExchangeID = UInt64

/// A connection, from the decision to open it until it is closed.
struct ConnectionID: Sendable, Hashable {
  /// The serial number above 32 bits of the slot. The highest bit is 0, for whoever uses it as a poller's token.
  let rawValue: UInt64

  /// The last serial number; behind it they begin anew.
  static let serialMax: UInt32 = .max >> 1

  init(serial: UInt32, slot: Int) {
    self.init(rawValue: UInt64(serial) << 32 | UInt64(UInt32(slot)))
  }

  init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// Which of its loop's connections it is, counted from 1.
  var serial: UInt32 { UInt32(rawValue >> 32) }

  /// A small number that no other of the loop's connections has at the same time; for arrays beside the pool.
  var slot: Int { Int(rawValue & 0xFFFF_FFFF) }
}

/// A place in the queue; it lets go of nothing but itself.
struct Ticket: Sendable, Hashable {
  /// Counts everybody who ever waited, so that the lower one came first.
  let serial: UInt64
  let slot: Int
}
