// Tasks that a loop's turn has finished something for, resumed together.

internal import Synchronization

/// Resumes tasks that wait on other threads at the end of a loop's turn.
///
/// A task that is resumed alone wakes a thread, which may take the processor from the loop only to run that task and to
/// sleep again: two changes of thread for each response. Of many, one thread is woken for the first, which resumes
/// the others and goes on with them.
final class Resumptions: Sendable {
  private struct State {
    var isOpen = false
    var continuations: [CheckedContinuation<Void, Never>] = []
  }

  /// Fewer than that many are resumed at once: another hop costs more than it saves.
  private static let togetherMin = 4

  private let state = Mutex(State())

  /// A turn begins.
  func open() { state.withLock { $0.isOpen = true } }

  /// Resumes a task at the end of the turn, or now if there is none.
  func resume(_ continuation: CheckedContinuation<Void, Never>) {
    let waits = state.withLock { state in
      if state.isOpen { state.continuations.append(continuation) }
      return state.isOpen
    }
    if !waits { continuation.resume() }
  }

  /// The turn ends.
  func close() {
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
