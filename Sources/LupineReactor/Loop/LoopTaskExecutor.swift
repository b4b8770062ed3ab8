// LoopTaskExecutor: makes an event loop usable as a task executor.

/// Runs Swift tasks on an event loop's thread.
///
/// `EventLoop` isn't the task executor itself, because jobs on `EventLoop` are isolated to its actors. A task on `EventLoop` would
/// leave the loop's thread at each call of a nonisolated function, and return only in a later iteration.
package final class LoopTaskExecutor: TaskExecutor {
  private let loop: EventLoop

  package init(_ loop: EventLoop) { self.loop = loop }

  /// Enqueues a task's job, which runs in the loop's next iteration.
  package func enqueue(_ job: consuming ExecutorJob) {
    loop.enqueue(UnownedJob(job), of: asUnownedTaskExecutor())
  }
}
