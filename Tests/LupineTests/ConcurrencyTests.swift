// The box that hands one response to everybody who awaits it.

import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite struct ConcurrencyTests {
  @Test("a value that was set before it is awaited arrives, every time")
  func setBefore() async {
    let box = ResponseBox<Int>()
    box.fill(7)
    #expect(await box.value(cancelling: nil) == 7)
    #expect(await box.value(cancelling: nil) == 7)
  }

  @Test("everybody who waits gets the value, whenever they start to wait")
  func manyWaiters() async {
    let box = ResponseBox<Int>()
    let waiters = 200
    let sum = await withTaskGroup(of: Int.self) { group in
      for index in 0..<waiters {
        // Set in the middle, so that some wait before it, some behind and some at the same time.
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
