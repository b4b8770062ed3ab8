// The one hop from the engine's loops to the queue on which a session's work is done.

import Foundation
import Synchronization

/// Hands over what came on the loops: everything that is ready by then in one hop, however many transfers it belongs to.
final class DeliveryQueue: Sendable {
  private let operations: OperationQueue
  /// The queue beneath, if there is one: it takes work at a fraction of an operation's cost.
  private let queue: DispatchQueue?
  private let key = DispatchSpecificKey<Bool>()
  private let ready = Mutex<[Transfer]>([])

  init(_ operations: OperationQueue) {
    self.operations = operations
    // More than one at a time would call the delegate from several threads.
    queue = operations.maxConcurrentOperationCount == 1 ? operations.underlyingQueue : nil
    queue?.setSpecific(key: key, value: true)
  }

  deinit {
    queue?.setSpecific(key: key, value: nil)
  }

  /// Does something at once if this is the queue's turn already, otherwise behind all that was asked for before.
  func performHere(_ work: @escaping @Sendable () -> Void) {
    if DispatchQueue.getSpecific(key: key) == true { work() } else { perform(work) }
  }

  /// Does something behind all that was asked for before.
  func perform(_ work: @escaping @Sendable () -> Void) {
    if let queue { queue.async(execute: work) } else { operations.addOperation(work) }
  }

  /// Delivers what the transfer has, soon.
  func add(_ transfer: Transfer) {
    let isFirst = ready.withLock { ready in
      ready.append(transfer)
      return ready.count == 1
    }
    if isFirst { perform { self.deliver() } }
  }

  private func deliver() {
    let transfers = ready.withLock { ready in
      let transfers = ready
      ready = []
      return transfers
    }
    for transfer in transfers { transfer.deliver() }
  }
}
