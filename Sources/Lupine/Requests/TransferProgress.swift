// TransferProgress: the progress of one direction of a transfer, and the handler that receives it.

import Foundation
import Synchronization

/// The progress of an upload or a download, which is updated on the request's underlying queue. Merges updates that arrive faster
/// than the handler runs.
final class TransferProgress: Sendable {
  typealias Handler = @Sendable (Progress) -> Void

  // This is a separate type, because a closure in a tuple in a Mutex would be wrapped again at each access.
  private struct Listener {
    let handler: Handler
    let queue: DispatchQueue
    var isCalled = false
  }

  let progress = Progress(totalUnitCount: 0)
  private let listener = Mutex<Listener?>(nil)

  /// Sets the progress handler. Releases the old handler after releasing the lock, because the handler's captured values may access
  /// the progress when they are released.
  func setHandler(_ handler: @escaping Handler, on queue: DispatchQueue) {
    withExtendedLifetime(listener.withLock { exchange(&$0, with: Listener(handler: handler, queue: queue)) }) {}
  }

  var currentHandler: (handler: Handler, queue: DispatchQueue)? {
    listener.withLock { $0 }.map { ($0.handler, $0.queue) }
  }

  /// Updates the byte counts. Calls the progress handler if a count has changed. `total` is unknown if it isn't positive.
  func update(_ count: Int64, of total: Int64) {
    // Foundation traps when a total changes from a positive value to 0, so an unknown total is -1.
    let total = total > 0 ? total : -1
    guard progress.completedUnitCount != count || progress.totalUnitCount != total else { return }
    progress.totalUnitCount = total
    progress.completedUnitCount = count
    let called = listener.withLock { listener -> Listener? in
      guard listener?.isCalled == false else { return nil }
      listener?.isCalled = true
      return listener
    }
    guard let called else { return }
    called.queue.async {
      // The flag is reset before the call, so that an update during the call is reported.
      self.listener.withLock { $0?.isCalled = false }
      called.handler(self.progress)
    }
  }

  /// Resets the byte counts for another attempt, without calling the progress handler.
  func reset() {
    progress.completedUnitCount = 0
    if progress.totalUnitCount > 0 { progress.totalUnitCount = -1 }
  }
}
