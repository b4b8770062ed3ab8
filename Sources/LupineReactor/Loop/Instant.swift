// Instant: points in time on CLOCK_MONOTONIC, the only clock in use. Code that decides by time takes an instant as a parameter.

internal import LupineLibc

/// A point in time on the monotonic clock.
public struct Instant: Sendable, Hashable, Comparable {
  /// The number of nanoseconds since an arbitrary origin, usually the start of the machine.
  public let nanoseconds: UInt64

  /// Creates the instant with this number of nanoseconds after the clock's origin.
  @inlinable public init(nanoseconds: UInt64) {
    self.nanoseconds = nanoseconds
  }

  /// The current time.
  public static var now: Instant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
  }

  /// Returns whether the left instant is earlier.
  @inlinable public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

  /// Returns the instant after a duration. A negative duration counts as zero, and the result is limited to the clock's
  /// maximum.
  @inlinable public static func + (instant: Instant, duration: Duration) -> Instant {
    let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
    return Instant(nanoseconds: overflow ? .max : sum)
  }

  /// Returns the time from the right instant to the left instant, or zero if the left instant is earlier.
  @inlinable public static func - (later: Instant, earlier: Instant) -> Duration {
    later > earlier ? .nanoseconds(Int64(clamping: later.nanoseconds - earlier.nanoseconds)) : .zero
  }
}

extension Duration {
  /// The duration in nanoseconds, limited to the range of UInt64, which ends at 584 years.
  @inlinable var wholeNanoseconds: UInt64 {
    guard attoseconds > 0 else { return 0 }
    // 10⁹ is 2⁹ · 5⁹. After a shift for 2⁹, durations up to 2.6 hours fit 64 bits, which divide faster than 128 bits.
    let shifted = attoseconds >> 9
    let divisor = 1_953_125
    if let short = UInt64(exactly: shifted) { return short / UInt64(divisor) }
    return UInt64(clamping: shifted / Int128(divisor))
  }
}
