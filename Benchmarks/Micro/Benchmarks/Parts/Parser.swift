// Benchmarks of the response parser: heads of well-known servers, a head of 64 KiB, and http-parser for comparison.

import Benchmark
import CHTTPParser
import ResponseHeads

func parser() {
  let small = ResponseHeads.all
  let large = [ResponseHeads.large(byteCount: 64 * 1024)]
  for (name, heads) in [("\(small.count) heads", small), ("a head of 64 KiB", large)] {
    measureSpeed(name, of: heads) { blackHole(ResponseHeads.parse($0)) }
    measureSpeed("\(name), http-parser", of: heads) { head in
      // SAFETY: the bytes are valid during the call, and `bytes.count` is their number.
      let lines = head.withUnsafeBytes { bytes in
        peer_parse(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
      }
      precondition(lines > 0, "http-parser didn't take a head")
    }
  }
}

/// Adds a benchmark of parsing these heads: the time of a pass, and the speed in megabytes per second.
private func measureSpeed(_ name: String, of heads: [[UInt8]], parse: @escaping @Sendable ([UInt8]) -> Void) {
  let speed = BenchmarkMetric.custom("MB/s", polarity: .prefersLarger, useScalingFactor: false)
  let byteCount = heads.reduce(0) { $0 + $1.count }
  let configuration = Benchmark.Configuration(
    metrics: [.wallClock, speed], scalingFactor: .kilo, maxDuration: .seconds(2))
  Benchmark(name, configuration: configuration) { benchmark in
    let start = ContinuousClock.now
    for _ in benchmark.scaledIterations { for head in heads { parse(head) } }
    let nanoseconds = (ContinuousClock.now - start) / .nanoseconds(1)
    benchmark.measurement(speed, Int(Double(byteCount * benchmark.scaledIterations.count) * 1e3 / nanoseconds))
  }
}
