// ReadyTransfers: passes transfers with events from the engine's loops to the queue on which a session delivers.

import LupineEngine
import Synchronization

/// The transfers that have received data or events since the last delivery. A single block on the queue delivers the data and
/// events of all of them: those of one iteration of the loop, or of several if the queue was busy.
final class ReadyTransfers: IterationObserver {
  private struct State {
    var ready: [any ReadyTransfer] = []
    /// An empty array, kept for its capacity: the transfers that become ready during a delivery are added to it without another
    /// allocation.
    var spare: [any ReadyTransfer] = []
    /// The number of event loops that are in an iteration. Each loop schedules a delivery when its iteration ends.
    var iterationCount = 0
    /// Whether a delivery has been scheduled but hasn't begun.
    var isScheduled = false

    /// Marks a delivery as scheduled if transfers are ready and no delivery is scheduled yet. Returns whether it has done so. If
    /// true, the caller must submit the delivery to the queue.
    mutating func schedule() -> Bool {
      guard !isScheduled, !ready.isEmpty else { return false }
      isScheduled = true
      return true
    }
  }

  /// The maximum capacity of an array that is kept for later deliveries: 1,024 transfers, 16 bytes each.
  private static let spareCountMax = 1_024

  /// The maximum time for which a completed transfer's Swift task waits to be resumed together with others: 200 µs. A slow
  /// handler of one transfer therefore doesn't delay the tasks of the others.
  private static let resumptionDelayMax = Duration.microseconds(200)

  /// The queue on which transfers deliver their data and events.
  let queue: SerialQueue
  private let state = Mutex(State())

  init(on queue: SerialQueue) { self.queue = queue }

  /// Adds a transfer to the next delivery, which calls its `deliver()` on the queue.
  func add(_ transfer: any ReadyTransfer) {
    let isDue = state.withLock { state in
      state.ready.append(transfer)
      return state.iterationCount == 0 && state.schedule()
    }
    if isDue { submit() }
  }

  func iterationBegan() { state.withLock { $0.iterationCount += 1 } }

  func iterationEnded() {
    let isDue = state.withLock { state in
      state.iterationCount -= 1
      return state.schedule()
    }
    if isDue { submit() }
  }

  private func submit() { queue.perform { self.deliver() } }

  private func deliver() {
    var transfers: [any ReadyTransfer] = []
    state.withLock { state in
      state.isScheduled = false
      swap(&transfers, &state.ready)
      swap(&state.ready, &state.spare)
    }
    queue.resumingTogether { resumeCollected in
      var due = Instant.now + Self.resumptionDelayMax
      for transfer in transfers {
        transfer.deliver()
        let now = Instant.now
        guard due < now else { continue }
        resumeCollected()
        due = now + Self.resumptionDelayMax
      }
    }
    transfers.removeAll(keepingCapacity: transfers.capacity <= Self.spareCountMax)
    state.withLock { swap(&transfers, &$0.spare) }
  }
}

/// A transfer that has received data or events.
protocol ReadyTransfer: AnyObject, Sendable {
  /// Delivers all data and events received so far. Called on the queue of the `ReadyTransfers`.
  func deliver()
}
