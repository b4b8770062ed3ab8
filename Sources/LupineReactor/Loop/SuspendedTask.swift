// SuspendedTask: a Swift task that waits to be resumed.

/// A Swift task that has suspended itself with `suspend(_:)` and waits to be resumed.
///
/// This replaces `CheckedContinuation` where each request suspends a task, because a checked continuation allocates an object that
/// detects missing and repeated calls of `resume`. Debug builds, and therefore tests, use a checked continuation.
@usableFromInline package struct SuspendedTask: Sendable {
  #if DEBUG
    @usableFromInline typealias Continuation = CheckedContinuation<Void, Never>
  #else
    @usableFromInline typealias Continuation = UnsafeContinuation<Void, Never>
  #endif

  // SAFETY: the continuation must be resumed exactly once. The callers either resume it at once, or store it in one place under a
  // lock, and resume it after removing it from there.
  @usableFromInline let continuation: Continuation

  @inlinable init(_ continuation: Continuation) { self.continuation = continuation }

  /// Suspends the current task and calls `body`, which must ensure that `resume` is called exactly once, now or later.
  @inlinable package static nonisolated(nonsending) func suspend(_ body: (SuspendedTask) -> Void) async {
    #if DEBUG
      await withCheckedContinuation { body(SuspendedTask($0)) }
    #else
      await withUnsafeContinuation { body(SuspendedTask($0)) }
    #endif
  }

  /// Resumes the task. Must be called exactly once.
  @inlinable package func resume() { continuation.resume() }
}

/// Swift tasks that wait to be resumed, in the order in which they were added.
package struct SuspendedTasks: Sendable {
  /// The first task. Often it is the only one, so that no array is allocated.
  private var first: SuspendedTask?
  private var others: [SuspendedTask] = []

  package init() {}

  package var count: Int { first == nil ? 0 : others.count + 1 }

  package mutating func append(_ task: SuspendedTask) {
    if first == nil { first = task } else { others.append(task) }
  }

  /// Removes the tasks and returns them.
  package mutating func take() -> SuspendedTasks {
    var taken = SuspendedTasks()
    swap(&taken, &self)
    return taken
  }

  /// Calls `body` with each task, in order. By default, resumes the tasks.
  package func forEach(_ body: (SuspendedTask) -> Void = { $0.resume() }) {
    if let first { body(first) }
    for task in others { body(task) }
  }
}
