// LatencyHistogram: durations, counted in an HDR histogram.

#if Bench
  internal import Histogram
  internal import LupineEngine

  /// Durations from 1 µs to one hour with three significant digits, in constant memory. Longer ones count as one hour.
  struct LatencyHistogram: Sendable {
    /// The longest duration in nanoseconds: one hour. Time limits of requests are shorter.
    static let nanosecondsMax: UInt64 = 3_600_000_000_000
    /// The unit in nanoseconds. Differences below 1 µs are noise of the clock and the scheduler.
    static let unitNanoseconds: UInt64 = 1_000

    private(set) var counts = Histogram<UInt64>(
      lowestDiscernibleValue: unitNanoseconds, highestTrackableValue: nanosecondsMax)
    /// The sum of all durations in nanoseconds, for an exact mean.
    private(set) var sum = 0.0

    var count: UInt64 { counts.totalCount }
    var mean: Duration { count == 0 ? .zero : .nanoseconds(Int64(sum / Double(count))) }
    var max: Duration { .nanoseconds(Int64(counts.max)) }

    mutating func record(_ duration: Duration) { record(nanoseconds: duration.wholeNanosecondsInRange) }

    /// Records the time from one instant to another, or zero if the second one is earlier. This costs less than the difference as a
    /// `Duration`, whose 128 bits would be divided.
    mutating func record(from start: Instant, to end: Instant) {
      record(nanoseconds: end > start ? end.nanoseconds - start.nanoseconds : 0)
    }

    mutating func record(nanoseconds: UInt64, count: UInt64 = 1) {
      let value = min(nanoseconds, Self.nanosecondsMax)
      counts.record(value, count: count)
      sum += Double(value) * Double(count)
    }

    /// Returns the duration that a share of all durations doesn't exceed, such as 0.99. Zero if there are none.
    func quantile(_ share: Double) -> Duration {
      count == 0 ? .zero : .nanoseconds(Int64(min(counts.valueAtPercentile(share * 100), counts.max)))
    }

    mutating func add(_ other: LatencyHistogram) {
      counts.add(other.counts)
      sum += other.sum
    }

    mutating func removeAll() {
      counts.reset()
      sum = 0
    }
  }

  extension Duration {
    fileprivate var wholeNanosecondsInRange: UInt64 {
      let (seconds, attoseconds) = components
      guard seconds >= 0, attoseconds >= 0 else { return 0 }
      guard seconds < 3_600 else { return LatencyHistogram.nanosecondsMax }
      return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }
  }
#endif
