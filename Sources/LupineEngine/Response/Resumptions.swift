// Resumptions: resumes the tasks whose results became available in an iteration of the loop.

internal import Synchronization

/// Collects tasks that wait on other threads, and resumes them together at the end of the loop's iteration.
///
/// Resuming a task wakes a thread. That thread may take the processor from the loop only to run one task and
/// sleep again, which costs two context switches per response. With several tasks, only one thread is woken;
/// it resumes the other tasks and runs them too.
final class Resumptions: Sendable {
  private struct State {
    var isOpen = false
    var continuations: [CheckedContinuation<Void, Never>] = []
  }

  /// The minimum number of tasks that are resumed together: 4. The loop resumes fewer tasks directly,
  /// because another hop would cost more than it saves.
  private static let togetherMin = 4

  private let state = Mutex(State())

  /// Starts an iteration. From now on, `resume` collects tasks.
  func beginIteration() { state.withLock { $0.isOpen = true } }

  /// Resumes a task at the end of the iteration, or immediately outside of an iteration.
  func resume(_ continuation: CheckedContinuation<Void, Never>) {
    let waits = state.withLock { state in
      if state.isOpen { state.continuations.append(continuation) }
      return state.isOpen
    }
    if !waits { continuation.resume() }
  }

  /// Ends an iteration and resumes the collected tasks.
  func endIteration() {
    let continuations = state.withLock { state in
      state.isOpen = false
      var taken: [CheckedContinuation<Void, Never>] = []
      swap(&taken, &state.continuations)
      return taken
    }
    guard continuations.count >= Self.togetherMin else {
      for continuation in continuations { continuation.resume() }
      return
    }
    Task.detached {
      for continuation in continuations { continuation.resume() }
    }
  }
}
