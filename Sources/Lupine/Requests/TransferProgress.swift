// The progress of one direction of a transfer, and the handler that is called with it.

import Foundation
import Synchronization

/// Keeps a `Progress` up to date, on a request's underlying queue; updates that come faster than they are seen are merged.
final class TransferProgress: Sendable {
  typealias Handler = @Sendable (Progress) -> Void

  // A type of its own: a closure in a tuple would be wrapped once more each time that it is looked at in a Mutex.
  private struct Listener {
    let handler: Handler
    let queue: DispatchQueue
    var isCalled = false
  }

  let progress = Progress(totalUnitCount: 0)
  private let listener = Mutex<Listener?>(nil)

  /// Lets go of the old one outside the lock, since what goes with it may ask for progress.
  func setHandler(_ handler: @escaping Handler, on queue: DispatchQueue) {
    _ = listener.withLock { listener in
      let old = listener
      listener = Listener(handler: handler, queue: queue)
      return old
    }
  }

  var currentHandler: (handler: Handler, queue: DispatchQueue)? {
    listener.withLock { $0 }.map { ($0.handler, $0.queue) }
  }

  /// Takes the counts over and tells the handler, unless nothing has changed.
  func update(_ count: Int64, of total: Int64) {
    // Foundation traps when a total goes from above 0 to 0, so an unknown one is -1.
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
      // Before the call, so that what comes behind it is told again.
      self.listener.withLock { $0?.isCalled = false }
      called.handler(self.progress)
    }
  }

  /// Another round begins at nothing; nobody is told.
  func reset() {
    progress.completedUnitCount = 0
    if progress.totalUnitCount > 0 { progress.totalUnitCount = -1 }
  }
}
