// Latch: lets Swift tasks wait for an event that occurs once, such as a response.

import LupineEngine
import Synchronization

/// A latch that opens once. Any number of Swift tasks can wait until it is open.
///
/// The type isn't generic, because generic async functions look up their types at each step.
package struct Latch: ~Copyable, Sendable {
  private struct State {
    var isOpen = false
    var waiting: ShortList<SuspendedTask> = []
  }

  private let queue: SerialQueue
  private let state = Mutex(State())

  /// Creates a closed latch. `queue` resumes the Swift tasks that wait for it.
  package init(queue: SerialQueue) { self.queue = queue }

  /// Opens the latch and resumes the Swift tasks that wait for it. Must be called only once.
  package func open() {
    var waiting: ShortList<SuspendedTask> = []
    state.withLock { state in
      precondition(!state.isOpen, "a latch was opened twice")
      state.isOpen = true
      swap(&waiting, &state.waiting)
    }
    waiting.forEach { queue.resume($0) }
  }

  /// Waits until the latch is open. If the awaiting Swift task is cancelled, calls `onCancel`, but continues to wait.
  package nonisolated(nonsending) func pass(onCancel: (@Sendable () -> Void)?) async {
    guard !state.withLock({ $0.isOpen }) else { return }
    guard let onCancel else { return await wait() }
    await withTaskCancellationHandler {
      await wait()
    } onCancel: {
      onCancel()
    }
  }

  private nonisolated(nonsending) func wait() async {
    await SuspendedTask.suspend { task in
      // Checked again under the lock, because the latch may have been opened in the meantime.
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(task) }
        return state.isOpen
      }
      if isOpen { task.resume() }
    }
  }
}
