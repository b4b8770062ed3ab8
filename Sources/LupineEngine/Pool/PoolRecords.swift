// What the pool knows of each connection, waiter and origin.

internal import LupineReactor
internal import LupineWire

/// A connection, from the decision to open it until it is closed.
struct PooledConnection: Sendable {
  enum State: Sendable {
    /// On behalf of a waiter, or of nobody any more.
    case opening(asker: Int?)
    case busy
    case idle(until: Instant)
  }

  /// 0 stands for a free slot.
  var serial: UInt32 = 0
  var origin = 0
  var state = State.busy
  /// How many exchanges it was given to.
  var uses = 0
  /// When it is too old to be given to another exchange.
  var end = Instant(nanoseconds: .max)
  /// Whether it is among those that `end` is waited for.
  var isAging = false

  /// Whether it is idle, and neither for too long nor too old.
  func isFit(_ now: Instant) -> Bool {
    guard case .idle(let until) = state else { return false }
    return now < until && now < end
  }
}

/// An exchange in its origin's queue.
struct Waiter: Sendable {
  /// 0 stands for a free slot.
  var serial: UInt64 = 0
  var exchange: ExchangeID = 0
  var origin = 0
  /// The connection that is being opened on its behalf.
  var opening: Int?
}

/// The connections of one key, and who waits for them.
struct PooledOrigin: Sendable {
  enum Standing: Sendable {
    /// It has waiters, or connections that somebody has asked for or used.
    case used
    /// Connections are being opened there on behalf of nobody, and nobody waits.
    case needless
    /// It has neither connections nor waiters.
    case dormant
    /// The same, and nobody will ask for it again, since it was one exchange's alone.
    case spent
  }

  /// Nil stands for a free slot.
  var key: PoolKey?
  /// The newest last.
  var idle = LinkedLists.List()
  /// Connections that are being opened on behalf of nobody.
  var orphans = LinkedLists.List()
  /// Who waits. The first ones have a connection on its way each, from `firstUnattended` on none has.
  var queue = LinkedLists.List()
  var firstUnattended: Int?
  var connectionCount = 0
  var standing = Standing.used
  /// Those of its numbers that aren't told by the lists.
  var counters = ConnectionCounters()

  /// What its standing has to be, by its connections and waiters.
  var presentStanding: Standing {
    if !queue.isEmpty { return .used }
    if connectionCount == 0 { return key?.exclusiveTo == nil ? .dormant : .spent }
    return orphans.isEmpty ? .used : .needless
  }
}
