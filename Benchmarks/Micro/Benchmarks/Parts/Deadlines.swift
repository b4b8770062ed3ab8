// Benchmarks of an event loop's deadline queue.

import Benchmark
@_spi(Loop) import LupineReactor

func deadlines() {
  for count in [1, 10_000] {
    Benchmark("set and cancel a deadline, others set: \(count - 1)") { benchmark in
      let keys = count..<count + benchmark.scaledIterations.count
      var queue = DeadlineQueue<Int>()
      for key in 1..<count { queue.set(key, to: Instant(nanoseconds: UInt64(key) * 1_000_000)) }
      benchmark.measure(consume queue) { queue in
        for key in keys {
          queue.set(key, to: Instant(nanoseconds: UInt64(key % 60_000) * 1_000_000))
          queue.remove(key)
        }
      }
    }
  }
}
