// Every limit of the connection pool, with its unit and where the figure comes from.

/// How many connections the pool of one loop keeps and for how long, and how many exchanges may wait for one.
///
/// Each loop has a pool of its own, and an origin belongs to one loop: limits of an origin are exact, limits "in all"
/// hold for each loop.
public struct PoolLimits: Sendable, Hashable {
  /// Connections to one origin, busy, idle and being opened, at least 1; 64 by default.
  ///
  /// Browsers open 6, AsyncHTTPClient 8, Go sets no limit. Exchanges beyond it wait in order.
  public var connectionsPerOriginMax = 64

  /// Connections in all, busy, idle and being opened, at least 1; 768 by default, `.max` for no limit.
  ///
  /// Three quarters of 1,024, the usual `ulimit -n`: the rest is left for second attempts to connect and for the
  /// program's own files. Exchanges beyond it wait in order, whatever their origin; idle connections make room.
  public var connectionsMax = 768

  /// Idle connections to one origin, 0 for none; 64 by default, so that a burst leaves all of them.
  public var idlePerOriginMax = 64

  /// Idle connections in all, 0 for none; 256 by default. Go keeps 100.
  public var idleMax = 256

  /// How long an idle connection is kept; 60 s by default, below nginx's 75 s. Go keeps them for 90 s.
  public var idleTimeout = Duration.seconds(60)

  /// How old a connection may become; nil, the default, for any age.
  ///
  /// An older one is closed as soon as it is free or idle, never under a request, so that changed addresses and load
  /// balancers take effect. nginx, as a server, ends connections after an hour; Go sets no limit.
  public var connectionAgeMax: Duration?

  /// How many requests one connection may serve, at least 1; nil, the default, for any number.
  ///
  /// nginx as a server closes after 1,000 by itself, and says so in time.
  public var usesPerConnectionMax: Int?

  /// Exchanges that wait for a connection, at least 1; 100,000 by default. Further ones are refused.
  ///
  /// It bounds memory, some 100 bytes each and what the requests hold, when a server is slower than its users.
  public var waitersMax = 100_000

  /// Origins that are remembered while they have neither a connection nor a waiter, so that their counters stay;
  /// further ones are forgotten once there are more origins than that, the longest unused first. 1,000 by default: some
  /// 500 kB.
  public var originsRememberedMax = 1_000

  /// Creates the default limits.
  public init() {}
}

extension PoolLimits {
  /// The pause behind the first attempt to open a connection that found no descriptor left; it doubles each time.
  ///
  /// 10 ms: long enough not to be a busy loop, short enough not to be noticed beside a handshake.
  static let descriptorRetryMin = Duration.milliseconds(10)

  /// The longest such pause: what others free is noticed a second later at most.
  static let descriptorRetryMax = Duration.seconds(1)

  /// Traps on limits that would leave every exchange waiting for ever.
  func validate() {
    precondition(connectionsPerOriginMax >= 1, "connectionsPerOriginMax is below 1: nobody could ever connect")
    precondition(connectionsMax >= 1, "connectionsMax is below 1: nobody could ever connect")
    precondition(waitersMax >= 1, "waitersMax is below 1: nobody could wait for a connection to be opened")
    precondition(usesPerConnectionMax ?? 1 >= 1, "usesPerConnectionMax is below 1: a connection has to serve somebody")
    precondition(idlePerOriginMax >= 0 && idleMax >= 0, "a number of idle connections is negative")
    precondition(originsRememberedMax >= 0, "originsRememberedMax is negative")
  }
}
