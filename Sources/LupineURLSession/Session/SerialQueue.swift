// SerialQueue: the queue on which a session calls its delegate, or on which it writes files.

package import Foundation
package import LupineEngine
import Synchronization

/// A queue that performs blocks of work one at a time. It is based on a serial dispatch queue or on any operation queue.
package final class SerialQueue: Sendable {
  /// The time at which a submitted block of work is performed: after all earlier blocks, or immediately.
  package enum Timing {
    /// The block is performed after all earlier blocks, even if the caller runs on the queue.
    case queued
    /// The block is performed immediately if the caller runs on the queue. Otherwise, the block is performed after all earlier
    /// blocks.
    case immediate
  }

  private enum Base {
    /// A serial dispatch queue. Submitting a block to it costs a fraction of adding an operation to an operation queue.
    case dispatch(DispatchQueue)
    /// An operation queue. It may run several operations at the same time, so a single operation performs all waiting blocks, one
    /// at a time.
    case operations(OperationQueue)
  }

  private struct Backlog {
    var work: [@Sendable () -> Void] = []
    /// Whether an operation is performing the waiting blocks of work, or was added to the operation queue to do so.
    var isTaken = false
  }

  private let base: Base
  private let backlog = Mutex(Backlog())
  private let key = DispatchSpecificKey<Bool>()
  /// Resumes Swift tasks. During a call of `resumingTogether(_:)`, they are resumed later, together with others.
  package let resumptions = Resumptions()

  /// Creates a queue that performs work on the given dispatch queue, which must be serial.
  package init(_ queue: DispatchQueue) {
    base = .dispatch(queue)
    queue.setSpecific(key: key, value: true)
  }

  /// Creates a queue that performs work on an operation queue. If its underlying dispatch queue is serial, the work is performed
  /// directly on that dispatch queue.
  init(_ operations: OperationQueue) {
    base = operations.serialQueue.map(Base.dispatch) ?? .operations(operations)
    if case .dispatch(let queue) = base { queue.setSpecific(key: key, value: true) }
  }

  deinit {
    if case .dispatch(let queue) = base { queue.setSpecific(key: key, value: nil) }
  }

  /// Returns whether this queue performs its work directly on the dispatch queue `queue`.
  package func isBased(on queue: DispatchQueue) -> Bool {
    if case .dispatch(let own) = base { own === queue } else { false }
  }

  /// Performs `work` on the queue.
  ///
  /// Blocks of work are performed one at a time. Blocks with the timing `.queued` are performed in the order in which they were
  /// submitted. A block with `.immediate` that is submitted on the queue itself is performed before this call returns, ahead of
  /// waiting blocks.
  package func perform(_ timing: Timing = .queued, _ work: @escaping @Sendable () -> Void) {
    if case .immediate = timing, DispatchQueue.getSpecific(key: key) == true { return work() }
    switch base {
    case .dispatch(let queue): queue.async(execute: work)
    case .operations(let operations):
      let isTaken = backlog.withLock { backlog in
        backlog.work.append(work)
        return exchange(&backlog.isTaken, with: true)
      }
      if !isTaken { operations.addOperation(WorkOperation { self.workOff() }) }
    }
  }

  /// Traps, in debug builds, if the caller doesn't run on the queue. Not checked for an operation queue, whose blocks of work may run
  /// on any dispatch queue.
  func assertCurrent() {
    #if DEBUG
      if case .dispatch(let queue) = base { dispatchPrecondition(condition: .onQueue(queue)) }
    #endif
  }

  /// Calls `deliver`. The Swift tasks that are passed to `resumptions` during this call aren't resumed one by one. They are
  /// resumed together, when `deliver` returns or when it calls `resumeCollected`.
  func resumingTogether(_ deliver: (_ resumeCollected: () -> Void) -> Void) {
    resumptions.beginCollecting()
    deliver {
      resumptions.resumeCollected()
      resumptions.beginCollecting()
    }
    resumptions.resumeCollected()
  }

  private func workOff() {
    while true {
      let work = backlog.withLock { backlog in
        backlog.isTaken = !backlog.work.isEmpty
        return exchange(&backlog.work, with: [])
      }
      if work.isEmpty { return }
      for work in work { work() }
    }
  }
}

/// An operation that is performed even if the owner of the operation queue cancels all its operations. Otherwise the waiting
/// blocks, and all later ones, would never be performed. Unchecked only because `Operation` is.
private final class WorkOperation: Operation, @unchecked Sendable {
  private let work: @Sendable () -> Void

  init(_ work: @escaping @Sendable () -> Void) {
    self.work = work
    super.init()
  }

  override func main() { work() }

  override func cancel() {}
}

extension OperationQueue {
  /// Creates an operation queue that runs its operations on a serial dispatch queue.
  package convenience init(serial queue: DispatchQueue) {
    self.init()
    maxConcurrentOperationCount = 1
    underlyingQueue = queue
    name = queue.label
  }

  /// The underlying dispatch queue if it is serial, or nil. For example, it is nil for the system's global queues, which are
  /// concurrent.
  fileprivate var serialQueue: DispatchQueue? {
    guard maxConcurrentOperationCount == 1, let underlyingQueue else { return nil }
    return underlyingQueue.label.hasPrefix("com.apple.root.") ? nil : underlyingQueue
  }
}
