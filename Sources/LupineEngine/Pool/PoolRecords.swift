// PoolRecords: the pool's records of connections, waiters and origins, and of a shortage of descriptors.

internal import LupineReactor
internal import LupineWire

/// The record of a connection, from the decision to open it until it is closed.
struct PooledConnection: Sendable {
  enum State: Sendable {
    /// The connection is being opened on behalf of this waiter, or nil if the waiter no longer needs it.
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

  /// Returns whether the connection is idle, and has exceeded neither its idle time nor its age.
  func isFit(_ now: Instant) -> Bool {
    guard case .idle(let until) = state else { return false }
    return now < until && now < end
  }
}

/// The record of an exchange in its origin's queue.
struct Waiter: Sendable {
  /// The serial number, or 0 for a free slot.
  var serial: UInt64 = 0
  var exchange: ExchangeID = 0
  var origin = 0
  /// The connection being opened on the waiter's behalf, or nil if there is none.
  var opening: Int?
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
    /// The origin has neither connections nor waiters, and was used by a single exchange, so it will never be used again.
    case disposable
  }

  /// The origin's key, or nil for a free slot.
  var key: PoolKey?
  /// Idle connections, least recently used first.
  var idle = LinkedLists.List()
  /// Connections that are being opened without a waiter.
  var orphans = LinkedLists.List()
  /// The waiters in order of arrival. A connection is being opened for each waiter before
  /// `firstWithoutOpening`, and for no other waiter.
  var queue = LinkedLists.List()
  var firstWithoutOpening: Int?
  var connectionCount = 0
  var standing = Standing.used
  /// The counters that can't be derived from the lists.
  var counters = ConnectionCounters()

  /// The standing that follows from the current connections and waiters.
  var presentStanding: Standing {
    if !queue.isEmpty { return .used }
    if connectionCount == 0 { return key?.exclusiveTo == nil ? .dormant : .disposable }
    return orphans.isEmpty ? .used : .orphaned
  }
}

/// The pool's state after descriptors have run out. It limits the opening of connections until descriptors are available again.
struct DescriptorShortage: Sendable {
  /// The number of connections that may be started now.
  var permits = 0
  /// The time of the next attempt, or nil while a permit or an opening in progress will show whether descriptors are available.
  var retry: Instant?
  /// The length of the latest pause, or zero if a descriptor has become available since then.
  var pause = Duration.zero
}
