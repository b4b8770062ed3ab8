// ResponseBox: delivers one response to all waiters.

import Dispatch
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite struct ConcurrencyTests {
  private let queue = SerialQueue(DispatchQueue(label: "ConcurrencyTests"))

  @Test("a response that has already arrived can be awaited several times")
  func setBefore() async {
    let box = ResponseBox<Int>(on: queue)
    box.fill(7)
    #expect(await box.value(cancelling: nil) == 7)
    #expect(await box.value(cancelling: nil) == 7)
  }

  @Test(
    "every task that awaits a response receives it, whether the task starts to wait before or after the response arrives"
  )
  func manyWaiters() async {
    let box = ResponseBox<Int>(on: queue)
    let waiters = 200
    let sum = await withTaskGroup(of: Int.self) { group in
      for index in 0..<waiters {
        // Fills the box in the middle, so that some waiters start before that, some after it and some concurrently.
        if index == waiters / 2 {
          group.addTask {
            box.fill(3)
            return 0
          }
        }
        group.addTask { await box.value(cancelling: nil) }
      }
      return await group.reduce(0, +)
    }
    #expect(sum == 3 * waiters)
  }
}
