// AddressCacheTests: the age and number of cached addresses, in virtual time.

import Testing

@testable import LupineReactor

@Suite("AddressCache")
struct AddressCacheTests {
  private let unknown = NameService.Answer.failure(ResolveError(.unknownName, "none"))

  private func make(_ change: (inout ResolverConfiguration) -> Void = { _ in }) -> AddressCache {
    var configuration = ResolverConfiguration()
    change(&configuration)
    return AddressCache(configuration)
  }

  private func at(_ seconds: Double) -> Instant { Instant(nanoseconds: UInt64(seconds * 1e9)) }

  private func found(_ host: String = "192.0.2.1") -> NameService.Answer {
    .success([SocketAddress(numeric: host, port: 0)].compactMap(\.self))
  }

  @Test("the address cache keeps addresses for 60 s after their lookup started, and unknown names for 5 s")
  func ages() {
    for (answer, age) in [(found(), 60.0), (unknown, 5)] {
      var cache = make()
      cache.store(answer, for: "a", askedAt: at(100))
      #expect(cache.answer(for: "b", now: at(100)) == nil)
      #expect(cache.answer(for: "a", now: at(100)) == answer)
      #expect(cache.answer(for: "a", now: at(100 + age - 0.001)) == answer)
      #expect(cache.answer(for: "a", now: at(100 + age)) == nil)
      #expect(cache.count == 0)
    }
  }

  @Test("the address cache tells when an answer expires, and nothing about names without an answer")
  func end() {
    var cache = make()
    cache.store(found(), for: "a", askedAt: at(100))
    #expect(cache.end(of: "a") == at(160) && cache.end(of: "b") == nil)
    cache.remove("a")
    #expect(cache.end(of: "a") == nil)
  }

  @Test(
    "after a temporary lookup failure, the address cache contains neither the failure nor the name's earlier addresses",
    arguments: ResolveError.Kind.allCases)
  func failures(kind: ResolveError.Kind) {
    var cache = make()
    cache.store(found(), for: "a", askedAt: at(0))
    cache.store(.failure(ResolveError(kind, "x")), for: "a", askedAt: at(1))
    #expect((cache.answer(for: "a", now: at(1)) == nil) == (kind != .unknownName))
  }

  @Test("if a cache age or the size limit is zero or less, the address cache keeps nothing", arguments: [0, -1])
  func off(value: Int) {
    for change: (inout ResolverConfiguration) -> Void in [
      {
        $0.cacheAge = .seconds(value)
        $0.negativeCacheAge = .seconds(value)
      }, { $0.cacheEntriesMax = value },
    ] {
      var cache = make(change)
      cache.store(found(), for: "a", askedAt: at(0))
      cache.store(unknown, for: "b", askedAt: at(0))
      #expect(cache.count == 0)
    }
  }

  @Test("an extremely large age limit of the address cache doesn't overflow")
  func endless() {
    var cache = make { $0.cacheAge = .seconds(Int64.max) }
    cache.store(found(), for: "a", askedAt: at(1))
    #expect(cache.answer(for: "a", now: at(1e9)) == found())
  }

  @Test("if the address cache is full, a new name replaces the least recently used name")
  func leastRecentlyUsed() {
    var cache = make { $0.cacheEntriesMax = 3 }
    for name in ["a", "b", "c"] { cache.store(found(), for: name, askedAt: at(0)) }
    #expect(cache.answer(for: "a", now: at(1)) != nil)
    cache.store(found("192.0.2.2"), for: "b", askedAt: at(1))
    cache.store(found(), for: "d", askedAt: at(1))
    #expect(cache.count == 3)
    #expect(cache.answer(for: "c", now: at(1)) == nil)
    #expect(cache.answer(for: "a", now: at(1)) == found())
    #expect(cache.answer(for: "b", now: at(1)) == found("192.0.2.2"))
    #expect(cache.answer(for: "d", now: at(1)) == found())
  }

  @Test("the address cache never contains more than 1,024 names, however many are looked up")
  func bounded() {
    var cache = make()
    for number in 0..<5_000 { cache.store(unknown, for: "\(number)", askedAt: at(0)) }
    #expect(cache.count == 1_024)
    #expect(cache.answer(for: "4999", now: at(0)) != nil)
    #expect(cache.answer(for: "3976", now: at(0)) != nil)
    #expect(cache.answer(for: "3975", now: at(0)) == nil)
  }

  @Test("a name that is removed from the address cache isn't found afterward, and leaves room for another name")
  func removal() {
    var cache = make { $0.cacheEntriesMax = 2 }
    for name in ["a", "b"] { cache.store(found(), for: name, askedAt: at(0)) }
    cache.remove("b")
    cache.remove("never")
    cache.store(found(), for: "c", askedAt: at(0))
    #expect(cache.answer(for: "a", now: at(0)) != nil)
    #expect(cache.answer(for: "b", now: at(0)) == nil)
  }
}
