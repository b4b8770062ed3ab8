// PoolLimits: all limits of the connection pool, with their units and the reasons for their defaults.

/// The limits of one loop's connection pool: connections, idle times and waiters.
///
/// Each loop has a separate pool. An origin belongs to one loop by default, so limits per origin are exact. Total
/// limits apply to each loop.
public struct PoolLimits: Sendable, Hashable {
  /// The maximum number of connections to one origin: busy connections, idle connections and those being opened. 64 by default, and
  /// at least 1.
  ///
  /// Exchanges beyond the limit wait, by priority and then in order of arrival. Browsers open 6 connections, AsyncHTTPClient 8, and
  /// Go sets no limit.
  public var connectionsPerOriginMax = 64

  /// The maximum number of connections to all origins: busy connections, idle connections and those being opened. 768 by default,
  /// and at least 1. `.max` sets no limit.
  ///
  /// 768 is three quarters of 1,024, the usual `ulimit -n`. The last quarter is left for second connection attempts and the
  /// program's files. To make room, the pool closes idle connections. Exchanges beyond the limit wait, by priority and then in
  /// order of arrival, across all origins.
  public var connectionsMax = 768

  /// The maximum number of idle connections to one origin. 64 by default, so that a burst of requests can keep all of its
  /// connections. If 0, the pool keeps no idle connections.
  public var idlePerOriginMax = 64

  /// The maximum number of idle connections to all origins. 256 by default. Go keeps 100. If 0, the pool keeps no idle connections.
  public var idleMax = 256

  /// The time after which an idle connection is closed. 60 s by default, less than nginx's 75 s. Go uses 90 s.
  ///
  /// If the connection's latest response has a Keep-Alive field with a shorter `timeout`, the connection is closed 1 s before that
  /// time has passed, or after half of the time if it is 1 s.
  public var idleTimeout = Duration.seconds(60)

  /// The maximum age of a connection. No limit if nil (the default).
  ///
  /// The pool closes an older connection as soon as the connection is released or idle, but never during a request. With a limit,
  /// changes of addresses and load balancers take effect. The nginx server closes connections after an hour; Go sets no limit.
  public var connectionAgeMax: Duration?

  /// The fraction by which the maximum age of a connection is shortened at most, from 0 to 1. 0.1 (10 %) by default.
  ///
  /// Each connection gets a random age between `connectionAgeMax` and this fraction less. Otherwise connections that were opened
  /// together would be replaced together, and a server would get all of their handshakes within a second.
  public var connectionAgeJitter = 0.1

  /// The maximum number of requests that one connection serves, at least 1. No limit if nil (the default).
  ///
  /// The nginx server closes connections after 1,000 requests, and announces this in its last response.
  public var usesPerConnectionMax: Int?

  /// The minimum number of connections to one origin that are ready for a request: idle, or being opened in advance. 0 by default.
  ///
  /// When a request gets or awaits a connection, the pool opens as many connections in advance as are missing, TLS included, but no
  /// more than the other limits permit. A ready connection that is closed, for example after `idleTimeout`, isn't replaced until the
  /// origin's next request, so an unused origin keeps no connections. `Engine.prewarm` opens connections before the first request.
  public var readyPerOriginMin = 0

  /// The maximum number of exchanges that wait for a connection. 100,000 by default, and at least 1. The pool refuses further
  /// exchanges.
  ///
  /// The limit bounds memory when the server is slower than the callers: a waiting exchange takes about 100 bytes, in addition to
  /// its request.
  public var waitersMax = 100_000

  /// The maximum number of origins whose counters the pool keeps. 1,000 by default, which takes about 500 kB. Beyond the limit, the
  /// pool forgets the least recently used origins that have neither connections nor waiting exchanges.
  public var originsRememberedMax = 1_000

  /// The maximum number of connections that a loop begins to open in one of its iterations, at least 1. No limit by default.
  ///
  /// Opening a connection takes several times as long as a request. If a load generator opened connections for all requests of a
  /// burst in one iteration, more would be due meanwhile, and it would fall behind for good. With a limit, responses that have arrived
  /// meanwhile free their connections first.
  package var openingsPerIterationMax = Int.max

  /// Creates limits with the default values.
  public init() {}
}

extension PoolLimits {
  /// The first pause in opening connections after the process has run out of descriptors: 10 ms. Each further pause is twice as
  /// long.
  ///
  /// 10 ms is long enough to avoid a busy loop, and short compared with a handshake.
  static let descriptorRetryMin = Duration.milliseconds(10)

  /// The maximum pause in opening connections after the process has run out of descriptors: 1 s, so that the pool notices within a
  /// second that a descriptor is free.
  static let descriptorRetryMax = Duration.seconds(1)

  /// How long before the time in the response's Keep-Alive field the pool closes an idle connection: 1 s, as in undici. The margin
  /// covers the transmission times of the response and the next request.
  static let keepAliveMargin = Duration.seconds(1)

  /// Returns the maximum time for which a connection may be idle if the server closes it after `seconds`: this time minus
  /// `keepAliveMargin`, or half of it if the margin is as long.
  static func idleTimeMax(keepAliveSeconds seconds: UInt64) -> Duration {
    let time = Duration.seconds(Int64(clamping: seconds))
    return time > keepAliveMargin ? time - keepAliveMargin : time / 2
  }

  /// Traps if the limits are so low that no exchange could ever get a connection.
  func validate() {
    precondition(connectionsPerOriginMax >= 1, "connectionsPerOriginMax must be at least 1")
    precondition(connectionsMax >= 1, "connectionsMax must be at least 1")
    precondition(openingsPerIterationMax >= 1, "openingsPerIterationMax must be at least 1")
    precondition(waitersMax >= 1, "waitersMax must be at least 1, because a request waits for each new connection")
    precondition(usesPerConnectionMax ?? 1 >= 1, "usesPerConnectionMax must be at least 1")
    precondition(idlePerOriginMax >= 0 && idleMax >= 0, "idlePerOriginMax and idleMax must not be negative")
    precondition(originsRememberedMax >= 0, "originsRememberedMax must not be negative")
    precondition(readyPerOriginMin >= 0, "readyPerOriginMin must not be negative")
    precondition(0...1 ~= connectionAgeJitter, "connectionAgeJitter must be from 0 to 1")
  }
}
