// PoolRecords: the pool's records of connections, waiters and origins, and of a shortage of descriptors.

internal import LupineReactor
internal import LupineWire

/// The pool's record of a connection, from the decision to open the connection until it is closed.
struct PooledConnection: Sendable {
  enum State: Sendable {
    /// The connection is being opened. The associated value is the slot of the waiter that needs the connection, or nil if no
    /// waiter needs it any longer.
    case opening(for: Int?)
    case busy
    case idle(until: Instant)
  }

  /// The connection's serial number, or 0 if no connection uses this record's slot.
  var serial: UInt32 = 0
  var origin = 0
  var state = State.busy
  /// The number of exchanges to which the pool has given the connection.
  var uses = 0
  /// The time at which the connection reaches its maximum age, or a time in the past if it is withdrawn. From then on, the pool gives
  /// the connection to no further exchange.
  var end = Instant(nanoseconds: .max)
  /// Whether the connection's address is no longer among the addresses of its name.
  var isWithdrawn = false

  /// Returns whether the connection is idle, and has exceeded neither its idle timeout nor its maximum age.
  func isFit(_ now: Instant) -> Bool {
    guard case .idle(let until) = state else { return false }
    return now < until && now < end
  }
}

/// The pool's record of a waiter: an exchange in its origin's queue.
struct Waiter: Sendable {
  /// The waiter's rank, or 0 if no waiter uses this record's slot. The waiter with the lower rank is served first: the one with the
  /// higher priority or, if the priorities are equal, the one that arrived first.
  var serial: UInt64 = 0
  var exchange: ExchangeID = 0
  var origin = 0
  /// The slot of the connection that is being opened on the waiter's behalf, or nil if there is none.
  var opening: Int?

  /// Returns the rank of a waiter with this priority that arrived as the `arrival`-th waiter of the pool.
  static func rank(_ priority: ExchangePriority, arrival: UInt64) -> UInt64 {
    UInt64(UInt8.max - priority.level) << 56 | arrival
  }

  var priority: ExchangePriority { ExchangePriority(level: UInt8.max - UInt8(truncatingIfNeeded: serial >> 56)) }
}

/// The priority of an exchange among those that wait for a connection.
struct ExchangePriority: Sendable, Hashable {
  /// The level of the priority, from 0 to 254. Exchanges with higher levels are served first.
  let level: UInt8

  /// The priority of requests that don't set one.
  static let normal = ExchangePriority(level: 127)

  init(level: UInt8) { self.level = level }

  /// Converts a request's priority, from 0 to 1, to one of 255 levels. Values outside this range are clamped.
  init(_ priority: Float) {
    level = priority.isNaN ? Self.normal.level : UInt8(min(max(priority, 0), 1) * 254)
  }
}

/// The pool's record of an origin, or more precisely of a pool key: its connections and waiters.
struct PooledOrigin: Sendable {
  enum Standing: Sendable {
    /// The origin has waiters, or it has open connections and none that is being opened.
    case used
    /// The origin has no waiters, but at least one orphan: a connection that is being opened without a waiter.
    case orphaned
    /// The origin has neither connections nor waiters.
    case dormant
    /// The origin has neither connections nor waiters, and its key is restricted to a single exchange or a group, so it is unlikely
    /// to be used again.
    case disposable
  }

  /// The key of the record, or nil if no origin uses this record's slot.
  var key: PoolKey?
  /// The origin's idle connections, least recently used first.
  var idle = LinkedLists.List()
  /// The origin's orphans: connections that are being opened without a waiter.
  var orphans = LinkedLists.List()
  /// The waiters: the exchanges that wait for a connection to the origin, ordered by priority and then by arrival. A connection is
  /// being opened for each waiter before `firstWithoutOpening`, and for no other waiter.
  var queue = LinkedLists.List()
  var firstWithoutOpening: Int?
  /// The last waiter of each priority in `queue`, highest priority first. Empty while all waiters have the normal priority.
  var tails: [PriorityTail] = []
  var connectionCount = 0
  var standing = Standing.used
  /// The origin's counters, except for those that are derived from the lists, such as the number of idle connections.
  var counters = ConnectionCounters()

  /// Whether the origin is used, orphaned, dormant or disposable at present, determined from its connections and waiters.
  var presentStanding: Standing {
    if !queue.isEmpty { return .used }
    if connectionCount == 0 { return key?.exclusiveTo == nil ? .dormant : .disposable }
    return orphans.isEmpty ? .used : .orphaned
  }
}

/// The pool's state while the process is short of descriptors. It limits how many connections the pool opens during that time.
struct DescriptorShortage: Sendable {
  /// The number of connections that the pool may start to open now.
  var permits = 0
  /// The time at which the pool next tries to open a connection. Nil if the pool may try now, or if it waits for the result of a
  /// current attempt.
  var retry: Instant?
  /// The length of the latest pause in opening connections, or zero if a descriptor has become available since then.
  var pause = Duration.zero
}
