// PoolHistoryVectors+Addresses: histories of connections that lose their address, or that are opened in advance.

extension PoolHistory {
  static let withdrawing = [
    PoolHistory(
      "an idle connection whose address was withdrawn closes at once",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("release 1", "idle"),
        ("withdraw 1", "close 1 addressWithdrawn"), ("acquire a 2", "connect 2 for 2"), ("count", "1"),
      ]),
    PoolHistory(
      "a busy connection whose address was withdrawn closes after its request, and serves no waiter",
      max: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("withdraw 1", ""), ("acquire a 2", "wait"),
        ("release 1", "close 1 addressWithdrawn; connect 2 for 2"), ("opened 2", "use 2 by 2"), ("release 2", "idle"),
      ]),
    PoolHistory(
      "a withdrawn connection with an age limit leaves no deadline",
      age: .seconds(5),
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("withdraw 1", ""), ("at 5", ""),
        ("expire", ""), ("release 1", "close 1 addressWithdrawn"), ("next", "-"),
      ]),
    PoolHistory(
      "a withdrawn connection that switches protocols isn't closed",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("withdraw 1", ""), ("detach 1", ""),
        ("count", "0"),
      ]),
  ]

  static let prewarming = [
    PoolHistory(
      "connections that are opened in advance serve the next requests",
      [
        ("prewarm a 2", "prewarm 1; prewarm 2"), ("opened 1", "idle"), ("opened 2", "idle"), ("acquire a 1", "use 2"),
        ("acquire a 2", "use 1"), ("total", "active 2 created 2"),
      ]),
    PoolHistory(
      "idle connections, and those being opened in advance, count as ready",
      max: 5, idle: 5,
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("release 1", "idle"),
        ("prewarm a 2", "prewarm 2"), ("prewarm a 2", ""), ("prewarm a 3", "prewarm 3"), ("count", "3"),
      ]),
    PoolHistory(
      "busy connections and those being opened for requests don't count as ready",
      max: 5, idle: 5,
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "connect 2 for 2"),
        ("prewarm a 1", "prewarm 3"), ("count", "3"),
      ]),
    PoolHistory(
      "no more connections are opened in advance than an origin may have",
      max: 2, idle: 5,
      [("acquire a 1", "connect 1 for 1"), ("prewarm a 5", "prewarm 2"), ("prewarm a 5", ""), ("count", "2")]),
    PoolHistory(
      "no more connections are opened in advance than may be idle, at the origin or in all",
      max: 5, idle: 3, idleInAll: 4,
      [
        ("prewarm a 5", "prewarm 1; prewarm 2; prewarm 3"), ("opened 1", "idle"), ("opened 2", "idle"),
        ("opened 3", "idle"), ("prewarm b 5", "prewarm 4"), ("opened 4", "idle"), ("count", "4"),
      ]),
    PoolHistory(
      "no connection is opened in advance in place of another, or while requests wait for a place",
      total: 2,
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("release 1", "idle"),
        ("prewarm b 2", "prewarm 2"), ("acquire c 2", "close 1 totalLimit; connect 3 for 2"),
        ("acquire c 3", "abandon 2; connect 4 for 3"), ("acquire c 4", "wait"), ("prewarm a 1", ""), ("count", "2"),
      ]),
    PoolHistory(
      "a request gets the first connection, whether it was opened in advance or not",
      max: 3,
      [
        ("prewarm a 1", "prewarm 1"), ("acquire a 1", "connect 2 for 1"), ("opened 1", "use 1 by 1"),
        ("opened 2", "idle"), ("count", "2"),
      ]),
    PoolHistory(
      "a connection that can't be opened in advance fails no request",
      max: 1,
      [
        ("prewarm a 1", "prewarm 1"), ("acquire a 1", "wait"), ("failed 1", "connect 2 for 1"),
        ("opened 2", "use 2 by 1"),
      ]),
    PoolHistory(
      "while descriptors are lacking, no connection is opened in advance",
      [
        ("acquire a 1", "connect 1 for 1"), ("failed 1 descriptors", "wait 1"), ("prewarm b 1", ""), ("cancel 1", ""),
        ("prewarm b 1", "prewarm 2"),
      ]),
    PoolHistory(
      "a pool that shuts down abandons connections that are opened in advance, and opens no more",
      [("prewarm a 1", "prewarm 1"), ("shutdown", "abandon 1"), ("prewarm a 1", ""), ("drained", "true")]),
  ]
}
