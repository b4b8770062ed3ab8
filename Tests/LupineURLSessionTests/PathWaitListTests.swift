// PathWaitListTests: when requests that wait for a network continue. The tests pass the times, so no clock is needed.

import LupineEngine
import Synchronization
import Testing

@testable import LupineReactor
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite("The list of tasks that wait for a network")
struct PathWaitListTests {
  private let outcomes = Notes()

  private func at(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  private func add(
    _ list: inout PathWaitList, _ name: String, attempts: Int = 0, limit: Duration? = nil, at milliseconds: UInt64 = 0
  ) -> PathWaitList.ID {
    list.add(
      until: { $0?.hasRoute() ?? true }, attempts: attempts, limit: limit, now: at(milliseconds)
    ) { [outcomes] in
      outcomes.add("\(name) \($0)")
    }
  }

  private func due(_ list: inout PathWaitList, at milliseconds: UInt64) -> Int {
    let calls = list.takeDue(now: at(milliseconds))
    for call in calls { call() }
    return calls.count
  }

  @Test("a task that waits for a network continues as soon as a network path appears")
  func appearing() {
    var list = PathWaitList()
    _ = add(&list, "a")
    #expect(list.nextTime == nil && due(&list, at: 5) == 0)
    list.networkChanged(TestNetwork.offline, now: at(10)) { 0.5 }
    #expect(list.nextTime == nil)
    list.networkChanged(TestNetwork.online, now: at(20)) { 0.5 }
    #expect(list.nextTime == at(20) && due(&list, at: 20) == 1 && outcomes.all == ["a path"] && list.isEmpty)
  }

  @Test(
    "if there already is a network path, a waiting task continues after a delay that doubles up to 10 s")
  func pauses() {
    for (attempts, pause) in [(0, 0), (1, 100), (2, 200), (3, 400), (7, 6_400), (8, 10_000), (9, 10_000), (60, 10_000)]
      as [(Int, UInt64)]
    {
      var list = PathWaitList()
      _ = add(&list, "a", attempts: attempts)
      list.networkChanged(TestNetwork.online, now: at(0)) { 0.5 }
      #expect(list.nextTime == at(pause), "\(attempts) attempts")
    }
  }

  @Test(
    "even if there is a network path when a task starts to wait for a network, the task continues only after its delay")
  func joining() {
    var list = PathWaitList()
    _ = add(&list, "a", attempts: 8)
    list.networkChanged(TestNetwork.online, now: at(0)) { 0.5 }
    _ = add(&list, "b", attempts: 1, at: 50)
    #expect(list.nextTime == at(150) && due(&list, at: 150) == 1 && outcomes.all == ["b path"])
  }

  @Test("a task that loses its network path during the delay keeps waiting, even if an interface goes up and down")
  func flapping() {
    var list = PathWaitList()
    _ = add(&list, "a", attempts: 4)
    for time in stride(from: UInt64(0), to: 700, by: 100) {
      list.networkChanged(time % 200 == 0 ? TestNetwork.online : TestNetwork.offline, now: at(time)) { 0.5 }
      #expect(due(&list, at: time) == 0)
    }
    list.networkChanged(TestNetwork.offline, now: at(750)) { 0.5 }
    #expect(due(&list, at: 5_000) == 0)
    list.networkChanged(TestNetwork.online, now: at(5_000)) { 0.5 }
    #expect(due(&list, at: 5_000) == 1)
  }

  @Test("if a default route appears after a network had only a local route, a waiting task's delay ends at once")
  func defaultRoute() {
    var list = PathWaitList()
    _ = add(&list, "a", attempts: 8)
    list.networkChanged(TestNetwork.local, now: at(0)) { 0.5 }
    _ = add(&list, "b", attempts: 8)
    #expect(list.nextTime == at(10_000))
    list.networkChanged(TestNetwork.local, now: at(20)) { 0.5 }
    #expect(list.nextTime == at(10_000))
    list.networkChanged(TestNetwork.online, now: at(30)) { 0.5 }
    #expect(due(&list, at: 30) == 1 && due(&list, at: 33) == 1 && outcomes.all == ["a path", "b path"])
  }

  @Test("a new default route doesn't end the delay of a task that began to wait offline or with a default route")
  func knownDefaultRoute() {
    for start in [TestNetwork.offline, TestNetwork.online] {
      var list = PathWaitList()
      _ = add(&list, "a", attempts: 8)
      list.networkChanged(start, now: at(0)) { 0.5 }
      _ = add(&list, "b", attempts: 8, at: 5)
      for time in stride(from: UInt64(10), to: 1_000, by: 20) {
        list.networkChanged(TestNetwork.local, now: at(time)) { 0.5 }
        list.networkChanged(TestNetwork.online, now: at(time + 10)) { 0.5 }
      }
      #expect(list.nextTime == at(10_000))
    }
  }

  @Test("an interface that goes down doesn't end a waiting task's delay when it comes up again with a default route")
  func lostLocalRoute() {
    var list = PathWaitList()
    _ = add(&list, "a", attempts: 8)
    for (time, state) in [TestNetwork.local, TestNetwork.offline, TestNetwork.local, TestNetwork.online].enumerated() {
      list.networkChanged(state, now: at(UInt64(time))) { 0.5 }
    }
    #expect(list.nextTime == at(10_000))
  }

  @Test("many tasks that wait for a network continue in the order in which they started to wait, spread over up to 2 s")
  func spread() {
    var list = PathWaitList()
    for number in 0..<4_000 { _ = add(&list, "\(number)") }
    list.networkChanged(TestNetwork.online, now: at(0)) { 0.5 }
    #expect(due(&list, at: 0) == 1)
    var counts: [Int] = []
    for time in stride(from: UInt64(100), through: 2_000, by: 100) { counts.append(due(&list, at: time)) }
    #expect(counts.reduce(0, +) == 3_999 && list.isEmpty && (counts.max() ?? 0) <= 201)
    #expect(outcomes.all == (0..<4_000).map { "\($0) path" })
  }

  @Test("when a network appears, a few tasks that wait for the network continue at intervals of 2 ms")
  func few() {
    var list = PathWaitList()
    for number in 0..<3 { _ = add(&list, "\(number)") }
    list.networkChanged(TestNetwork.online, now: at(0)) { 0 }
    #expect((0...4).map { due(&list, at: UInt64($0)) } == [1, 0, 1, 0, 1])
  }

  @Test("a task that waits for a network fails at its time limit, and isn't notified after it stopped waiting")
  func limits() {
    var list = PathWaitList()
    _ = add(&list, "a", limit: .milliseconds(30))
    let removed = add(&list, "b")
    #expect(list.nextTime == at(30) && due(&list, at: 29) == 0 && due(&list, at: 30) == 1)
    list.remove(removed)
    list.networkChanged(TestNetwork.online, now: at(40)) { 0 }
    #expect(list.isEmpty && due(&list, at: 50) == 0 && outcomes.all == ["a timedOut"])
  }

  @Test("if the network's state can't be read, a task that waits for a network continues after a delay")
  func unreadable() {
    var list = PathWaitList()
    _ = add(&list, "a", attempts: 2)
    list.networkChanged(nil, now: at(0)) { 0 }
    #expect(list.nextTime == at(200))
  }
}
