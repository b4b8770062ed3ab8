// SuspendedTask: a Swift task that waits to be resumed.

/// A Swift task that has suspended itself with `suspend(_:)` and waits to be resumed.
///
/// This replaces `CheckedContinuation` where each request suspends a task: a checked continuation allocates an object that detects
/// missing and repeated calls of `resume`.
@frozen @usableFromInline package struct SuspendedTask: Sendable {
  // SAFETY: the continuation must be resumed exactly once. The callers store the task in exactly one place, under a lock, and resume
  // it after removing it from there.
  @usableFromInline let continuation: UnsafeContinuation<Void, Never>

  @inlinable init(_ continuation: UnsafeContinuation<Void, Never>) { self.continuation = continuation }

  /// Suspends the current task and calls `body`, which must ensure that `resume` is called exactly once, now or later.
  @inlinable package static nonisolated(nonsending) func suspend(_ body: (SuspendedTask) -> Void) async {
    await withUnsafeContinuation { body(SuspendedTask($0)) }
  }

  /// Resumes the task. Must be called exactly once.
  @inlinable package func resume() { continuation.resume() }
}
