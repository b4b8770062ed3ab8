// DeadlineQueueTests: small sequences of operations, and long random ones that are compared with a dictionary.

@_spi(Loop) import LupineReactor
import LupineTestSupport
import Testing

@Suite("DeadlineQueue")
struct DeadlineQueueTests {
  enum Step: Sendable {
    case set(String, UInt64?)
    case remove(String)
    /// Removes all deadlines up to the given time, and expects these keys in this order.
    case expire(UInt64, [String])
    case earliest(UInt64?)
  }

  static let histories: [(name: String, steps: [Step])] = [
    ("an empty queue is empty", [.earliest(nil), .expire(.max, []), .remove("a"), .set("a", nil), .earliest(nil)]),
    (
      "the earliest deadline comes first",
      [.set("b", 2), .set("c", 3), .set("a", 1), .earliest(1), .expire(9, ["a", "b", "c"])]
    ),
    ("a deadline expires at its instant, not before", [.set("a", 5), .expire(4, []), .expire(5, ["a"])]),
    ("a popped deadline is removed", [.set("a", 5), .expire(5, ["a"]), .expire(5, []), .earliest(nil)]),
    ("a deadline is postponed", [.set("a", 1), .set("b", 2), .set("a", 3), .expire(9, ["b", "a"])]),
    ("a deadline is moved forward", [.set("a", 1), .set("b", 2), .set("b", 0), .expire(9, ["b", "a"])]),
    ("nil removes a deadline", [.set("a", 1), .set("b", 2), .set("a", nil), .earliest(2), .expire(9, ["b"])]),
    ("the last entry is removed", [.set("a", 1), .set("b", 2), .remove("b"), .expire(9, ["a"])]),
    (
      "a removed key is set again",
      [.set("a", 1), .remove("a"), .set("a", 2), .expire(1, []), .expire(2, ["a"])]
    ),
    (
      "the entry that fills a gap moves up if necessary",
      // The heap contains 1, then 10 and 2, then 11, 12 and 3. The removal of "11" puts "3" below "10", from where it must move up.
      [
        .set("1", 1), .set("10", 10), .set("2", 2), .set("11", 11), .set("12", 12), .set("3", 3), .remove("11"),
        .expire(99, ["1", "2", "3", "10", "12"]),
      ]
    ),
  ]

  @Test(
    "the event loop's deadline queue has the expected results for each sequence of operations in the test table",
    arguments: histories)
  func history(_ history: (name: String, steps: [Step])) {
    var queue = DeadlineQueue<String>()
    for step in history.steps {
      switch step {
      case .set(let key, let time): queue.set(key, to: time.map(Instant.init(nanoseconds:)))
      case .remove(let key): queue.remove(key)
      case .earliest(let time): #expect(queue.earliest?.nanoseconds == time)
      case .expire(let time, let keys):
        var popped: [String] = []
        while let key = queue.popExpired(now: Instant(nanoseconds: time)) { popped.append(key) }
        #expect(popped == keys)
      }
    }
  }

  @Test(
    "10,000 random operations on the event loop's deadline queue have the same results as on a dictionary",
    arguments: [1, 2, 3] as [UInt64])
  func random(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var queue = DeadlineQueue<Int>()
    var model: [Int: UInt64] = [:]
    var now: UInt64 = 0
    for _ in 0..<10_000 {
      let key = Int.random(in: 0..<200, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<6:
        let time = now + UInt64.random(in: 0..<300, using: &random)
        queue.set(key, to: Instant(nanoseconds: time))
        model[key] = time
      case 6..<8:
        queue.remove(key)
        model[key] = nil
      default:
        now += UInt64.random(in: 0..<40, using: &random)
        while let popped = queue.popExpired(now: Instant(nanoseconds: now)) {
          let time = try #require(model[popped], "the key was popped twice, or never set")
          model[popped] = nil
          // Equal deadlines may be popped in any order.
          try #require(time <= now && time <= model.values.min() ?? .max)
        }
        try #require(model.values.allSatisfy { $0 > now })
      }
      try #require(queue.earliest?.nanoseconds == model.values.min())
      try #require(queue.count == model.count && queue.isEmpty == model.isEmpty)
      try #require(queue.first.flatMap { model[$0] } == model.values.min())
    }
  }
}
