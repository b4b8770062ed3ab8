// InstantTests: arithmetic with readings of the clock, which saturates, and the clock's monotonicity.

import Glibc
import Testing

@testable import LupineReactor

@Suite("Instant")
struct InstantTests {
  @Test(
    "adding a duration to an instant saturates at both ends of the instant's range",
    arguments: [
      (0, .zero, 0),
      (5, .nanoseconds(7), 12),
      (5, .nanoseconds(-7), 5),
      (5, .seconds(-1), 5),
      (0, .seconds(2), 2_000_000_000),
      (0, .milliseconds(1_500), 1_500_000_000),
      (0, Duration(secondsComponent: 0, attosecondsComponent: 999_999_999), 0),
      (0, Duration(secondsComponent: 1, attosecondsComponent: 1_999_999_999), 1_000_000_001),
      // The values on both sides of the largest number of units of 512 attoseconds that 64 bits can represent.
      (0, Duration(secondsComponent: 9_444, attosecondsComponent: 732_965_739_290_427_391), 9_444_732_965_739),
      (0, Duration(secondsComponent: 9_444, attosecondsComponent: 732_965_740_000_000_000), 9_444_732_965_740),
      (7, .seconds(86_400), 86_400_000_000_007),
      (.max, .zero, .max),
      (.max, .nanoseconds(1), .max),
      (.max - 5, .nanoseconds(5), .max),
      (1, .seconds(Int64.max), .max),
      (0, Duration(secondsComponent: 18_446_744_073, attosecondsComponent: 709_551_615_000_000_000), .max),
      (0, Duration(secondsComponent: 18_446_744_073, attosecondsComponent: 709_551_614_000_000_000), .max - 1),
      (0, Duration(secondsComponent: 18_446_744_073, attosecondsComponent: 709_551_616_000_000_000), .max),
      (0, .seconds(18_446_744_074), .max),
      (5, .seconds(Int64.min), 5),
    ] as [(UInt64, Duration, UInt64)])
  func addition(_ start: UInt64, _ duration: Duration, _ expected: UInt64) {
    #expect((Instant(nanoseconds: start) + duration).nanoseconds == expected)
  }

  @Test(
    "the difference of two instants is never negative, and at most Int64.max nanoseconds",
    arguments: [
      (5, 3, .nanoseconds(2)),
      (3, 5, .zero),
      (3, 3, .zero),
      (.max, 0, .nanoseconds(Int64.max)),
      (UInt64(Int64.max), 0, .nanoseconds(Int64.max)),
      (3_000_000_000, 500_000_000, .milliseconds(2_500)),
    ] as [(UInt64, UInt64, Duration)])
  func difference(_ later: UInt64, _ earlier: UInt64, _ expected: Duration) {
    #expect(Instant(nanoseconds: later) - Instant(nanoseconds: earlier) == expected)
  }

  @Test("instants of the monotonic clock are ordered by their nanoseconds")
  func order() {
    let (early, late) = (Instant(nanoseconds: 1), Instant(nanoseconds: 2))
    #expect(early < late)
    #expect(!(late < early) && !(early < early))
    #expect(early == Instant(nanoseconds: 1))
  }

  @Test("the time of the monotonic clock never decreases")
  func monotonic() {
    var before = Instant.now
    for _ in 0..<1_000 {
      let now = Instant.now
      #expect(now >= before)
      before = now
    }
  }
}
