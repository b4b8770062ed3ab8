// PoolHistoryVectors: histories of the pool as tables of events and expected answers.

extension PoolHistory {
  static let serving = [
    PoolHistory(
      "a connection is opened, used, kept and used again",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("release 1", "idle"), ("acquire a 2", "use 1"),
        ("release 1", "idle"), ("count", "1"),
      ]),
    PoolHistory(
      "the connection that became idle last is used first",
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"), ("opened 1", "use 1 by 1"),
        ("opened 2", "use 2 by 2"), ("release 2", "idle"), ("at 1", ""), ("release 1", "idle"),
        ("acquire a 3", "use 1"),
        ("acquire a 4", "use 2"),
      ]),
    PoolHistory(
      "exchanges beyond the connection limit wait and are served in order",
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"), ("acquire a 3", "wait"),
        ("acquire a 4", "wait"),
        ("opened 1", "use 1 by 1"), ("opened 2", "use 2 by 2"), ("release 2", "use 2 by 3"),
        ("release 1", "use 1 by 4"), ("release 2", "idle"), ("count", "2"),
      ]),
    PoolHistory(
      "a new connection serves the longest-waiting exchange, whichever one it was opened for",
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"), ("opened 2", "use 2 by 1"),
        ("opened 1", "use 1 by 2"),
      ]),
    PoolHistory(
      "a released connection serves the longest-waiting exchange, and the connection being opened for it is kept",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "connect 2 for 2"),
        ("release 1", "use 1 by 2"), ("opened 2", "idle"), ("acquire a 3", "use 2"), ("count", "2"),
      ]),
    PoolHistory(
      "a connection that closes makes room for a waiter",
      max: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "wait"),
        ("acquire a 3", "wait"),
        ("release 1 serverAskedForClose", "close 1 serverAskedForClose; connect 2 for 2"),
        ("opened 2", "use 2 by 2"), ("release 2 exchangeFailed", "close 2 exchangeFailed; connect 3 for 3"),
        ("count", "1"),
      ]),
    PoolHistory(
      "a waiter keeps the connection being opened for it when another connection closes",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "connect 2 for 2"),
        ("release 1 bodyEndsWithClose", "close 1 bodyEndsWithClose"), ("opened 2", "use 2 by 2"),
      ]),
    PoolHistory(
      "each key has separate limits, waiters and idle connections",
      max: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire b 2", "connect 2 for 2"), ("acquire c 3", "connect 3 for 3"),
        ("acquire d 4", "connect 4 for 4"), ("acquire a 5", "wait"), ("opened 2", "use 2 by 2"), ("release 2", "idle"),
        ("opened 3", "use 3 by 3"), ("release 3", "idle"), ("opened 1", "use 1 by 1"), ("acquire d 6", "wait"),
        ("acquire c 7", "use 3"), ("release 1", "use 1 by 5"), ("opened 4", "use 4 by 4"), ("count", "4"),
      ]),
  ]

  static let ending = [
    PoolHistory(
      "a connection that can't be opened fails the exchange it was opened for, and no other",
      max: 2,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"), ("acquire a 3", "wait"),
        ("failed 2", "fail 2; connect 3 for 3"), ("opened 1", "use 1 by 1"), ("failed 3", "fail 3"),
        ("count", "1"),
      ]),
    PoolHistory(
      "a connection that can't be opened fails no exchange if it has no waiter any more",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "connect 2 for 2"),
        ("release 1", "use 1 by 2"), ("failed 2", ""), ("count", "1"),
      ]),
    PoolHistory(
      "an exchange that arrives while an unneeded connection opens doesn't fail with it, and gets another one",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "connect 2 for 2"),
        ("release 1", "use 1 by 2"), ("acquire a 3", "wait"), ("failed 2", "connect 3 for 3"),
        ("opened 3", "use 3 by 3"),
      ]),
    PoolHistory(
      "cancelling a connection's only waiter abandons the connection",
      [
        ("acquire a 1", "connect 1 for 1"), ("cancel 1", "abandon 1"), ("count", "0"),
      ]),
    PoolHistory(
      "a connection whose exchange is cancelled passes to the longest waiter without a connection",
      max: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "wait"), ("acquire a 3", "wait"), ("cancel 1", ""),
        ("failed 1", "fail 2; connect 2 for 3"), ("cancel 3", "abandon 2"), ("count", "0"),
      ]),
    PoolHistory(
      "cancelling a waiter for which no connection is being opened abandons none",
      max: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "wait"), ("cancel 2", ""), ("opened 1", "use 1 by 1"),
        ("release 1", "idle"), ("count", "1"),
      ]),
    PoolHistory(
      "cancelling an exchange twice, or after it was served, has no effect",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("cancel 1", ""),
        ("acquire a 2", "connect 2 for 2"),
        ("cancel 2", "abandon 2"), ("cancel 2", ""), ("cancel 1", ""), ("count", "1"),
      ]),
  ]

  static let resting = [
    PoolHistory(
      "idle connections beyond their limit close, oldest first",
      max: 3, idle: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"), ("opened 1", "use 1 by 1"),
        ("opened 2", "use 2 by 2"), ("release 1", "idle"), ("release 2", "close 1 idleLimit"), ("count", "1"),
        ("acquire a 3", "use 2"),
      ]),
    PoolHistory(
      "an idle limit of 0 keeps no connection",
      idle: 0,
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("release 1", "close 1 idleLimit"),
        ("count", "0"), ("next", "-"),
      ]),
    PoolHistory(
      "idle connections close at their timeout, and not before",
      [
        ("next", "-"), ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"),
        ("opened 1", "use 1 by 1"),
        ("opened 2", "use 2 by 2"), ("at 5", ""), ("release 1", "idle"), ("at 8", ""), ("release 2", "idle"),
        ("next", "15"), ("at 14", ""), ("expire", ""), ("at 15", ""), ("expire", "close 1 idleTimeout"), ("next", "18"),
        ("at 99", ""), ("expire", "close 2 idleTimeout"), ("next", "-"), ("count", "0"),
      ]),
    PoolHistory(
      "each use restarts the idle timeout, and a busy connection has none",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("release 1", "idle"), ("at 9", ""),
        ("acquire a 2", "use 1"), ("next", "-"), ("at 50", ""), ("expire", ""), ("release 1", "idle"), ("next", "60"),
        ("at 59", ""), ("expire", ""), ("count", "1"),
      ]),
    PoolHistory(
      "a connection that was unneeded when it opened has an idle timeout too",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "connect 2 for 2"),
        ("release 1", "use 1 by 2"), ("at 3", ""), ("opened 2", "idle"), ("next", "13"), ("at 13", ""),
        ("expire", "close 2 idleTimeout"),
      ]),
    PoolHistory(
      "an idle connection whose peer has closed isn't used again",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("release 1", "idle"),
        ("evict 1", "close 1 closedByPeer"), ("count", "0"), ("acquire a 2", "connect 2 for 2"),
      ]),
    PoolHistory(
      "the idle timeouts of all keys are observed",
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire b 2", "connect 2 for 2"), ("opened 1", "use 1 by 1"),
        ("opened 2", "use 2 by 2"), ("at 4", ""), ("release 2", "idle"), ("at 6", ""), ("release 1", "idle"),
        ("next", "14"), ("at 14", ""), ("expire", "close 2 idleTimeout"), ("at 16", ""),
        ("expire", "close 1 idleTimeout"), ("count", "0"),
      ]),
  ]
}

extension PoolHistory {
  /// Histories of connections whose servers announce a maximum idle time in a Keep-Alive field.
  static let keptAlive = [
    PoolHistory(
      "the pool closes a connection after the server's shorter idle time, which restarts with each use",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("release 1 for 4", "idle"), ("next", "4"),
        ("at 3", ""), ("expire", ""), ("acquire a 2", "use 1"), ("next", "-"), ("at 9", ""), ("expire", ""),
        ("release 1 for 4", "idle"), ("next", "13"), ("at 12", ""), ("expire", ""), ("at 13", ""),
        ("expire", "close 1 keepAliveLimit"), ("next", "-"), ("count", "0"),
        ("total", "created 1 reused 1 keepAliveLimit 1"),
      ]),
    PoolHistory(
      "a server's idle time that is as long as the idle timeout, or longer, has no effect",
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"), ("opened 1", "use 1 by 1"),
        ("opened 2", "use 2 by 2"), ("release 1 for 10", "idle"), ("release 2 for 20", "idle"), ("next", "10"),
        ("at 10", ""), ("expire", "close 1 idleTimeout; close 2 idleTimeout"), ("next", "-"),
      ]),
    PoolHistory(
      "a connection that has exceeded its server's idle time isn't used, even before expire is called",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("release 1 for 4", "idle"), ("at 4", ""),
        ("acquire a 2", "close 1 keepAliveLimit; connect 2 for 2"),
      ]),
    PoolHistory(
      "an older connection is used if a newer one has exceeded its server's idle time",
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"), ("opened 1", "use 1 by 1"),
        ("opened 2", "use 2 by 2"), ("release 1", "idle"), ("at 1", ""), ("release 2 for 2", "idle"), ("at 3", ""),
        ("acquire a 3", "close 2 keepAliveLimit; use 1 by 3"), ("next", "-"), ("count", "1"),
      ]),
    PoolHistory(
      "connections with and without a server's idle time close in the order of their deadlines",
      max: 3, idle: 3,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"), ("acquire a 3", "connect 3 for 3"),
        ("opened 1", "use 1 by 1"), ("opened 2", "use 2 by 2"), ("opened 3", "use 3 by 3"), ("release 1 for 9", "idle"),
        ("at 1", ""), ("release 2", "idle"), ("at 2", ""), ("release 3 for 3", "idle"), ("next", "5"), ("at 5", ""),
        ("expire", "close 3 keepAliveLimit"), ("next", "9"), ("at 9", ""), ("expire", "close 1 keepAliveLimit"),
        ("next", "11"), ("at 11", ""), ("expire", "close 2 idleTimeout"), ("next", "-"),
      ]),
    PoolHistory(
      "a server's idle time doesn't apply if a waiter takes the connection, or after a later release without one",
      max: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "wait"), ("opened 1", "use 1 by 1"),
        ("release 1 for 1", "use 1 by 2"), ("next", "-"), ("at 5", ""), ("expire", ""), ("release 1", "idle"),
        ("next", "15"), ("acquire a 3", "use 1"), ("release 1 for 1", "idle"), ("acquire a 4", "use 1"),
        ("release 1", "idle"), ("next", "15"),
      ]),
    PoolHistory(
      "a closed connection's idle time no longer affects the pool's deadline",
      idle: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"), ("opened 1", "use 1 by 1"),
        ("opened 2", "use 2 by 2"), ("release 1 for 4", "idle"), ("release 2 for 5", "close 1 idleLimit"),
        ("next", "5"),
        ("evict 2", "close 2 closedByPeer"), ("next", "-"), ("acquire a 3", "connect 3 for 3"),
        ("opened 3", "use 3 by 3"), ("release 3 for 4", "idle"), ("shutdown", "close 3 shutdown"), ("next", "-"),
      ]),
  ]

  static let all =
    serving + ending + resting + keptAlive + retiring + withdrawing + prewarming + crowded + strained + counting
    + shuttingDown

  static let retiring = [
    PoolHistory(
      "a connection that reaches its age limit during a request closes after it",
      age: .seconds(5),
      [
        ("acquire a 1", "connect 1 for 1"), ("at 1", ""), ("opened 1", "use 1 by 1"), ("next", "6"), ("at 6", ""),
        ("expire", ""), ("next", "-"), ("release 1", "close 1 ageLimit"), ("count", "0"),
      ]),
    PoolHistory(
      "an idle connection closes when it reaches its age limit",
      age: .seconds(5),
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("release 1", "idle"), ("next", "5"),
        ("at 5", ""), ("expire", "close 1 ageLimit"), ("next", "-"), ("count", "0"),
      ]),
    PoolHistory(
      "a waiter gets a new connection in place of one beyond its age limit",
      max: 1, age: .seconds(5),
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "wait"), ("at 5", ""),
        ("release 1", "close 1 ageLimit; connect 2 for 2"),
      ]),
    PoolHistory(
      "a connection beyond its idle or age limit isn't used, even before expire is called",
      age: .seconds(15),
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("release 1", "idle"), ("at 10", ""),
        ("acquire a 2", "close 1 idleTimeout; connect 2 for 2"), ("opened 2", "use 2 by 2"), ("at 24", ""),
        ("release 2", "idle"), ("at 25", ""), ("acquire a 3", "close 2 ageLimit; connect 3 for 3"),
      ]),
    PoolHistory(
      "a connection within its age limit is used before a newer idle one beyond it",
      age: .seconds(5),
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("at 4", ""),
        ("acquire a 2", "connect 2 for 2"), ("opened 2", "use 2 by 2"), ("release 2", "idle"), ("release 1", "idle"),
        ("at 5", ""), ("acquire a 3", "close 1 ageLimit; use 2 by 3"), ("cancel 3", ""), ("release 2", "idle"),
      ]),
    PoolHistory(
      "a connection closes when it reaches its use limit",
      uses: 2,
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("release 1", "idle"), ("acquire a 2", "use 1"),
        ("release 1", "close 1 usesLimit"), ("count", "0"),
      ]),
    PoolHistory(
      "a connection passed directly to a waiter counts as used",
      max: 1, uses: 2,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "wait"), ("acquire a 3", "wait"),
        ("opened 1", "use 1 by 1"), ("release 1", "use 1 by 2"), ("release 1", "close 1 usesLimit; connect 2 for 3"),
      ]),
    PoolHistory(
      "a connection that switches protocols makes room for a waiter, and isn't closed",
      max: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "wait"),
        ("detach 1", "connect 2 for 2"), ("opened 2", "use 2 by 2"), ("total", "active 1 created 2 upgraded 1"),
      ]),
    PoolHistory(
      "beyond the total idle limit, the connection idle for longest closes, whatever its origin",
      idleInAll: 2,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire b 2", "connect 2 for 2"), ("acquire c 3", "connect 3 for 3"),
        ("opened 1", "use 1 by 1"), ("opened 2", "use 2 by 2"), ("opened 3", "use 3 by 3"), ("release 2", "idle"),
        ("release 1", "idle"), ("release 3", "close 2 idleLimit"), ("acquire a 4", "use 1"), ("count", "2"),
      ]),
  ]

  static let crowded = [
    PoolHistory(
      "idle connections make room for other origins, the one idle for longest first",
      total: 2,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire b 2", "connect 2 for 2"), ("opened 1", "use 1 by 1"),
        ("opened 2", "use 2 by 2"), ("release 2", "idle"), ("release 1", "idle"),
        ("acquire c 3", "close 2 totalLimit; connect 3 for 3"), ("acquire d 4", "close 1 totalLimit; connect 4 for 4"),
        ("acquire a 5", "wait"), ("count", "2"),
      ]),
    PoolHistory(
      "free places go to the longest waiter, whatever its origin",
      max: 3, total: 2,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"), ("opened 1", "use 1 by 1"),
        ("opened 2", "use 2 by 2"), ("acquire b 3", "wait"), ("acquire c 4", "wait"), ("acquire a 5", "wait"),
        ("release 1", "close 1 totalLimit; connect 3 for 3"),
        ("release 2 cancelled", "close 2 cancelled; connect 4 for 4"),
        ("opened 3", "use 3 by 3"), ("release 3", "close 3 totalLimit; connect 5 for 5"),
      ]),
    PoolHistory(
      "an origin whose connection is always in demand doesn't starve another origin",
      max: 1, total: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "wait"), ("acquire b 3", "wait"), ("acquire a 4", "wait"),
        ("opened 1", "use 1 by 1"), ("release 1", "use 1 by 2"), ("release 1", "close 1 totalLimit; connect 2 for 3"),
        ("opened 2", "use 2 by 3"), ("release 2", "close 2 totalLimit; connect 3 for 4"),
      ]),
    PoolHistory(
      "a newly opened connection is used at least once",
      max: 2, total: 2,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire b 2", "connect 2 for 2"), ("acquire b 3", "wait"),
        ("acquire a 4", "wait"), ("cancel 1", ""), ("waiter 1", "4"), ("opened 1", "use 1 by 4"),
        ("release 1", "close 1 totalLimit; connect 3 for 3"),
      ]),
    PoolHistory(
      "a connection being opened without a waiter makes room when no idle one is left",
      total: 2,
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "connect 2 for 2"),
        ("release 1", "use 1 by 2"), ("waiter 2", "-"), ("acquire b 3", "abandon 2; connect 3 for 3"),
        ("opened 3", "use 3 by 3"), ("total", "active 2 created 2 reused 1 abandoned 1"),
      ]),
    PoolHistory(
      "a connection that loses its last waiter is abandoned at once if another origin waits",
      total: 2,
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "connect 2 for 2"),
        ("acquire b 3", "wait"), ("release 1", "use 1 by 2; abandon 2; connect 3 for 3"),
      ]),
    PoolHistory(
      "a waiter that is cancelled leaves its place to the next",
      total: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire b 2", "wait"), ("acquire c 3", "wait"), ("cancel 2", ""),
        ("cancel 1", "abandon 1; connect 2 for 3"), ("failed 2", "fail 3"), ("count", "0"),
      ]),
    PoolHistory(
      "exchanges beyond the waiter limit are refused, unless a connection is idle",
      max: 1, waiters: 2,
      [
        ("acquire b 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("release 1", "idle"),
        ("acquire a 2", "connect 2 for 2"), ("acquire a 3", "wait"), ("acquire a 4", "refused tooManyWaiters(2)"),
        ("acquire c 5", "refused tooManyWaiters(2)"), ("acquire b 6", "use 1"), ("cancel 3", ""),
        ("acquire c 7", "connect 3 for 7"),
        ("origins", "a: opening 1 waiting 1; a:8080: opening 1 waiting 1; b: active 1 created 1 reused 1"),
      ]),
  ]

  static let strained = [
    PoolHistory(
      "without descriptors no exchange fails, and the pauses between attempts double up to a second",
      [
        ("acquire a 1", "connect 1 for 1"), ("failed 1 descriptors", "wait 1"), ("next", "0.01"), ("at 0.009", ""),
        ("expire", ""), ("at 0.01", ""), ("expire", "connect 2 for 1"), ("next", "-"),
        ("failed 2 descriptors", "wait 1"), ("next", "0.03"), ("at 1", ""), ("expire", "connect 3 for 1"),
        ("failed 3 descriptors", "wait 1"), ("next", "1.04"), ("at 2", ""), ("expire", "connect 4 for 1"),
        ("failed 4 descriptors", "wait 1"), ("next", "2.08"), ("at 3", ""), ("expire", "connect 5 for 1"),
        ("failed 5 descriptors", "wait 1"), ("next", "3.16"), ("at 4", ""), ("expire", "connect 6 for 1"),
        ("failed 6 descriptors", "wait 1"), ("next", "4.32"), ("at 5", ""), ("expire", "connect 7 for 1"),
        ("failed 7 descriptors", "wait 1"), ("next", "5.64"), ("at 6", ""), ("expire", "connect 8 for 1"),
        ("failed 8 descriptors", "wait 1"), ("next", "7"), ("at 7", ""), ("expire", "connect 9 for 1"),
        ("failed 9 descriptors", "wait 1"), ("next", "8"), ("at 8", ""), ("expire", "connect 10 for 1"),
        ("opened 10", "use 10 by 1"), ("next", "-"), ("acquire b 2", "connect 11 for 2"),
        ("failed 11 descriptors", "wait 2"), ("next", "8.01"),
      ]),
    PoolHistory(
      "the connection idle for longest closes to free its descriptor, and the attempt is repeated at once",
      [
        ("acquire b 1", "connect 1 for 1"), ("acquire c 2", "connect 2 for 2"), ("opened 1", "use 1 by 1"),
        ("opened 2", "use 2 by 2"), ("release 2", "idle"), ("release 1", "idle"), ("acquire a 3", "connect 3 for 3"),
        ("failed 3 descriptors", "wait 3; close 2 descriptorsNeeded; connect 4 for 3"),
        ("failed 4 descriptors", "wait 3; close 1 descriptorsNeeded; connect 5 for 3"),
        ("failed 5 descriptors", "wait 3"), ("count", "0"), ("next", "0.02"),
      ]),
    PoolHistory(
      "each connection that closes lets one other be opened, for the longest waiter",
      max: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire b 2", "connect 2 for 2"),
        ("acquire c 3", "connect 3 for 3"), ("failed 3 descriptors", "wait 3"), ("failed 2 descriptors", "wait 2"),
        ("next", "0.01"), ("acquire d 4", "wait"), ("release 1 cancelled", "close 1 cancelled; connect 4 for 2"),
        ("next", "-"), ("failed 4", "fail 2; connect 5 for 3"), ("opened 5", "use 5 by 3; connect 6 for 4"),
        ("opened 6", "use 6 by 4"), ("next", "-"),
      ]),
    PoolHistory(
      "a connection that becomes idle closes if another origin waits for a descriptor",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire b 2", "connect 2 for 2"),
        ("failed 2 descriptors", "wait 2"), ("acquire a 3", "wait"),
        ("release 1", "close 1 descriptorsNeeded; connect 3 for 2"), ("opened 3", "use 3 by 2; connect 4 for 3"),
      ]),
    PoolHistory(
      "an origin's existing connections keep serving it while descriptors are lacking",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "connect 2 for 2"),
        ("failed 2 descriptors", "wait 2"), ("next", "0.01"), ("release 1", "use 1 by 2"), ("next", "-"),
        ("release 1", "idle"),
      ]),
    PoolHistory(
      "each descriptor obtained permits two more connection attempts",
      max: 9,
      [
        ("acquire a 1", "connect 1 for 1"), ("failed 1 descriptors", "wait 1"), ("acquire a 2", "wait"),
        ("acquire a 3", "wait"), ("acquire a 4", "wait"), ("acquire a 5", "wait"), ("at 0.01", ""),
        ("expire", "connect 2 for 1"), ("opened 2", "use 2 by 1; connect 3 for 2; connect 4 for 3"),
        ("opened 3", "use 3 by 2; connect 5 for 4; connect 6 for 5"), ("acquire a 6", "wait"),
        ("opened 4", "use 4 by 3; connect 7 for 6"), ("opened 5", "use 5 by 4"), ("acquire a 7", "connect 8 for 7"),
      ]),
    PoolHistory(
      "a connection that already had its descriptor doesn't end the pause",
      max: 9,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"), ("acquire a 3", "connect 3 for 3"),
        ("failed 3 descriptors", "wait 3"), ("opened 1", "use 1 by 1"), ("next", "0.01"), ("at 0.01", ""),
        ("expire", "connect 4 for 3"),
      ]),
    PoolHistory(
      "after a descriptor was obtained, the pauses start again at the shortest",
      max: 9,
      [
        ("acquire a 1", "connect 1 for 1"), ("failed 1 descriptors", "wait 1"), ("acquire a 2", "wait"),
        ("acquire a 3", "wait"), ("at 0.01", ""), ("expire", "connect 2 for 1"),
        ("opened 2", "use 2 by 1; connect 3 for 2; connect 4 for 3"), ("failed 4 descriptors", "wait 3"),
        ("next", "0.02"),
      ]),
    PoolHistory(
      "the longest waiter keeps a connection being opened when another attempt finds no descriptor",
      max: 3,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"), ("acquire a 3", "connect 3 for 3"),
        ("failed 1 descriptors", "wait 3"), ("waiter 3", "1"), ("waiter 2", "2"),
        ("failed 3", "fail 1; connect 4 for 3"), ("failed 4 descriptors", "wait 3"),
        ("failed 2", "fail 2; connect 5 for 3"),
      ]),
    PoolHistory(
      "cancelling the last waiter for a descriptor ends the attempts",
      [
        ("acquire a 1", "connect 1 for 1"), ("failed 1 descriptors", "wait 1"), ("next", "0.01"), ("cancel 1", ""),
        ("next", "-"), ("at 1", ""), ("expire", ""), ("acquire a 2", "connect 2 for 2"),
      ]),
    PoolHistory(
      "a lack of descriptors for an unneeded connection holds no exchange back",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "connect 2 for 2"),
        ("release 1", "use 1 by 2"), ("failed 2 descriptors", ""), ("next", "-"), ("acquire a 3", "connect 3 for 3"),
      ]),
  ]

  static let counting = [
    PoolHistory(
      "current and past connections are counted, per origin and in total",
      [
        ("total", ""), ("acquire a 1", "connect 1 for 1"), ("total", "opening 1 waiting 1"),
        ("opened 1", "use 1 by 1"), ("total", "active 1 created 1"), ("release 1", "idle"),
        ("total", "idle 1 created 1"), ("acquire a 2", "use 1"), ("total", "active 1 created 1 reused 1"),
        ("acquire b 3", "connect 2 for 3"), ("failed 2", "fail 3"), ("acquire b 4", "connect 3 for 4"),
        ("cancel 4", "abandon 3"), ("release 1 timedOut", "close 1 timedOut"),
        ("origins", "a: created 1 reused 1 timedOut 1; b: failed 1 abandoned 1"),
        ("total", "created 1 reused 1 failed 1 abandoned 1 timedOut 1"),
      ]),
    PoolHistory(
      "the first use of a connection that was kept unneeded doesn't count as reuse",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "connect 2 for 2"),
        ("release 1", "use 1 by 2"), ("opened 2", "idle"), ("acquire a 3", "use 2"),
        ("total", "active 2 created 2 reused 1"),
      ]),
    PoolHistory(
      "unused origins are forgotten, the one unused for longest first, and the totals remain",
      remembered: 2,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire b 2", "connect 2 for 2"), ("failed 2", "fail 2"),
        ("failed 1", "fail 1"), ("origins", "a: failed 1; b: failed 1"), ("acquire g 3", "connect 3 for 3"),
        ("origins", "a: failed 1; g: opening 1 waiting 1"), ("acquire b 4", "connect 4 for 4"),
        ("acquire a 5", "connect 5 for 5"),
        ("origins", "a: opening 1 waiting 1; b: opening 1 waiting 1; g: opening 1 waiting 1"),
        ("failed 5", "fail 5"), ("origins", "b: opening 1 waiting 1; g: opening 1 waiting 1"),
        ("total", "opening 2 waiting 2 failed 3"),
      ]),
  ]

  static let shuttingDown = [
    PoolHistory(
      "a shutdown refuses waiters and new exchanges, closes idle connections, abandons opening ones, awaits busy ones",
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"), ("opened 1", "use 1 by 1"),
        ("opened 2", "use 2 by 2"), ("acquire a 3", "wait"), ("acquire b 4", "connect 3 for 4"),
        ("acquire c 5", "connect 4 for 5"), ("opened 4", "use 4 by 5"), ("release 4", "idle"), ("drained", "false"),
        ("shutdown", "refuse 3 shuttingDown; refuse 4 shuttingDown; abandon 3; close 4 shutdown"),
        ("shutdown", ""), ("cancel 3", ""), ("acquire a 6", "refused shuttingDown"), ("count", "2"),
        ("drained", "false"), ("release 1", "close 1 shutdown"),
        ("release 2 serverAskedForClose", "close 2 serverAskedForClose"),
        ("drained", "true"), ("next", "-"), ("total", "created 3 abandoned 1 serverAskedForClose 1 shutdown 2"),
      ]),
    PoolHistory(
      "a pool without connections is drained at once",
      [("drained", "false"), ("shutdown", ""), ("drained", "true"), ("acquire a 1", "refused shuttingDown")]),
    PoolHistory(
      "a shutdown ends the wait for descriptors",
      [
        ("acquire a 1", "connect 1 for 1"), ("failed 1 descriptors", "wait 1"),
        ("shutdown", "refuse 1 shuttingDown"), ("next", "-"), ("drained", "true"),
      ]),
  ]
}
