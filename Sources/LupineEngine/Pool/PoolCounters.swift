// PoolCounters: the current numbers of the pool's connections and waiters, and the totals since the pool was created.

public import LupineWire

/// The numbers of connections and of waiting exchanges, for one origin or for all origins.
///
/// `created` always equals the sum of `idle`, `active` and all values of `closed`.
public struct ConnectionCounters: Sendable, Hashable {
  /// The current number of idle connections.
  public var idle = 0
  /// The current number of connections that serve an exchange.
  public var active = 0
  /// The current number of connections being opened.
  public var opening = 0
  /// The current number of exchanges that wait for a connection, including exchanges for which a connection is being opened.
  public var waiting = 0
  /// The number of connections that have been opened so far.
  public var created = 0
  /// The number of times that an exchange received a connection that an earlier exchange had used.
  public var reused = 0
  /// The number of connections that couldn't be opened.
  public var openingsFailed = 0
  /// The number of connections that the pool abandoned while they were being opened, because no exchange needed them any longer.
  public var openingsAbandoned = 0
  /// The number of connections that were closed or switched to another protocol, by the reason.
  public var closed: [CloseReason: Int] = [:]

  /// Creates counters with all values 0.
  public init() {}

  /// Adds the counters of another origin or loop to these counters.
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

/// The counters of the connection pool of one event loop, or their sums over all loops.
public struct PoolCounters: Sendable, Hashable {
  /// The counters of one origin. They start at 0 when the pool creates a record of the origin. The pool may have forgotten earlier
  /// records of the same origin.
  public struct OfOrigin: Sendable, Hashable {
    /// The origin. Several elements have the same origin if requests to the origin had different connection settings.
    public var origin: Origin
    /// The numbers of the origin's connections and waiting exchanges.
    public var connections: ConnectionCounters
  }

  /// The numbers for all origins since the loop's start, including origins that the pool has forgotten.
  public var total = ConnectionCounters()
  /// The counters of the origins that the pool remembers (see `PoolLimits.originsRememberedMax`), in no particular order.
  public var origins: [OfOrigin] = []

  /// Creates counters with all values 0.
  public init() {}

  /// Adds the counters of another loop to these counters.
  public mutating func add(_ other: PoolCounters) {
    total.add(other.total)
    origins += other.origins
  }
}
