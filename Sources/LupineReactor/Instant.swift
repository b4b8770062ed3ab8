// The one clock: CLOCK_MONOTONIC, in nanoseconds. Everything that decides by time takes an instant as a parameter.

internal import Glibc

/// A point in time on the monotonic clock.
public struct Instant: Sendable, Hashable, Comparable {
  /// Nanoseconds since an arbitrary start, usually the machine's.
  public let nanoseconds: UInt64

  /// Creates an instant; a virtual clock's start is 0.
  public init(nanoseconds: UInt64) {
    self.nanoseconds = nanoseconds
  }

  /// The clock's present reading.
  public static var now: Instant { Instant(nanoseconds: reading(of: CLOCK_MONOTONIC)) }

  /// Seconds since 1970 at this instant, by the system clock's present idea of the time.
  public var secondsSince1970: Double {
    let age = Double(Instant.now.nanoseconds) - Double(nanoseconds)
    return (Double(Self.reading(of: CLOCK_REALTIME)) - age) / 1e9
  }

  private static func reading(of clock: clockid_t) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Compares two readings of the clock.
  public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

  /// The instant that much later. A negative duration counts as none; one beyond the clock's end as the end.
  public static func + (instant: Instant, duration: Duration) -> Instant {
    let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
    return Instant(nanoseconds: overflow ? .max : sum)
  }

  /// How much later the left instant is; zero if it is earlier.
  public static func - (later: Instant, earlier: Instant) -> Duration {
    later > earlier ? .nanoseconds(Int64(clamping: later.nanoseconds - earlier.nanoseconds)) : .zero
  }
}

extension Duration {
  /// At least zero and at most what 64 bits hold, 584 years.
  var wholeNanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (product, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, carry) = product.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
    return overflow || carry ? .max : sum
  }
}
