// The one hop from the engine's loops to the queue on which a session's work is done.

import Foundation
import Synchronization

/// Hands over what came on the loops: everything that is ready by then in one hop, however many transfers it belongs to.
package final class DeliveryQueue: Sendable {
  private struct Backlog {
    var work: [@Sendable () -> Void] = []
    /// Whether an operation is under way that does it.
    var isTaken = false
  }

  /// For how many transfers room is kept: 1,024, at 8 bytes each.
  private static let spareCountMax = 1_024

  private struct Ready {
    var transfers: [Transfer] = []
    /// Room for those that come while others are delivered, so that it is made once.
    var spare: [Transfer] = []
  }

  private let operations: OperationQueue
  /// The serial queue beneath, if there is one: it takes work at a fraction of an operation's cost.
  private let queue: DispatchQueue?
  /// What is to be done where there is none: one at a time, as the operation queue may run several.
  private let backlog = Mutex(Backlog())
  private let key = DispatchSpecificKey<Bool>()
  private let ready = Mutex(Ready())

  init(_ operations: OperationQueue) {
    self.operations = operations
    queue = operations.serialQueue
    queue?.setSpecific(key: key, value: true)
  }

  deinit {
    queue?.setSpecific(key: key, value: nil)
  }

  /// Does something at once if this is the queue's turn already, otherwise behind all that was asked for before.
  package func performHere(_ work: @escaping @Sendable () -> Void) {
    if DispatchQueue.getSpecific(key: key) == true { work() } else { perform(work) }
  }

  /// Does something behind all that was asked for before.
  package func perform(_ work: @escaping @Sendable () -> Void) {
    if let queue { return queue.async(execute: work) }
    let isTaken = backlog.withLock { backlog in
      backlog.work.append(work)
      defer { backlog.isTaken = true }
      return backlog.isTaken
    }
    if !isTaken { operations.addOperation { self.workOff() } }
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

  /// Delivers what the transfer has, soon.
  func add(_ transfer: Transfer) {
    let isFirst = ready.withLock { ready in
      ready.transfers.append(transfer)
      return ready.transfers.count == 1
    }
    if isFirst { perform { self.deliver() } }
  }

  private func deliver() {
    var transfers: [Transfer] = []
    ready.withLock { ready in
      swap(&transfers, &ready.transfers)
      swap(&ready.transfers, &ready.spare)
    }
    for transfer in transfers { transfer.deliver() }
    transfers.removeAll(keepingCapacity: transfers.capacity <= Self.spareCountMax)
    ready.withLock { swap(&transfers, &$0.spare) }
  }
}

extension OperationQueue {
  /// The queue beneath if it is a serial one; nil also for the system's own, which are concurrent.
  fileprivate var serialQueue: DispatchQueue? {
    guard maxConcurrentOperationCount == 1, let underlyingQueue else { return nil }
    return underlyingQueue.label.hasPrefix("com.apple.root.") ? nil : underlyingQueue
  }
}
