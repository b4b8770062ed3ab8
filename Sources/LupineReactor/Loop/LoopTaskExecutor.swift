// LoopTaskExecutor: makes an event loop usable as a task executor.

/// Runs Swift tasks on an event loop's thread.
///
/// The loop itself isn't the task executor, because its jobs are isolated to its actors. If a task ran on the loop itself, it would
/// leave its executor at each call of a nonisolated function, and return to the thread only in a later iteration.
package final class LoopTaskExecutor: TaskExecutor {
  private let loop: EventLoop

  package init(_ loop: EventLoop) { self.loop = loop }

  /// Enqueues a task's job, which runs in the loop's next iteration.
  package func enqueue(_ job: consuming ExecutorJob) {
    loop.enqueue(UnownedJob(job), of: asUnownedTaskExecutor())
  }
}
