// Resumptions: resumes together the tasks whose results arrived in the same iteration of the loop, or the same delivery.

package import LupineReactor
internal import Synchronization

/// Collects Swift tasks that are ready to resume, during an iteration of an event loop or while a session's queue processes
/// results. Resumes them together at the end.
///
/// Resuming a task wakes a thread. That thread may take the processor from the loop only to run one task and sleep again, which
/// costs two context switches per response. If several tasks are resumed together, only one thread is woken, and it resumes and
/// runs all of them.
package final class Resumptions: Sendable {
  private struct State {
    var isOpen = false
    /// The first collected task. Often it is the only one, so that no array is allocated.
    var first: SuspendedTask?
    var others: [SuspendedTask] = []

    mutating func append(_ task: SuspendedTask) {
      if first == nil { first = task } else { others.append(task) }
    }

    /// Removes the collected tasks and returns them.
    mutating func take() -> (first: SuspendedTask?, others: [SuspendedTask]) {
      var taken: [SuspendedTask] = []
      swap(&taken, &others)
      return (first.take(), taken)
    }
  }

  /// The minimum number of tasks that another thread resumes together: 4. Fewer tasks are resumed directly, because waking one
  /// thread for all of them would cost more than it saves.
  private static let togetherMin = 4

  private let state = Mutex(State())

  package init() {}

  /// Begins to collect tasks: from now on, `resume` keeps each task until `resumeCollected` is called.
  package func beginCollecting() { state.withLock { $0.isOpen = true } }

  /// Resumes a task when `resumeCollected` is called, or immediately if tasks aren't being collected.
  package func resume(_ task: SuspendedTask) {
    let waits = state.withLock { state in
      if state.isOpen { state.append(task) }
      return state.isOpen
    }
    if !waits { task.resume() }
  }

  /// Resumes the collected tasks and stops collecting.
  package func resumeCollected() {
    let (first, others) = state.withLock { state in
      state.isOpen = false
      return state.take()
    }
    guard others.count + 1 >= Self.togetherMin else {
      first?.resume()
      for task in others { task.resume() }
      return
    }
    Task.detached {
      first?.resume()
      for task in others { task.resume() }
    }
  }
}
