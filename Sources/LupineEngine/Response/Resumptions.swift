// Resumptions: resumes together the tasks whose results arrived in the same iteration of the loop, or the same delivery.

package import LupineReactor
internal import Synchronization

/// Collects Swift tasks that are ready to resume, during an iteration of an event loop or while a session's queue processes
/// results. Resumes them together at the end.
///
/// Resuming a task wakes a thread. That thread may take the processor from the loop only to run one task and sleep again, which
/// costs two context switches per response. If several tasks are resumed together, only one thread is woken, and it resumes and
/// runs all of them.
@usableFromInline package final class Resumptions: Sendable {
  /// Whether tasks are being collected. An iteration that resumes no task changes only this value, and takes no lock.
  private enum Activity {
    static let resuming = 0
    static let collecting = 1
    /// Tasks are being collected, and there are some.
    static let holding = 2
  }

  /// The minimum number of tasks that another thread resumes together: 4. Fewer tasks are resumed directly, because waking one
  /// thread for all of them would cost more than it saves.
  private static let togetherMin = 4

  private let activity = Atomic(Activity.resuming)
  private let collected = Mutex(SuspendedTasks())
  private let loop: EventLoop?

  /// Creates an object for the iterations of `loop`, or for a session's queue if it is nil.
  package init(of loop: EventLoop? = nil) { self.loop = loop }

  /// The object for a Swift task that is about to wait on this thread. Nil on the loop's thread: resuming a task there wakes no other
  /// thread, so it isn't delayed.
  package var forThisThread: Resumptions? { loop?.isCurrent == true ? nil : self }

  /// Begins to collect tasks: from now on, `resume` keeps each task until `resumeCollected` is called.
  package func beginCollecting() { activity.store(Activity.collecting, ordering: .relaxed) }

  /// Resumes a task when `resumeCollected` is called, or immediately if tasks aren't being collected.
  package func resume(_ task: SuspendedTask) {
    let waits = collected.withLock { tasks in
      // If `resumeCollected` has ended the collection in the meantime, it doesn't see the task.
      guard
        activity.load(ordering: .relaxed) == Activity.holding
          || activity.compareExchange(
            expected: Activity.collecting, desired: Activity.holding, ordering: .relaxed
          ).exchanged
      else { return false }
      tasks.append(task)
      return true
    }
    if !waits { task.resume() }
  }

  /// Resumes the collected tasks and stops collecting.
  package func resumeCollected() {
    guard activity.exchange(Activity.resuming, ordering: .relaxed) == Activity.holding else { return }
    let tasks = collected.withLock { $0.take() }
    if tasks.count < Self.togetherMin { tasks.forEach() } else { Task.detached { tasks.forEach() } }
  }
}
