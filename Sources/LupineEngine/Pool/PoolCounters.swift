// What the pool counts: the connections of now, and what has happened so far.

public import LupineWire

/// Connections and waiters, of one origin or of all.
///
/// `created` is always the sum of `idle`, `active` and all of `closed`.
public struct ConnectionCounters: Sendable, Hashable {
  /// Connections that serve nobody at present.
  public var idle = 0
  /// Connections that serve an exchange at present.
  public var active = 0
  /// Connections that are being opened at present.
  public var opening = 0
  /// Exchanges that wait for a connection at present, those included for which one is being opened.
  public var waiting = 0
  /// Connections that have been opened.
  public var created = 0
  /// How often an exchange was given a connection that had served another one before.
  public var reused = 0
  /// Connections that couldn't be opened.
  public var openingsFailed = 0
  /// Connections that were given up while they were being opened, because nobody needed them any more.
  public var openingsAbandoned = 0
  /// Connections that were closed, or left to another protocol, by the reason.
  public var closed: [CloseReason: Int] = [:]

  /// Creates counters that stand at 0.
  public init() {}

  /// Adds what others have counted: another origin, or another loop.
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

/// What the pool of one loop, or of all of them, has counted.
public struct PoolCounters: Sendable, Hashable {
  /// What was counted for an origin since it is remembered.
  public struct OfOrigin: Sendable, Hashable {
    /// The origin. It may occur more than once, if its connections were made with different settings.
    public var origin: Origin
    /// What was counted for it.
    public var connections: ConnectionCounters
  }

  /// Everything since the loop's start; it stays when an origin is forgotten.
  public var total = ConnectionCounters()
  /// The origins that are remembered (`PoolLimits.originsRememberedMax`), in no particular order.
  public var origins: [OfOrigin] = []

  /// Creates counters of nothing.
  public init() {}

  /// Adds what another loop has counted.
  public mutating func add(_ other: PoolCounters) {
    total.add(other.total)
    origins += other.origins
  }
}
