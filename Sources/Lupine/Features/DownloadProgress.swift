// The progress of a response's body, and who is told of it.

import Foundation
import Synchronization

/// Keeps a `Progress` up to date; updates that come faster than they are seen are merged.
final class DownloadProgress: Sendable {
  let progress = Progress(totalUnitCount: 0)
  private let handler = Mutex<(queue: DispatchQueue, closure: Request.ProgressHandler)?>(nil)
  private let isUpdatePending = Atomic<Bool>(false)
  private let lastCount = Atomic<Int64>(-1)

  func setHandler(_ closure: @escaping Request.ProgressHandler, on queue: DispatchQueue) {
    handler.withLock { $0 = (queue, closure) }
  }

  /// Whether an update has to be scheduled; one that is pending will see the latest counts.
  func needsUpdate() -> Bool {
    !isUpdatePending.exchange(true, ordering: .acquiringAndReleasing)
  }

  /// Takes over the task's counts and tells the handler, unless nothing has changed.
  func update(_ task: URLSessionTask) {
    isUpdatePending.store(false, ordering: .releasing)
    let count = task.countOfBytesReceived
    guard lastCount.exchange(count, ordering: .relaxed) != count else { return }
    let total = task.countOfBytesExpectedToReceive
    // Foundation traps when a total goes from above 0 to 0, so an unknown one is -1.
    progress.totalUnitCount = total > 0 ? total : -1
    progress.completedUnitCount = count
    if let (queue, closure) = handler.withLock({ $0 }) {
      queue.async { [progress] in closure(progress) }
    }
  }
}
