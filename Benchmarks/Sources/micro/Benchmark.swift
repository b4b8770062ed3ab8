// How a piece of work is measured: the median of many short batches, or a number of operations for callgrind to count.

internal import Glibc

/// A piece of work that is done over and over.
struct Benchmark {
  let name: String
  /// Bytes that one operation goes through; 0 if they don't matter.
  var bytes = 0
  /// Does it so many times.
  let work: (Int) -> Void
}

/// The figures of one benchmark.
struct Figures {
  /// Nanoseconds of one operation: the median of the batches.
  let median: Double
  /// The fastest and the slowest batch's.
  let spread: ClosedRange<Double>
}

extension Benchmark {
  /// A batch takes about that long: short enough to fall between two interruptions, long enough for the clock.
  static let batchNanoseconds = 5e6
  static let batches = 41

  /// Figures of several benchmarks, whose batches take turns, so that a slow moment of the machine is in all of them.
  static func measure(_ benchmarks: [Benchmark]) -> [Figures] {
    let counts = benchmarks.map { $0.operationsPerBatch() }
    var times = benchmarks.map { _ in [Double]() }
    for _ in 0..<batches {
      for (index, benchmark) in benchmarks.enumerated() {
        times[index].append(benchmark.time(counts[index]) / Double(counts[index]))
      }
    }
    return times.map { times in
      let sorted = times.sorted()
      return Figures(median: sorted[sorted.count / 2], spread: sorted[0]...sorted[sorted.count - 1])
    }
  }

  private func operationsPerBatch() -> Int {
    var count = 1
    while true {
      let time = time(count)
      if time >= Self.batchNanoseconds / 4 { return max(1, Int(Double(count) * Self.batchNanoseconds / time)) }
      count *= 2
    }
  }

  private func time(_ count: Int) -> Double {
    let start = Self.nanoseconds()
    work(count)
    return Self.nanoseconds() - start
  }

  private static func nanoseconds() -> Double {
    var time = timespec()
    // SAFETY: the structure lives for the call, which fills it.
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }
}

/// Keeps a value, and so the work that made it, from being optimised away.
@inline(never) @_optimize(none)
func keep<Value>(_ value: Value) {}
