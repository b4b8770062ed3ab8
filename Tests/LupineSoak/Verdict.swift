// Verdict: whether a soak has passed: no request lost or wrong, and no growth after the warm-up.

import Foundation
import Glibc

/// Whether a soak test has passed, and the reasons if it hasn't.
struct Verdict: CustomStringConvertible {
  /// The median of a measured value in the quarter after the warm-up, and in the last quarter.
  private struct Growth {
    let name: String
    let before: Double
    let after: Double
    let allowed: Double

    var isTooLarge: Bool { after > allowed }
    var description: String {
      let numbers = [before, after, allowed].map { String(format: "%.1f", $0) }
      return "\(name): \(numbers[0]), at the end \(numbers[1]), limit \(numbers[2])"
    }
  }

  private let counts: Ledger.Counts
  private let restarts: Int
  private let problems: [String]
  private let growths: [Growth]

  var isGood: Bool { problems.isEmpty && growths.allSatisfy { !$0.isTooLarge } }
  var title: String {
    "\(counts.begun) requests, \(restarts) restarts of the servers: \(isGood ? "nothing lost, no growth" : "FAILED")"
  }

  init(
    samples: [Sample], warmUp: Double, counts: Ledger.Counts, restarts: Int, left: [String], files: [String]
  ) {
    self.counts = counts
    self.restarts = restarts
    var problems = counts.problems + left
    if !counts.open.isEmpty { problems.append("\(counts.open.count) requests never ended: \(counts.open)") }
    let silent = Traffic.allCases.filter { counts.right[$0] == nil }
    if !silent.isEmpty { problems.append("no request of these kinds succeeded: \(silent.map(\.rawValue))") }
    if !files.isEmpty { problems.append("files are left: \(files)") }
    if restarts == 0 { problems.append("no server was restarted") }
    // Restarts interrupt some requests. If this limit were larger, it would hide requests that are lost for another reason.
    if counts.interrupted > restarts * 64 { problems.append("\(counts.interrupted) requests were interrupted") }
    self.problems = problems
    // The allocator's arenas grow slowly, the number of threads depends on the servers' connections, and latency
    // depends on the load of the machine. A sanitizer retains freed memory, and more of it over time.
    let isSanitized = dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
    growths = [
      Self.growth("MiB resident", samples, warmUp, \.residentMiB) { isSanitized ? .infinity : $0 * 1.1 + 8 },
      Self.growth("descriptors", samples, warmUp, \.descriptors) { $0 * 1.25 + 8 },
      Self.growth("threads", samples, warmUp, \.threads) { $0 * 1.25 + 8 },
      Self.growth("ms at the median", samples, warmUp, \.median) { $0 * 5 + 20 },
    ]
  }

  private static func growth(
    _ name: String, _ samples: [Sample], _ warmUp: Double, _ path: KeyPath<Sample, Double>, allowed: (Double) -> Double
  ) -> Growth {
    let steady = samples.filter { $0.time > warmUp }
    let end = samples.last?.time ?? 0
    let before = median(steady.filter { $0.time < 2 * warmUp }.map { $0[keyPath: path] })
    let after = median(steady.filter { $0.time > end - warmUp }.map { $0[keyPath: path] })
    return Growth(name: name, before: before, after: after, allowed: allowed(before))
  }

  private static func median(_ values: [Double]) -> Double {
    values.isEmpty ? 0 : values.sorted()[values.count / 2]
  }

  var description: String {
    var lines = [title, "interrupted by a restart: \(counts.interrupted)"]
    lines.append(
      counts.right.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
    lines += growths.map { ($0.isTooLarge ? "GROWN: " : "") + $0.description }
    lines += problems.prefix(20).map { "PROBLEM: \($0)" }
    if problems.count > 20 { lines.append("and \(problems.count - 20) more") }
    return lines.joined(separator: "\n")
  }
}
