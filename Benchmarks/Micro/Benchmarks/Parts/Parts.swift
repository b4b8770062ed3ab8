// Which parts of a request are timed, and how.

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
  /// Times what is done with a value, and neither how it is made nor how it goes.
  func measure<Value>(_ value: consuming Value, work: (inout Value) -> Void) {
    var value = value
    startMeasurement()
    work(&value)
    stopMeasurement()
    withExtendedLifetime(value) {}
  }
}
