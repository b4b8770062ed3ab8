// TransferProgress: the progress of a request in one direction, and the handler that is called with it.

import Dispatch
import Foundation
import Synchronization

/// The progress of a request's upload or of its download.
final class TransferProgress: Sendable {
  private struct Handler {
    let queue: DispatchQueue
    let closure: Transferred<(Progress) -> Void>
  }

  let progress = Progress(totalUnitCount: 0)
  private let handler = Mutex<Handler?>(nil)

  /// Sets the progress handler, which replaces an earlier handler. If bytes have already been transferred, it is called with them,
  /// because a request starts before the program can set its handler.
  func call(on queue: DispatchQueue, _ closure: @escaping (Progress) -> Void) {
    let closure = Transferred(closure)
    withExtendedLifetime(handler.withLock { exchange(&$0, with: Handler(queue: queue, closure: closure)) }) {}
    if progress.completedUnitCount > 0 { queue.async { [progress] in closure.value(progress) } }
  }

  /// Updates the progress with the number of bytes transferred and the total number of bytes. A negative total is unknown.
  func update(completed: Int64, total: Int64) {
    // Foundation traps when a positive total becomes 0.
    if total > 0 || progress.totalUnitCount <= 0 { progress.totalUnitCount = total }
    progress.completedUnitCount = completed
    guard let handler = handler.withLock({ $0 }) else { return }
    handler.queue.async { [progress] in handler.closure.value(progress) }
  }
}
