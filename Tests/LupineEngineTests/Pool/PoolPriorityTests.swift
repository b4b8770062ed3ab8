// PoolPriorityTests: waiters of higher priority come first, and waiters of equal priority in order of arrival.

import Testing

@testable import LupineEngine

@Suite("Priorities in the connection pool")
struct PoolPriorityTests {
  @Test("requests that wait for a pooled connection get it in the order of their priority", arguments: histories)
  func history(_ history: PoolHistory) throws { try history.run() }

  private static let histories = [
    PoolHistory(
      "a waiter of higher priority is served before those that arrived first, one of lower priority after them",
      max: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "wait"),
        ("acquire a 3 200", "wait"), ("acquire a 4 50", "wait"), ("acquire a 5 200", "wait"), ("acquire a 6", "wait"),
        ("acquire a 7 255", "wait"), ("acquire a 8 0", "wait"), ("release 1", "use 1 by 7"),
        ("release 1", "use 1 by 3"), ("release 1", "use 1 by 5"), ("release 1", "use 1 by 2"),
        ("release 1", "use 1 by 6"), ("release 1", "use 1 by 4"), ("release 1", "use 1 by 8"), ("release 1", "idle"),
      ]),
    PoolHistory(
      "a waiter of higher priority gets the opening of the last waiter with one, which keeps its place",
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"), ("acquire a 3", "wait"),
        ("acquire a 4 200", "wait 2"), ("waiter 1", "1"), ("waiter 2", "4"), ("opened 1", "use 1 by 4"),
        ("waiter 2", "1"), ("opened 2", "use 2 by 1"), ("release 1", "use 1 by 2"), ("release 2", "use 2 by 3"),
      ]),
    PoolHistory(
      "a place under the total limit goes to the waiter of the highest priority among all origins",
      total: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire b 2", "wait"),
        ("acquire c 3 200", "wait"), ("release 1", "close 1 totalLimit; connect 2 for 3"),
        ("opened 2", "use 2 by 3"), ("release 2", "close 2 totalLimit; connect 3 for 2"),
      ]),
    PoolHistory(
      "after waiters of other priorities have left, in any order, the rest is served in order of arrival",
      max: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "wait"),
        ("acquire a 3 200", "wait"), ("acquire a 4 200", "wait"), ("acquire a 5 10", "wait"), ("cancel 4", ""),
        ("acquire a 6 200", "wait"), ("cancel 3", ""), ("cancel 6", ""), ("acquire a 7", "wait"), ("cancel 5", ""),
        ("acquire a 8", "wait"), ("release 1", "use 1 by 2"), ("release 1", "use 1 by 7"),
        ("release 1", "use 1 by 8"), ("release 1", "idle"),
      ]),
  ]

  @Test(
    "the connection pool limits the priority of a request to values from 0 to 1",
    arguments: [
      (0.5, 127), (0, 0), (1, 254), (0.25, 63), (-1, 0), (7, 254), (.nan, 127), (.infinity, 254),
    ] as [(Float, UInt8)])
  func levels(priority: Float, level: UInt8) {
    #expect(ExchangePriority(priority).level == level)
  }
}
