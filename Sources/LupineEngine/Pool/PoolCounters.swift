// PoolCounters: the pool's current connections and waiters, and totals since its start.

public import LupineWire

/// Counts of connections and waiters, of one origin or of all.
///
/// `created` always equals the sum of `idle`, `active` and all values of `closed`.
public struct ConnectionCounters: Sendable, Hashable {
  /// Idle connections at present.
  public var idle = 0
  /// Connections that serve an exchange at present.
  public var active = 0
  /// Connections being opened at present.
  public var opening = 0
  /// Exchanges that wait for a connection at present, including those that a connection is being opened for.
  public var waiting = 0
  /// Connections opened so far.
  public var created = 0
  /// The number of times that an exchange was given a connection that an earlier one had used.
  public var reused = 0
  /// Connections that couldn't be opened.
  public var openingsFailed = 0
  /// Connections abandoned while being opened, because no exchange needed them any longer.
  public var openingsAbandoned = 0
  /// Connections closed or handed over to another protocol, by reason.
  public var closed: [CloseReason: Int] = [:]

  /// Creates counters with all values 0.
  public init() {}

  /// Adds the counters of another origin or loop.
  public mutating func add(_ other: ConnectionCounters) {
    idle += other.idle
    active += other.active
    opening += other.opening
    waiting += other.waiting
    created += other.created
    reused += other.reused
    openingsFailed += other.openingsFailed
    openingsAbandoned += other.openingsAbandoned
    closed.merge(other.closed, uniquingKeysWith: +)
  }
}

/// The counters of one loop's pool, or the sum of all loops.
public struct PoolCounters: Sendable, Hashable {
  /// The counters of an origin, since the pool last began to remember it.
  public struct OfOrigin: Sendable, Hashable {
    /// The origin. It may occur more than once, if its connections have different settings.
    public var origin: Origin
    /// The origin's counters.
    public var connections: ConnectionCounters
  }

  /// All counts since the loop's start, including those of forgotten origins.
  public var total = ConnectionCounters()
  /// The remembered origins (see `PoolLimits.originsRememberedMax`), in no particular order.
  public var origins: [OfOrigin] = []

  /// Creates counters with all values 0.
  public init() {}

  /// Adds the counters of another loop.
  public mutating func add(_ other: PoolCounters) {
    total.add(other.total)
    origins += other.origins
  }
}
