// Text: formats the tour's output, and collects the values that a step's handler reports.

import Foundation
import Synchronization

enum Text {
  /// Converts a time in seconds to text in milliseconds, such as "1.25 ms".
  static func milliseconds(_ seconds: TimeInterval) -> String {
    String(format: "%.2f ms", seconds * 1000)
  }

  /// Returns the text in bold if standard output is a terminal.
  static func heading(_ text: String) -> String {
    isatty(STDOUT_FILENO) == 1 ? "\u{1B}[1m\(text)\u{1B}[0m" : text
  }

  /// Returns the text with `margin` at the start of each line.
  static func indented(_ text: String, by margin: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { margin + $0 }.joined(separator: "\n")
  }
}

/// Collects the byte counts that a progress handler reports. The handler must be called on `queue`.
final class Counts: Sendable {
  let queue = DispatchQueue(label: "lupine.demo.counts")
  private let values = Mutex<[Int64]>([])

  func append(_ value: Int64) { values.withLock { $0.append(value) } }

  /// All byte counts that were reported before this property is read.
  var all: [Int64] { queue.sync { values.withLock { $0 } } }
}
