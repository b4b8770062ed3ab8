// Samples: periodic measurements of memory, descriptors, threads and latencies.

import Foundation
import LupineTestSupport
import Synchronization

/// The memory, the open descriptors and the threads of this process at one moment.
struct ProcessState: CustomStringConvertible {
  let residentBytes: Int
  let descriptors: Int
  let threads: Int

  static var now: ProcessState {
    let numbers = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
    let pages = numbers.count > 1 ? Int(numbers[1]) ?? 0 : 0
    return ProcessState(
      residentBytes: pages * 4096, descriptors: names("/proc/self/fd").count,
      threads: names("/proc/self/task").count)
  }

  /// The number of this process's threads that belong to engines and their resolvers.
  static var engineThreadCount: Int { threadCount(named: "lupine-") }

  private static func names(_ folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  }

  var description: String { "\(residentBytes >> 20) MiB, \(descriptors) descriptors, \(threads) threads" }
}

/// One measurement during a soak test: the state of the process, and the rate and latencies of requests since the previous sample.
struct Sample: Sendable {
  /// The time of the sample, in seconds since the start of the soak test.
  let time: Double
  let residentMiB: Double
  let descriptors: Double
  let threads: Double
  let requestsPerSecond: Double
  /// The median latency in milliseconds. `ninetyNinth` is the 99th percentile, also in milliseconds.
  let median: Double
  let ninetyNinth: Double
}

/// The samples that a soak test has taken.
final class Samples: Sendable {
  private struct State {
    var samples: [Sample] = []
    var latencies: [Double] = []
    var endedCount = 0
  }

  private let state = Mutex(State())

  var all: [Sample] { state.withLock { $0.samples } }

  func note(latency: Duration) { state.withLock { $0.latencies.append(latency / .milliseconds(1)) } }

  func take(at time: Duration, _ endedCount: Int) {
    let process = ProcessState.now
    state.withLock { state in
      let sorted = state.latencies.sorted()
      let seconds = time / .seconds(1)
      let since = seconds - (state.samples.last?.time ?? 0)
      let rank = { (part: Double) in
        sorted.isEmpty ? 0 : sorted[min(Int(Double(sorted.count) * part), sorted.count - 1)]
      }
      state.samples.append(
        Sample(
          time: seconds, residentMiB: Double(process.residentBytes) / 1_048_576,
          descriptors: Double(process.descriptors), threads: Double(process.threads),
          requestsPerSecond: Double(endedCount - state.endedCount) / max(since, 0.001),
          median: rank(0.5), ninetyNinth: rank(0.99)))
      state.latencies.removeAll(keepingCapacity: true)
      state.endedCount = endedCount
    }
  }
}
