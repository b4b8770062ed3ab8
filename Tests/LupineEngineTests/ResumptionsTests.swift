// When tasks are resumed for which a turn has finished something.

import Synchronization
import Testing

@testable import LupineEngine

@Suite("Resumptions", .timeLimit(.minutes(10)))
struct ResumptionsTests {
  /// Tasks that wait, on a thread that is the test's.
  private final class Waiting: Sendable {
    let executor = SimulatedExecutor()
    let resumptions = Resumptions()
    private let resumed = Mutex<[Int]>([])

    /// Those that go on, in order.
    var all: [Int] {
      executor.run(Agenda())
      return resumed.withLock { $0 }
    }

    /// Starts a task that is resumed as soon as it waits.
    func start(_ number: Int) -> Task<Void, Never> {
      let task = Task(executorPreference: executor) {
        await withCheckedContinuation { self.resumptions.resume($0) }
        self.resumed.withLock { $0.append(number) }
      }
      executor.run(Agenda())
      return task
    }
  }

  @Test("a task is resumed at once while there is no turn")
  func between() {
    let waiting = Waiting()
    _ = waiting.start(1)
    #expect(waiting.all == [1])
    waiting.resumptions.open()
    waiting.resumptions.close()
    _ = waiting.start(2)
    #expect(waiting.all == [1, 2])
  }

  @Test("in a turn tasks are resumed at its end, in order, however many there are", arguments: [1, 3, 4, 100])
  func together(count: Int) async {
    let waiting = Waiting()
    waiting.resumptions.open()
    let tasks = (0..<count).map(waiting.start)
    #expect(waiting.all.isEmpty)
    waiting.resumptions.close()
    // Maybe by another thread.
    while waiting.all.count < count { await Task.yield() }
    #expect(waiting.all == Array(0..<count))
    for task in tasks { await task.value }
  }
}
