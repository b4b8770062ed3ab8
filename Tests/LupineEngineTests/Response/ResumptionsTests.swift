// ResumptionsTests: when tasks are resumed after an iteration of the loop has finished their operations.

import Synchronization
import Testing

@testable import LupineEngine
@testable import LupineSimulation

@Suite("Resuming tasks at the end of an iteration", .timeLimit(.minutes(10)))
struct ResumptionsTests {
  /// Creates tasks that `Resumptions` resumes, on an executor that runs them only when the test asks for it.
  private final class Waiting: Sendable {
    let executor = SimulatedExecutor()
    let resumptions = Resumptions()
    private let resumed = Mutex<[Int]>([])

    /// Runs the tasks that are ready, and returns the numbers of all tasks that have continued, in order.
    var all: [Int] {
      executor.run(Agenda())
      return resumed.withLock { $0 }
    }

    /// Starts a task that suspends, and that `Resumptions` may resume at once.
    func start(_ number: Int) -> Task<Void, Never> {
      let task = Task(executorPreference: executor) {
        await SuspendedTask.suspend { self.resumptions.resume($0) }
        self.resumed.withLock { $0.append(number) }
      }
      executor.run(Agenda())
      return task
    }
  }

  @Test("outside an iteration of the event loop, a task that becomes ready is resumed immediately")
  func between() {
    let waiting = Waiting()
    _ = waiting.start(1)
    #expect(waiting.all == [1])
    waiting.resumptions.beginCollecting()
    waiting.resumptions.resumeCollected()
    _ = waiting.start(2)
    #expect(waiting.all == [1, 2])
  }

  @Test(
    "tasks that become ready during an iteration of the event loop are resumed in order at the iteration's end",
    arguments: [1, 3, 4, 100])
  func together(count: Int) async {
    let waiting = Waiting()
    waiting.resumptions.beginCollecting()
    let tasks = (0..<count).map(waiting.start)
    #expect(waiting.all.isEmpty)
    waiting.resumptions.resumeCollected()
    // The tasks may be resumed on another thread.
    while waiting.all.count < count { await Task.yield() }
    #expect(waiting.all == Array(0..<count))
    for task in tasks { await task.value }
  }
}
