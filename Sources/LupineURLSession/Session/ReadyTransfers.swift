// ReadyTransfers: passes transfers with events from the engine's loops to the queue on which a session delivers.

import Synchronization

/// The transfers that have received events since the last delivery. One hop to the queue delivers the events of all of them.
final class ReadyTransfers: Sendable {
  private struct Lists {
    var ready: [Transfer] = []
    /// Empty storage for the transfers that become ready during a delivery. It is kept, so that it is allocated only once.
    var spare: [Transfer] = []
  }

  /// The maximum capacity that is kept for later deliveries: 1,024 transfers of 8 bytes each.
  private static let spareCountMax = 1_024

  /// The queue on which transfers deliver.
  let queue: SerialQueue
  private let lists = Mutex(Lists())

  init(on queue: SerialQueue) { self.queue = queue }

  /// Calls the transfer's `deliver()` on the queue, in the next delivery.
  func add(_ transfer: Transfer) {
    let isFirst = lists.withLock { lists in
      lists.ready.append(transfer)
      return lists.ready.count == 1
    }
    if isFirst { queue.perform { self.deliver() } }
  }

  private func deliver() {
    var transfers: [Transfer] = []
    lists.withLock { lists in
      swap(&transfers, &lists.ready)
      swap(&lists.ready, &lists.spare)
    }
    for transfer in transfers { transfer.deliver() }
    transfers.removeAll(keepingCapacity: transfers.capacity <= Self.spareCountMax)
    lists.withLock { swap(&transfers, &$0.spare) }
  }
}
