// The list of benchmarks, each for one part of a request, and their configuration.

import Benchmark

let benchmarks: @Sendable () -> Void = {
  Benchmark.defaultConfiguration = .init(
    metrics: [.wallClock, .throughput], scalingFactor: .kilo, maxDuration: .seconds(1))
  parser()
  fields()
  chunks()
  form()
  pool()
  deadlines()
}

extension Benchmark {
  /// Measures the time that `work` takes with `value`. The time to create and destroy the value isn't measured.
  func measure<Value>(_ value: consuming Value, work: (inout Value) -> Void) {
    var value = value
    startMeasurement()
    work(&value)
    stopMeasurement()
    withExtendedLifetime(value) {}
  }
}
