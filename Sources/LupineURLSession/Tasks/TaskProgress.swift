// TaskProgress: updates the Progress of a task.

import Foundation

/// The `Progress` object of a task, with the code that updates it. Created when a caller requests the progress.
final class TaskProgress: Sendable {
  let progress = Progress(totalUnitCount: -1)

  init() { progress.isPausable = true }

  /// Updates the progress. `done` is the number of bytes that have been sent and received. `toSend` and `toReceive` are the
  /// expected numbers of bytes, negative if unknown. When the task is complete, `done` also becomes the progress's total.
  func update(done: Int64, toSend: Int64, toReceive: Int64, isComplete: Bool) {
    // A total of 0 would make the progress indeterminate, and Foundation traps when a positive total becomes 0.
    if isComplete {
      progress.totalUnitCount = max(1, done)
      progress.completedUnitCount = max(1, done)
    } else {
      if toSend >= 0, toReceive >= 0, toSend + toReceive > 0 { progress.totalUnitCount = toSend + toReceive }
      progress.completedUnitCount = done
    }
  }
}
