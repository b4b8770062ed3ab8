// SerialQueue: the queue on which a session calls its delegate, or on which it writes files.

package import Foundation
import Synchronization

/// Runs work one piece at a time, on a serial dispatch queue or on any operation queue.
package final class SerialQueue: Sendable {
  /// When work takes its turn.
  package enum Turn {
    /// After everything submitted before, even if the caller runs on the queue.
    case inLine
    /// At once if the caller runs on the queue, otherwise in line.
    case atOnce
  }

  private enum Base {
    /// Takes work at a fraction of an operation's cost.
    case dispatch(DispatchQueue)
    /// May run several operations at the same time, so one operation runs the backlog.
    case operations(OperationQueue)
  }

  private struct Backlog {
    var work: [@Sendable () -> Void] = []
    /// Whether an operation runs the backlog, or is about to.
    var isTaken = false
  }

  private let base: Base
  private let backlog = Mutex(Backlog())
  private let key = DispatchSpecificKey<Bool>()

  /// Runs work on `queue`, which must be serial.
  package init(_ queue: DispatchQueue) {
    base = .dispatch(queue)
    queue.setSpecific(key: key, value: true)
  }

  /// Runs work on `operations`, directly on its underlying queue if that is a serial one.
  init(_ operations: OperationQueue) {
    guard let queue = operations.serialQueue else {
      base = .operations(operations)
      return
    }
    base = .dispatch(queue)
    queue.setSpecific(key: key, value: true)
  }

  deinit {
    if case .dispatch(let queue) = base { queue.setSpecific(key: key, value: nil) }
  }

  /// Whether the work runs directly on `queue`.
  package func isBased(on queue: DispatchQueue) -> Bool {
    if case .dispatch(let own) = base { own === queue } else { false }
  }

  /// Performs `work` on the queue.
  ///
  /// Pieces of work run one at a time. Those submitted with `.inLine` run in the order of submission; one submitted with
  /// `.atOnce` from the queue itself runs before this call returns, ahead of those that wait.
  package func perform(_ turn: Turn = .inLine, _ work: @escaping @Sendable () -> Void) {
    if case .atOnce = turn, DispatchQueue.getSpecific(key: key) == true { return work() }
    switch base {
    case .dispatch(let queue): queue.async(execute: work)
    case .operations(let operations):
      let isTaken = backlog.withLock { backlog in
        backlog.work.append(work)
        defer { backlog.isTaken = true }
        return backlog.isTaken
      }
      if !isTaken { operations.addOperation { self.workOff() } }
    }
  }

  private func workOff() {
    while true {
      let work = backlog.withLock { backlog in
        defer { backlog.work = [] }
        backlog.isTaken = !backlog.work.isEmpty
        return backlog.work
      }
      if work.isEmpty { return }
      for work in work { work() }
    }
  }
}

extension OperationQueue {
  /// The underlying queue if it is a serial one, or nil also for the system's own, which are concurrent.
  fileprivate var serialQueue: DispatchQueue? {
    guard maxConcurrentOperationCount == 1, let underlyingQueue else { return nil }
    return underlyingQueue.label.hasPrefix("com.apple.root.") ? nil : underlyingQueue
  }
}
