// WorkerThreads: runs jobs that may block on separate threads, so that no event loop waits for them.

internal import Synchronization

/// A group of threads for jobs that may block. Each thread starts with a job, runs further jobs, and ends when no job is queued.
package final class WorkerThreads: Sendable {
  private struct State {
    /// The queued jobs, newest first.
    var waiting: [@Sendable () -> Void] = []
    var threadCount = 0
  }

  private let name: String
  private let threadsMax: Int
  private let state = Mutex(State())

  /// Creates a group without threads. Up to `threadsMax` jobs run concurrently; further jobs are queued.
  package init(name: String, threadsMax: Int) {
    self.name = name
    self.threadsMax = threadsMax
  }

  /// Runs a job on one of the threads. Jobs start in the order of the calls. Throws a `SystemError` if the system can't start a
  /// thread and the group has no running thread to take the job.
  package func run(_ job: @escaping @Sendable () -> Void) throws(SystemError) {
    let needsThread = state.withLock { state in
      guard state.threadCount < threadsMax else {
        state.waiting.insert(job, at: 0)
        return false
      }
      state.threadCount += 1
      return true
    }
    guard needsThread else { return }
    do {
      try Thread.start(name: name) { self.work(job) }
    } catch {
      let isQueued = state.withLock { state in
        state.threadCount -= 1
        if state.threadCount > 0 { state.waiting.insert(job, at: 0) }
        return state.threadCount > 0
      }
      if !isQueued { throw error }
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
