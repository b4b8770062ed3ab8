// MemoryStoreTests: the stored responses in memory, with their capacity and their changes.

import Foundation
import LupineCache
import LupineEngine
import Testing

@testable import LupineURLSession

@Suite struct MemoryStoreTests {
  /// Returns a record whose response depends on the request field X with this value, and was received at this time.
  private func record(
    _ value: String = "1", byteCount: UInt64 = 10, _ content: String = "", at time: Int64 = 0
  ) throws -> MemoryStore.Record {
    let fields: Fields = ["Cache-Control": "max-age=60", "Vary": "X"]
    let request = CacheRequest(uri: try URI("http://origin.test/"), fields: ["X": value])
    let decision = StoreDecision(
      request, status: 200, fields: fields, times: ExchangeTimes(request: time, response: time))
    guard case .store(let response) = decision else { throw URLError(.unknown) }
    let url = try #require(URL(string: "http://origin.test/"))
    return MemoryStore.Record(
      response: response.withBody(byteCount: byteCount),
      content: CachedURLResponse(response: HTTPURLResponse(url: url, response), data: Data(content.utf8)))
  }

  private func contents(_ store: MemoryStore, _ key: CacheKey) -> [String] {
    store.records(for: key) { _, record in String(decoding: record.content.data, as: UTF8.self) }
  }

  @Test("the cache's memory store replaces the responses that a new response supersedes, and keeps all others")
  func superseding() throws {
    let store = MemoryStore(capacity: 1_000_000)
    for (value, content) in [("1", "a"), ("2", "b"), ("1", "c")] {
      let new = try record(value, content)
      _ = store.insert(new, for: "u") { $0.selectingFields == new.response.selectingFields }
    }
    #expect(contents(store, "u") == ["b", "c"])
    #expect(store.byteCount > 20)
    let removed = try record("2").response.selectingFields
    _ = store.removeAll { $0.selectingFields == removed }
    #expect(contents(store, "u") == ["c"])
    _ = store.removeAll(for: "u")
    #expect(store.byteCount == 0)
  }

  @Test("while changes to the disk cache are in progress, a record read from disk isn't added to the memory cache")
  func restoring() throws {
    let store = MemoryStore(capacity: 1_000_000)
    let record = try record()
    func isRestored() -> Bool {
      _ = store.restore(record, for: "u")
      return store.hasRecords(for: "u")
    }
    store.beginChange()
    store.beginChange()
    #expect(!isRestored())
    store.endChange()
    #expect(!isRestored())
    store.endChange()
    #expect(isRestored())
  }

  @Test("a record read from disk replaces the older version in the memory cache, and no newer one")
  func restoringVersions() throws {
    let store = MemoryStore(capacity: 1_000_000)
    for (content, time, expected) in [("a", 5, "a"), ("b", 5, "a"), ("c", 6, "c"), ("d", 4, "c")] {
      _ = store.restore(try record("1", content, at: Int64(time)), for: "u")
      #expect(contents(store, "u") == [expected])
    }
    _ = store.restore(try record("2", "e"), for: "u")
    #expect(contents(store, "u") == ["c", "e"])
  }

  @Test("the cache's memory store counts the bytes of bodies and fields, and evicts responses that exceed its capacity")
  func capacity() throws {
    let store = MemoryStore(capacity: 10_000)
    for number in 0..<20 {
      _ = store.insert(try record(byteCount: 2000), for: "\(number)") { _ in false }
      #expect(store.byteCount <= 10_000)
      #expect(store.hasRecords(for: "\(number)"))
      if number == 1 { #expect(store.byteCount > 4000) }
      for id in store.records(for: "0", { id, _ in id }) { store.use(id) }
    }
    #expect(store.hasRecords(for: "0"))
    #expect(!store.hasRecords(for: "1"))
    store.capacity = 3000
    #expect(store.byteCount <= 3000 && store.byteCount > 2000)
  }
}
