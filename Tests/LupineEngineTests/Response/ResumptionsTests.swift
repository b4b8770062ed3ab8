// ResumptionsTests: when tasks are resumed after an iteration of the loop has finished their operations.

import Synchronization
import Testing

@testable import LupineEngine
@testable import LupineSimulation

@Suite("Resuming tasks at the end of an iteration", .timeLimit(.minutes(10)))
struct ResumptionsTests {
  /// Suspended tasks, on an executor controlled by the test.
  private final class Waiting: Sendable {
    let executor = SimulatedExecutor()
    let resumptions = Resumptions()
    private let resumed = Mutex<[Int]>([])

    /// The numbers of the resumed tasks, in order.
    var all: [Int] {
      executor.run(Agenda())
      return resumed.withLock { $0 }
    }

    /// Starts a task that is resumed as soon as it is suspended.
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
    // Another thread may resume the tasks.
    while waiting.all.count < count { await Task.yield() }
    #expect(waiting.all == Array(0..<count))
    for task in tasks { await task.value }
  }
}
