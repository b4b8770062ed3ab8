// WorkerThreadsTests: jobs on worker threads, whose number is limited.

import LupineLoopback
import Testing

@testable import LupineReactor

@Suite("Worker threads", .timeLimit(.minutes(10)))
struct WorkerThreadsTests {
  @Test(
    "as many jobs as the limit of worker threads run at the same time, and further jobs wait until a running job has ended"
  )
  func limit() throws {
    struct Progress {
      var enteredCount = 0
      var isOpen = false
      var finishedCount = 0
    }
    let workers = WorkerThreads(name: "lupine-test", threadsMax: 2)
    let progress = Condition(Progress())
    for _ in 0..<2 {
      try workers.run {
        progress.update { $0.enteredCount += 1 }
        _ = progress.wait { $0.isOpen }
      }
    }
    _ = progress.wait { $0.enteredCount == 2 }
    for _ in 0..<20 {
      try workers.run { progress.update { $0.finishedCount += 1 } }
    }
    #expect(progress.state.finishedCount == 0)
    progress.update { $0.isOpen = true }
    _ = progress.wait { $0.finishedCount == 20 }
  }

  @Test("if no thread can be started, each of several concurrent calls throws, and no job is left without a thread")
  func noThread() {
    let refused = WorkerThreads(threadsMax: 2) { _ throws(SystemError) in
      throw SystemError(call: "pthread_create", code: 11)
    }
    let counts = Condition((calls: 0, errors: 0))
    for _ in 0..<4 {
      try? Thread.start(name: "lupine-test") {
        for _ in 0..<5_000 {
          let hasFailed = (try? refused.run {}) == nil
          counts.update { $0 = ($0.calls + 1, $0.errors + (hasFailed ? 1 : 0)) }
        }
      }
    }
    _ = counts.wait { $0.calls == 20_000 }
    #expect(counts.state.errors == 20_000)
  }

  @Test("a job for which no thread can be started is run by a running thread")
  func oneThread() throws {
    let starts = Condition(0)
    let workers = WorkerThreads(threadsMax: 2) { work throws(SystemError) in
      starts.update { $0 += 1 }
      guard starts.state == 1 else { throw SystemError(call: "pthread_create", code: 11) }
      try Thread.start(name: "lupine-test", work)
    }
    let progress = Condition((isOpen: false, finishedCount: 0))
    try workers.run {
      _ = progress.wait { $0.isOpen }
      progress.update { $0.finishedCount += 1 }
    }
    try workers.run { progress.update { $0.finishedCount += 1 } }
    progress.update { $0.isOpen = true }
    _ = progress.wait { $0.finishedCount == 2 }
  }
}
