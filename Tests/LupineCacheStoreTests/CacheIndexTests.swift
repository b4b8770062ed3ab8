// CacheIndexTests: the index's order, capacity and limits.

import LupineTestSupport
import Testing

@testable import LupineCacheStore

@Suite struct CacheIndexTests {
  @Test("if the cache index exceeds its capacity, the least recently used records are evicted until the others fit")
  func eviction() {
    var index = CacheIndex<String, String>(capacity: 100)
    for (id, name) in ["a", "b", "c"].enumerated() {
      #expect(index.insert(name, id: UInt64(id), for: name, byteCount: 30).isEmpty)
    }
    #expect(index.use(0) == "a")
    let dropped = index.insert("d", id: 3, for: "d", byteCount: 70)
    #expect(dropped.map(\.record) == ["b", "c"])
    #expect(index.byteCount == 100)
    #expect(index.insert("e", id: 4, for: "e", byteCount: 101).map(\.record) == ["e"])
    #expect(index.setCapacity(99).map(\.record) == ["a"])
    #expect(index.records(for: "d").map(\.record) == ["d"])
    #expect(index.records(for: "a").isEmpty)
  }

  @Test("the cache index evicts records whose sizes together exceed the range of Int")
  func hugeRecords() {
    var index = CacheIndex<String, String>(capacity: .max)
    #expect(index.insert("a", id: 1, for: "a", byteCount: .max - 1).isEmpty)
    #expect(index.insert("b", id: 2, for: "b", byteCount: 1).isEmpty)
    #expect(index.insert("c", id: 3, for: "c", byteCount: 1).map(\.record) == ["a"])
    #expect(index.insert("d", id: 4, for: "d", byteCount: .max).map(\.record) == ["b", "c"])
    #expect(index.byteCount == .max)
  }

  @Test(
    "the cache index keeps a limited number of records per URI, and adding one more removes the oldest record of the URI"
  )
  func recordsPerURI() {
    var index = CacheIndex<String, Int>(capacity: 1_000_000)
    let max = CacheIndex<String, Int>.responsesPerURIMax
    for number in 0..<max { #expect(index.insert(number, id: UInt64(number), for: "a", byteCount: 1).isEmpty) }
    #expect(index.insert(max, id: UInt64(max), for: "a", byteCount: 1).map(\.record) == [0])
    #expect(index.records(for: "a").count == max)
  }

  @Test(
    "after random operations, the cache index contains the same records as a simple list of records",
    arguments: 0..<repetitions(of: 50))
  func model(_ seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    var index = CacheIndex<Int, Int>(capacity: 60)
    /// The expected records of the index, with the least recently used one first.
    var list: [(id: UInt64, key: Int, size: Int)] = []
    for step in 0..<300 {
      let id = UInt64(random.number(0...20))
      switch random.number(0...3) {
      case 0, 1:
        let (key, size) = (random.number(0...3), random.number(0...30))
        var expected: Set<UInt64> = []
        list.removeAll { $0.id == id }
        list.append((id, key, size))
        while list.reduce(0, { $0 + $1.size }) > 60 { expected.insert(list.removeFirst().id) }
        #expect(Set(index.insert(step, id: id, for: key, byteCount: size).map(\.id)) == expected)
      case 2:
        let found = list.firstIndex { $0.id == id }
        #expect((index.use(id) != nil) == (found != nil))
        if let found { list.append(list.remove(at: found)) }
      default:
        #expect((index.remove(id) != nil) == list.contains { $0.id == id })
        list.removeAll { $0.id == id }
      }
      #expect(index.byteCount == list.reduce(0) { $0 + $1.size })
      #expect(Set(index.ids) == Set(list.map(\.id)))
      for key in 0...3 {
        #expect(Set(index.records(for: key).map(\.id)) == Set(list.filter { $0.key == key }.map(\.id)))
      }
    }
  }
}
