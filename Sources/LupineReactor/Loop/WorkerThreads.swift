// WorkerThreads: runs jobs that may block on separate threads, so that no event loop waits for them.

internal import Synchronization

/// A group of threads for jobs that may block. Each thread starts with a job, runs further jobs, and ends when no job is queued.
package final class WorkerThreads: Sendable {
  private struct State: ~Copyable {
    /// The queued jobs, newest first.
    var waiting: [@Sendable () -> Void] = []
    var threadCount = 0
  }

  private let threadsMax: Int
  private let start: @Sendable (_ work: @escaping @Sendable () -> Void) throws(SystemError) -> Void
  private let state = Mutex(State())

  /// Creates a group without threads. Up to `threadsMax` jobs run concurrently; further jobs are queued.
  package convenience init(name: String, threadsMax: Int) {
    self.init(threadsMax: threadsMax) { (work) throws(SystemError) in try Thread.start(name: name, work) }
  }

  /// Creates a group that starts its threads with `start`.
  init(threadsMax: Int, start: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) throws(SystemError) -> Void)
  {
    self.threadsMax = threadsMax
    self.start = start
  }

  /// Runs a job on one of the threads. Jobs start in the order of the calls. Throws a `SystemError` if the system can't start a
  /// thread and the group has no running thread to take the job.
  package func run(_ job: @escaping @Sendable () -> Void) throws(SystemError) {
    // Threads start with the lock, so that each thread that counts runs, and will take the queued jobs.
    try state.withLock { (state) throws(SystemError) in
      if state.threadCount < threadsMax {
        do throws(SystemError) {
          try start { self.work(job) }
          state.threadCount += 1
          return
        } catch {
          if state.threadCount == 0 { throw error }
        }
      }
      state.waiting.insert(job, at: 0)
    }
  }

  private func work(_ first: @escaping @Sendable () -> Void) {
    var next: (@Sendable () -> Void)? = first
    while let job = next {
      job()
      next = state.withLock { state in
        if state.waiting.isEmpty { state.threadCount -= 1 }
        return state.waiting.popLast()
      }
    }
  }
}
