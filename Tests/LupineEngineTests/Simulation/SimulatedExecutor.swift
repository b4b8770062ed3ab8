// Runs tasks on the simulation's thread, so that they take part in its time.

import Synchronization

@_spi(Loop) @testable import LupineReactor

/// An executor that runs its tasks when it is told to.
final class SimulatedExecutor: TaskExecutor {
  private let jobs = Mailbox<UnownedJob>()
  private let sleepers = Mutex<[(Duration, CheckedContinuation<Void, Never>)]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    _ = jobs.post(UnownedJob(job))
  }

  /// Waits in virtual time.
  func pass(_ duration: Duration) async {
    await withCheckedContinuation { continuation in sleepers.withLock { $0.append((duration, continuation)) } }
  }

  /// Runs what can be run; those who wait are entered into the agenda.
  func run(_ agenda: Agenda) {
    var ready: [UnownedJob] = []
    repeat {
      jobs.take(into: &ready)
      for job in ready { job.runSynchronously(on: asUnownedTaskExecutor()) }
    } while !ready.isEmpty
    var waiting: [(Duration, CheckedContinuation<Void, Never>)] = []
    sleepers.withLock { swap(&$0, &waiting) }
    for (duration, continuation) in waiting { agenda.after(duration) { continuation.resume() } }
  }
}
