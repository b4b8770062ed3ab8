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
