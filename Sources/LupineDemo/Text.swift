// What the tour prints, and what a step gathers while it runs.

import Foundation
import Synchronization

enum Text {
  /// Such as "1.25 ms".
  static func milliseconds(_ seconds: TimeInterval) -> String {
    String(format: "%.2f ms", seconds * 1000)
  }

  /// Bold on a terminal.
  static func heading(_ text: String) -> String {
    isatty(STDOUT_FILENO) == 1 ? "\u{1B}[1m\(text)\u{1B}[0m" : text
  }

  /// Every line behind a margin.
  static func indented(_ text: String, by margin: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { margin + $0 }.joined(separator: "\n")
  }
}

/// Numbers that a handler reports on a queue of its own.
final class Counts: Sendable {
  let queue = DispatchQueue(label: "lupine.demo.counts")
  private let values = Mutex<[Int64]>([])

  func append(_ value: Int64) { values.withLock { $0.append(value) } }

  /// Everything that was reported before this call.
  var all: [Int64] { queue.sync { values.withLock { $0 } } }
}
