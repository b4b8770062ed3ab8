// PoolRecords: the pool's records of connections, waiters and origins, and of a shortage of descriptors.

internal import LupineReactor
internal import LupineWire

/// The record of a connection, from the decision to open it until it is closed.
struct PooledConnection: Sendable {
  enum State: Sendable {
    /// The connection is being opened on behalf of this waiter. Nil if no waiter needs it.
    case opening(for: Int?)
    case busy
    case idle(until: Instant)
  }

  /// The serial number, or 0 for a free slot.
  var serial: UInt32 = 0
  var origin = 0
  var state = State.busy
  /// The number of exchanges that have received the connection.
  var uses = 0
  /// The time after which no further exchange receives the connection.
  var end = Instant(nanoseconds: .max)
  /// Whether the connection is in the list `PoolState.aging`.
  var isAging = false

  /// Returns whether the connection is idle, and has exceeded neither its idle timeout nor its maximum age.
  func isFit(_ now: Instant) -> Bool {
    guard case .idle(let until) = state else { return false }
    return now < until && now < end
  }
}

/// The record of an exchange in its origin's queue.
struct Waiter: Sendable {
  /// The waiter's rank, or 0 for a free slot. The waiter with the lower rank is served first: the one with the higher priority
  /// or, if the priorities are equal, the one that arrived first.
  var serial: UInt64 = 0
  var exchange: ExchangeID = 0
  var origin = 0
  /// The connection being opened on the waiter's behalf, or nil if there is none.
  var opening: Int?

  /// Returns the rank of the `arrival`-th waiter, given its priority.
  static func rank(_ priority: ExchangePriority, arrival: UInt64) -> UInt64 {
    UInt64(UInt8.max - priority.level) << 56 | arrival
  }

  var priority: ExchangePriority { ExchangePriority(level: UInt8.max - UInt8(truncatingIfNeeded: serial >> 56)) }
}

/// The priority of an exchange among those that wait for a connection.
struct ExchangePriority: Sendable, Hashable {
  /// The level, from 0 to 254. Higher levels are served first.
  let level: UInt8

  /// The priority of requests that don't set one.
  static let normal = ExchangePriority(level: 127)

  init(level: UInt8) { self.level = level }

  /// Converts a request's priority, from 0 to 1, to one of 255 levels. Values outside this range are clamped.
  init(_ priority: Float) {
    level = priority.isNaN ? Self.normal.level : UInt8(min(max(priority, 0), 1) * 254)
  }
}

/// The record of one key: its connections and waiters.
struct PooledOrigin: Sendable {
  enum Standing: Sendable {
    /// The origin has waiters, or it has connections and none of them is an orphan.
    case used
    /// The origin has no waiters, but it has orphans: connections being opened without a waiter.
    case orphaned
    /// The origin has neither connections nor waiters.
    case dormant
    /// The origin has neither connections nor waiters, and belonged to a single exchange or a group, so it is unlikely to be
    /// used again.
    case disposable
  }

  /// The origin's key, or nil for a free slot.
  var key: PoolKey?
  /// The idle connections, starting with the least recently used.
  var idle = LinkedLists.List()
  /// Connections that are being opened without a waiter.
  var orphans = LinkedLists.List()
  /// The waiters, ordered by priority and then by arrival. A connection is being opened for each waiter before
  /// `firstWithoutOpening`, and for no other waiter.
  var queue = LinkedLists.List()
  var firstWithoutOpening: Int?
  /// The last waiter of each priority in `queue`, starting with the highest priority. Empty while all waiters have the normal
  /// priority.
  var tails: [PriorityTail] = []
  var connectionCount = 0
  var standing = Standing.used
  /// The counters that can't be derived from the lists.
  var counters = ConnectionCounters()

  /// The standing that follows from the origin's current connections and waiters.
  var presentStanding: Standing {
    if !queue.isEmpty { return .used }
    if connectionCount == 0 { return key?.exclusiveTo == nil ? .dormant : .disposable }
    return orphans.isEmpty ? .used : .orphaned
  }
}

/// The pool's state while the process is short of descriptors. Limits how many connections the pool opens in that time.
struct DescriptorShortage: Sendable {
  /// The number of connections that the pool may start to open now.
  var permits = 0
  /// The time of the next attempt to open a connection. Nil while a permit or an opening in progress will show whether
  /// descriptors are available.
  var retry: Instant?
  /// The length of the latest pause, or zero if a descriptor has become available since then.
  var pause = Duration.zero
}
