// The one clock: CLOCK_MONOTONIC, in nanoseconds. Everything that decides by time takes an instant as a parameter.

internal import Glibc

/// A point in time on the monotonic clock.
public struct Instant: Sendable, Hashable, Comparable {
  /// Nanoseconds since an arbitrary start, usually the machine's.
  public let nanoseconds: UInt64

  /// Creates an instant; a virtual clock's start is 0.
  @inlinable public init(nanoseconds: UInt64) {
    self.nanoseconds = nanoseconds
  }

  /// The clock's present reading.
  public static var now: Instant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
  }

  /// Compares two readings of the clock.
  @inlinable public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

  /// The instant that much later. A negative duration counts as none; one beyond the clock's end as the end.
  @inlinable public static func + (instant: Instant, duration: Duration) -> Instant {
    let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
    return Instant(nanoseconds: overflow ? .max : sum)
  }

  /// How much later the left instant is; zero if it is earlier.
  @inlinable public static func - (later: Instant, earlier: Instant) -> Duration {
    later > earlier ? .nanoseconds(Int64(clamping: later.nanoseconds - earlier.nanoseconds)) : .zero
  }
}

extension Duration {
  /// At least zero and at most what 64 bits hold, 584 years.
  @inlinable var wholeNanoseconds: UInt64 {
    guard attoseconds > 0 else { return 0 }
    // 10⁹ is 2⁹ · 5⁹. After a division by the first, which is a shift, up to 2.6 hours fit 64 bits.
    let shifted = attoseconds >> 9
    let divisor = 1_953_125
    if let short = UInt64(exactly: shifted) { return short / UInt64(divisor) }
    return UInt64(clamping: shifted / Int128(divisor))
  }
}
