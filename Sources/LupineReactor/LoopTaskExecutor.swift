// A loop as an executor of tasks.

/// Runs tasks on a loop's thread.
///
/// Not the loop itself, whose jobs are isolated to its actors: a task would leave them at each call of a function that
/// isn't, and come back to the same thread in another turn.
package final class LoopTaskExecutor: TaskExecutor {
  private let loop: EventLoop

  package init(_ loop: EventLoop) { self.loop = loop }

  /// Takes a task's job, which runs in the loop's next turn.
  package func enqueue(_ job: consuming ExecutorJob) {
    loop.enqueue(UnownedJob(job), of: asUnownedTaskExecutor())
  }
}
