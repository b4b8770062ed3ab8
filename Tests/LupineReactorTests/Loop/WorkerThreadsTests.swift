// WorkerThreadsTests: jobs on worker threads, whose number is limited.

import LupineLoopback
import LupineReactor
import Testing

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
}
