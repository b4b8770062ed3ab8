// SimulatedExecutor: runs tasks on the simulation's thread and in its virtual time.

import Synchronization

@_spi(Loop) @testable import LupineReactor

/// A task executor that runs its jobs only when `run` is called, on the calling thread.
final class SimulatedExecutor: TaskExecutor {
  private let jobs = Mailbox<UnownedJob>()
  private let sleepers = Mutex<[(Duration, CheckedContinuation<Void, Never>)]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    _ = jobs.post(UnownedJob(job))
  }

  /// Suspends the calling task for a duration of virtual time.
  func pass(_ duration: Duration) async {
    await withCheckedContinuation { continuation in sleepers.withLock { $0.append((duration, continuation)) } }
  }

  /// Runs all jobs that are ready. Then schedules the end of each `pass` in the agenda.
  func run(_ agenda: Agenda) {
    var ready: [UnownedJob] = []
    repeat {
      jobs.drain(into: &ready)
      for job in ready { job.runSynchronously(on: asUnownedTaskExecutor()) }
    } while !ready.isEmpty
    var waiting: [(Duration, CheckedContinuation<Void, Never>)] = []
    sleepers.withLock { swap(&$0, &waiting) }
    for (duration, continuation) in waiting { agenda.after(duration) { continuation.resume() } }
  }
}
