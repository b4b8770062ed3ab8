// ReadyTransfers: passes transfers with events from the engine's loops to the queue on which a session delivers.

import LupineEngine
import Synchronization

/// The transfers that have received data or events which haven't been delivered yet. One block on the delivery queue delivers the
/// data and events of all these transfers, which come from one or more iterations of the event loops.
final class ReadyTransfers: IterationObserver {
  private struct State: ~Copyable {
    var ready: [any ReadyTransfer] = []
    /// An empty array that replaces `ready` while a delivery is in progress. Its capacity is reused, so that adding transfers
    /// doesn't allocate memory.
    var spare: [any ReadyTransfer] = []
    /// Whether a delivery has been submitted to the queue but hasn't begun yet.
    var isScheduled = false

    /// Marks a delivery as scheduled, and returns true, if transfers are ready and no delivery is scheduled yet. The caller must
    /// then submit the delivery to the queue. Otherwise returns false.
    mutating func schedule() -> Bool {
      guard !isScheduled, !ready.isEmpty else { return false }
      isScheduled = true
      return true
    }
  }

  /// The maximum capacity of an array that is reused for later deliveries: 1,024 transfers, with 16 bytes each.
  private static let spareCountMax = 1_024

  /// The maximum time for which resuming the Swift task of a completed transfer is delayed, so that several Swift tasks are resumed
  /// together: 200 µs, and the time of the handler that is called next. A handler must therefore not wait for a Swift task that awaits
  /// another transfer of the session.
  private static let resumptionDelayMax = Duration.microseconds(200)

  /// The queue on which the transfers deliver their data and events.
  let queue: SerialQueue
  private let state = Mutex(State())
  /// The number of event loops that are performing an iteration. When an iteration ends, its loop schedules a delivery.
  private let iterationCount = Atomic(0)
  /// Whether transfers were added since the latest iteration ended. An iteration without events ends without taking the lock.
  private let hasAdded = Atomic(false)

  // The two values are sequentially consistent: either the thread that adds a transfer finds that no iteration is in progress, or the
  // loop finds that a transfer was added.

  init(on queue: SerialQueue) { self.queue = queue }

  /// Adds a transfer that has received data or events. The next delivery calls the transfer's `deliver()` on the queue.
  func add(_ transfer: any ReadyTransfer) {
    let isDue = state.withLock { state in
      state.ready.append(transfer)
      hasAdded.store(true, ordering: .sequentiallyConsistent)
      return iterationCount.load(ordering: .sequentiallyConsistent) == 0 && state.schedule()
    }
    if isDue { submit() }
  }

  func iterationBegan() { iterationCount.add(1, ordering: .sequentiallyConsistent) }

  func iterationEnded() {
    iterationCount.subtract(1, ordering: .sequentiallyConsistent)
    guard hasAdded.load(ordering: .sequentiallyConsistent) else { return }
    let isDue = state.withLock { state in
      hasAdded.store(false, ordering: .relaxed)
      return state.schedule()
    }
    if isDue { submit() }
  }

  private func submit() { queue.perform { self.deliver() } }

  private func deliver() {
    queue.assertCurrent()
    var transfers: [any ReadyTransfer] = []
    state.withLock { state in
      state.isScheduled = false
      swap(&transfers, &state.ready)
      swap(&state.ready, &state.spare)
    }
    queue.resumingTogether { resumeCollected in
      // A single transfer delays no Swift task of another one, so the time doesn't matter.
      var due = transfers.count == 1 ? nil : Instant.now + Self.resumptionDelayMax
      for transfer in transfers {
        transfer.deliver()
        guard let limit = due, case let now = Instant.now, limit < now else { continue }
        resumeCollected()
        due = now + Self.resumptionDelayMax
      }
    }
    transfers.removeAll(keepingCapacity: transfers.capacity <= Self.spareCountMax)
    state.withLock { swap(&transfers, &$0.spare) }
  }
}

/// A transfer that receives data or events on an event loop, and delivers them on the queue of a `ReadyTransfers` object.
protocol ReadyTransfer: AnyObject, Sendable {
  /// Delivers all data and events that the transfer has received so far. Called on the delivery queue.
  func deliver()
}
