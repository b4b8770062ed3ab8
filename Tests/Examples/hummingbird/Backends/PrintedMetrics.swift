// PrintedMetrics: prints metrics, in place of a package that exports them.

import CoreMetrics
import Synchronization

/// Counts and sums in memory, printed by `text` in Prometheus' format. A service uses a package that exports to its
/// collector instead, with OpenTelemetry's bucket boundaries for durations.
package final class PrintedMetrics: MetricsFactory {
  private let series = Mutex<[String: Series]>([:])

  package init() {}

  /// A line for each label with its dimensions, sorted.
  package var text: String {
    series.withLock { $0.map { "\($0.key) \($0.value.text)\n" }.sorted().joined() }
  }

  private func make(_ label: String, _ dimensions: [(String, String)]) -> Series {
    let pairs = dimensions.map { "\(name($0.0))=\"\($0.1)\"" }.joined(separator: ",")
    let key = pairs.isEmpty ? name(label) : "\(name(label)){\(pairs)}"
    return series.withLock { series in
      if let known = series[key] { return known }
      let new = Series()
      series[key] = new
      return new
    }
  }

  private func name(_ text: String) -> String { String(text.map { $0 == "." ? "_" : $0 }) }

  package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    make(label, dimensions)
  }
  package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    make(label, dimensions)
  }
  package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { make(label, dimensions) }
  package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { make(label, dimensions) }
  package func destroyCounter(_ handler: any CounterHandler) {}
  package func destroyRecorder(_ handler: any RecorderHandler) {}
  package func destroyTimer(_ handler: any TimerHandler) {}
  package func destroyMeter(_ handler: any MeterHandler) {}
}

/// The values of one metric with one set of dimensions.
private final class Series: CounterHandler, RecorderHandler, TimerHandler, MeterHandler {
  private let state = Mutex<(count: Int, sum: Double)>((0, 0))

  var text: String { state.withLock { "\($0.sum) # \($0.count) values" } }

  private func add(_ value: Double) { state.withLock { $0 = ($0.count + 1, $0.sum + value) } }

  func increment(by amount: Int64) { add(Double(amount)) }
  func increment(by amount: Double) { add(amount) }
  func decrement(by amount: Double) { add(-amount) }
  func set(_ value: Int64) { set(Double(value)) }
  func set(_ value: Double) { state.withLock { $0 = ($0.count + 1, value) } }
  func record(_ value: Int64) { add(Double(value)) }
  func record(_ value: Double) { add(value) }
  func recordNanoseconds(_ duration: Int64) { add(Double(duration) / 1_000_000_000) }
  func reset() { state.withLock { $0 = (0, 0) } }
}
