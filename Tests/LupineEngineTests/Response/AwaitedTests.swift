// AwaitedTests: a value that is delivered to all Swift tasks that wait for it.

import Testing

@testable import LupineEngine

@Suite("Awaiting a value", .timeLimit(.minutes(10)))
struct AwaitedTests {
  @Test("a value that has already arrived can be awaited several times")
  func setBefore() async {
    let awaited = Awaited<Int>()
    awaited.fill(7)
    #expect(await awaited.value() == 7)
    #expect(await awaited.value() == 7)
  }

  @Test(
    "every task that awaits a value receives it, whether the task starts to wait before or after the value arrives",
    arguments: [nil, Resumptions()]
  )
  func manyWaiters(resumptions: Resumptions?) async {
    let awaited = Awaited<Int>(resumptions)
    let waiters = 200
    let sum = await withTaskGroup(of: Int.self) { group in
      for index in 0..<waiters {
        // Stores the value in the middle, so that some waiters start before that, some after it and some concurrently.
        if index == waiters / 2 {
          group.addTask {
            awaited.fill(3)
            return 0
          }
        }
        group.addTask { await awaited.value() }
      }
      return await group.reduce(0, +)
    }
    #expect(sum == 3 * waiters)
  }

  @Test("a task that is cancelled while it waits calls the closure for that, and receives the value nevertheless")
  func cancelled() async {
    let (awaited, isCancelled) = (Awaited<Int>(), Awaited<Bool>())
    let task = Task { await awaited.value { isCancelled.fill(true) } }
    task.cancel()
    #expect(await isCancelled.value())
    awaited.fill(5)
    #expect(await task.value == 5)
  }
}
