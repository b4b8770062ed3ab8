// TaskProgress: updates the Progress of a task.

import Foundation

/// The `Progress` that a caller has requested from a task, and the code that updates it.
final class TaskProgress: Sendable {
  let progress = Progress(totalUnitCount: -1)

  init() { progress.isPausable = true }

  /// Updates the progress. `done` is the number of bytes sent and received so far. `toSend` and `toReceive` are the expected
  /// numbers of bytes, or negative if they are unknown. When the task is complete, the progress's total is set to `done`.
  func update(done: Int64, toSend: Int64, toReceive: Int64, isComplete: Bool) {
    // A total of 0 would be indeterminate, and Foundation traps when a positive total becomes 0.
    if isComplete {
      progress.totalUnitCount = max(1, done)
      progress.completedUnitCount = max(1, done)
    } else {
      if toSend >= 0, toReceive >= 0, toSend + toReceive > 0 { progress.totalUnitCount = toSend + toReceive }
      progress.completedUnitCount = done
    }
  }
}
