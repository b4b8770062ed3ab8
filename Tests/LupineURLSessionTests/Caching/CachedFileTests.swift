// CachedFileTests: bodies that are served from files, and files that are damaged, cut or missing, also while they are served.

import Foundation
import LupineCache
import LupineEngine
import LupineOrigin
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct CachedFileTests {
  /// A way in which a cache file is damaged, such as a changed checksum.
  enum Damage: CaseIterable, Sendable {
    case preamble, version, head, body, checksum, cut, extended, empty, foreign, missing

    func apply(to path: String) throws {
      guard self != .missing else { return try FileManager.default.removeItem(atPath: path) }
      var bytes = try #require(FileManager.default.contents(atPath: path))
      switch self {
      case .preamble: bytes[0] ^= 1
      case .version: bytes[8] ^= 1
      // The head begins after the preamble of 40 bytes.
      case .head: bytes[60] ^= 1
      // The last block of the body is followed by a checksum of 8 bytes.
      case .body: bytes[bytes.count - 9] ^= 1
      case .checksum: bytes[bytes.count - 1] ^= 1
      case .cut: bytes.removeLast()
      case .extended: bytes.append(0)
      case .empty: bytes = Data()
      case .foreign: bytes = Data(repeating: 0x78, count: bytes.count)
      case .missing: break
      }
      // The file is changed in place, because the cache may have it open.
      let handle = try #require(FileHandle(forWritingAtPath: path))
      try handle.truncate(atOffset: UInt64(bytes.count))
      try handle.seek(toOffset: 0)
      try handle.write(contentsOf: bytes)
      try handle.close()
    }
  }

  /// Makes the mock origin answer "/a" with the number of earlier requests: "0", "1" and so on.
  private func scriptNumbers(_ fixture: CacheFixture) {
    fixture.script.on("/a") { _, number in
      Reply(fields: ["Cache-Control": "max-age=60"], .bytes(Array("\(number)".utf8)))
    }
  }

  @Test("the session reads a stored body of several megabytes no faster than the caller's receive window permits")
  func longBody() async throws {
    try await withCache(memory: 1_000, disk: 100_000_000) { fixture async throws in
      fixture.script.on("/a") { _, _ in
        Reply(fields: ["Cache-Control": "max-age=60"], .pattern(byteCount: 3_000_000))
      }
      let (whole, _) = try await fixture.session.data(for: fixture.request())
      #expect(whole.count == 3_000_000 && fixture.cache.currentDiskUsage > 3_000_000)
      let (bytes, _) = try await fixture.session.bytes(for: fixture.request())
      var count = 0
      for try await byte in bytes {
        guard byte == Pattern.byte(at: UInt64(count)) else { break }
        count += 1
      }
      #expect(count == 3_000_000)
      let (part, _) = try await fixture.session.data(for: fixture.request("/a", ["Range": "bytes=70000-140000"]))
      #expect(part.count == 70_001 && part.first == Pattern.byte(at: 70_000) && part.last == Pattern.byte(at: 140_000))
      #expect(fixture.script.count == 1)
    }
  }

  @Test(
    "if a cache file is damaged, overwritten or missing, the session removes its record and loads the resource again",
    arguments: Damage.allCases)
  func damaged(damage: Damage) async throws {
    try await withCache(memory: 0, disk: 1_000_000) { fixture async throws in
      scriptNumbers(fixture)
      try await fixture.load()
      let size = fixture.cache.currentDiskUsage
      let path = try #require(fixture.directory.records.first)
      try damage.apply(to: path)
      #expect(try await fixture.load().text == "1")
      // Only the new response's file is left.
      #expect(fixture.cache.currentDiskUsage == size && size > 0)
      #expect(fixture.directory.records.count == 1 && fixture.directory.records != [path])
      #expect(try await fixture.load().text == "1")
      #expect(fixture.script.count == 2)
    }
  }

  @Test(
    "if a cache file is damaged or overwritten, URLCache's lookup returns nil and deletes the file",
    arguments: Damage.allCases)
  func lookup(damage: Damage) async throws {
    try await withCache(memory: 0, disk: 1_000_000) { fixture async throws in
      scriptNumbers(fixture)
      try await fixture.load()
      #expect(fixture.cache.cachedResponse(for: fixture.request())?.data == Data("0".utf8))
      try damage.apply(to: try #require(fixture.directory.records.first))
      #expect(fixture.cache.cachedResponse(for: fixture.request()) == nil)
      #expect(fixture.directory.records.isEmpty && fixture.cache.currentDiskUsage == 0)
    }
  }

  @Test(
    "returnCacheDataDontLoad fails without a request if the file of the stored response is damaged or missing",
    arguments: [Damage.body, .head, .missing])
  func storedOnly(damage: Damage) async throws {
    try await withCache(memory: 0, disk: 1_000_000) { fixture async throws in
      scriptNumbers(fixture)
      try await fixture.load()
      fixture.cache.stores.waitForFiles {}
      try damage.apply(to: try #require(fixture.directory.records.first))
      #expect(await code { try await fixture.load(policy: .returnCacheDataDontLoad) } == .resourceUnavailable)
      #expect(fixture.script.count == 1 && fixture.directory.records.isEmpty)
    }
  }

  /// Stores a response whose body is longer than one read, and damages the cache file after its first byte has been served.
  /// Returns the number of correct bytes that were served, and the code of the task's error.
  private func serve(
    in fixture: CacheFixture, changing damage: Damage
  ) async throws -> (byteCount: UInt64, error: URLError.Code?) {
    fixture.script.on("/a") { _, _ in
      Reply(fields: ["Cache-Control": "max-age=60"], .pattern(byteCount: 3_000_000))
    }
    _ = try await fixture.session.data(for: fixture.request())
    fixture.cache.stores.waitForFiles {}
    let path = try #require(fixture.directory.records.first)
    let (bytes, _) = try await fixture.session.bytes(for: fixture.request())
    var count: UInt64 = 0
    let error = await code {
      for try await byte in bytes {
        if count == 0 { try damage.apply(to: path) }
        guard byte == Pattern.byte(at: count) else { return }
        count += 1
      }
    }
    #expect(fixture.script.count == 1)
    return (count, error)
  }

  @Test(
    "if a cache file is damaged or truncated while the file is served, the task fails, and the next one loads from the origin",
    arguments: [Damage.body, .checksum, .cut, .empty])
  func damagedWhileServed(damage: Damage) async throws {
    try await withCache(memory: 1_000, disk: 100_000_000) { fixture async throws in
      let (byteCount, error) = try await serve(in: fixture, changing: damage)
      #expect(error == .networkConnectionLost && byteCount < 3_000_000)
      #expect(fixture.directory.records.isEmpty && fixture.cache.currentDiskUsage == 0)
      let (whole, _) = try await fixture.session.data(for: fixture.request())
      #expect(whole.count == 3_000_000 && fixture.script.count == 2)
    }
  }

  @Test("a cache file is served to its end even if another process deletes the file meanwhile")
  func deletedWhileServed() async throws {
    try await withCache(memory: 1_000, disk: 100_000_000) { fixture async throws in
      let (byteCount, error) = try await serve(in: fixture, changing: .missing)
      #expect(error == nil && byteCount == 3_000_000)
      let (whole, _) = try await fixture.session.data(for: fixture.request())
      #expect(whole.count == 3_000_000 && fixture.script.count == 2)
    }
  }

  @Test(
    "if a cache file is damaged or deleted during its validation, the request is sent again without conditions",
    arguments: [Damage.missing, .empty, .head, .body])
  func damagedWhileValidated(damage: Damage) async throws {
    try await withCache(memory: 0, disk: 1_000_000) { fixture async throws in
      let directory = fixture.directory
      fixture.script.on("/a") { request, number in
        guard request.fields.contains("If-None-Match") else {
          return Reply(
            fields: ["Cache-Control": "max-age=60", "ETag": "\"\(number)\""], .bytes(Array("\(number)".utf8)))
        }
        for path in directory.records { try damage.apply(to: path) }
        return Reply(status: 304, fields: ["ETag": "\"0\""])
      }
      #expect(try await fixture.load().text == "0")
      fixture.cache.stores.waitForFiles {}
      fixture.clock.advance(60)
      #expect(try await fixture.load().text == "2")
      #expect(fixture.script.requests.map { $0.fields.first("If-None-Match") } == [nil, "\"0\"", nil])
      fixture.cache.stores.waitForFiles {}
      #expect(try await fixture.load().text == "2" && fixture.script.count == 3)
    }
  }

  @Test("a newer version that another process has written to a file is served instead of an older one in memory")
  func newerFile() async throws {
    try await withCache(disk: 1_000_000) { fixture async throws in
      scriptNumbers(fixture)
      #expect(try await fixture.load().text == "0")
      fixture.cache.stores.waitForFiles {}
      fixture.clock.advance(60)
      let clock = fixture.clock
      let other = URLCache(memoryCapacity: 0, diskCapacity: 1_000_000, folder: fixture.directory.path) { clock.now }
      let process = fixture.sibling { $0.urlCache = other }
      #expect(try await fixture.load(in: process).text == "1")
      other.stores.waitForFiles {}
      // Nothing is removed, but the cache looks which files there are.
      fixture.cache.removeCachedResponses(since: .distantFuture)
      for _ in 0..<2 { #expect(try await fixture.load().text == "1") }
      let key = try URI(fixture.origin.url + "/a").cacheKey
      #expect(fixture.script.count == 2 && fixture.cache.stores.foundInMemory(key).count == 1)
    }
  }

  @Test("the session deletes a stored response that can't be marked as invalidated")
  func failedInvalidation() async throws {
    try await withCache(memory: 0, disk: 1_000_000) { fixture async throws in
      fixture.script.on("/a", "one", ["Cache-Control": "max-age=60", "ETag": "\"1\""])
      try await fixture.load()
      fixture.cache.stores.waitForFiles {}
      try Damage.body.apply(to: try #require(fixture.directory.records.first))
      fixture.script.on("/a", "one", ["ETag": "\"2\""])
      fixture.clock.advance(60)
      try await fixture.load("/a", [:], "HEAD")
      fixture.cache.stores.waitForFiles {}
      #expect(fixture.directory.records.isEmpty)
    }
  }

  @Test("the session deletes a stored response that it must mark as invalidated but whose file it can't open")
  func unopenedInvalidation() async throws {
    try await withCache(memory: 0, disk: 1_000_000) { fixture async throws in
      fixture.script.on("/a", "one", ["Cache-Control": "max-age=60", "ETag": "\"1\""])
      try await fixture.load()
      fixture.cache.stores.waitForFiles {}
      let path = try #require(fixture.directory.records.first)
      fixture.script.on("/a") { _, _ in
        // Opening a FIFO fails.
        guard unlink(path) == 0, mkfifo(path, 0o600) == 0 else { throw URLError(.cannotCreateFile) }
        return Reply(fields: ["ETag": "\"2\""], .bytes(Array("one".utf8)))
      }
      fixture.clock.advance(60)
      #expect(try await fixture.load("/a", [:], "HEAD").head.statusCode == 200)
      fixture.cache.stores.waitForFiles {}
      #expect(fixture.directory.records.isEmpty && fixture.cache.currentDiskUsage == 0)
    }
  }

  @Test("a response answers requests while it waits to be written to a file, even if it isn't in memory")
  func unwritten() async throws {
    try await withCache(memory: 0, disk: 10_000_000) { fixture async throws in
      let gate = Gate()
      defer { gate.open() }
      fixture.script.on("/a", "one")
      // The first response opens the cache's folder.
      try await fixture.load("/b")
      fixture.cache.stores.waitForFiles {}
      fixture.cache.stores.onQueue { gate.waitBlocking() }
      try await fixture.load()
      async let second = fixture.load().text
      gate.open()
      #expect(try await second == "one")
      #expect(fixture.script.requests.count { $0.path == "/a" } == 1)
    }
  }

  @Test("while too many bodies wait to be written to a slow disk, the cache stores new responses in memory only")
  func slowDisk() throws {
    let (directory, gate) = (CacheDirectory(), Gate())
    defer { gate.open() }
    #expect(URLCache(memoryCapacity: 1_000, diskCapacity: 0).stores.unwrittenBytesMax == 32 << 20)
    let stores = CacheStores(
      memoryCapacity: 1_000_000, diskCapacity: 1_000_000, folder: { directory.path }, clock: { Date() },
      unwrittenBytesMax: 1_000)
    func store(_ uri: String, byteCount: Int) throws {
      let request = CacheRequest(uri: try URI(uri))
      let times = ExchangeTimes(request: 1_700_000_000, response: 1_700_000_000)
      let decision = StoreDecision(request, status: 200, fields: ["Cache-Control": "max-age=60"], times: times)
      guard case .store(let head) = decision else { return }
      let response = head.withBody(byteCount: UInt64(byteCount))
      let url = try #require(URL(string: uri))
      let content = CachedURLResponse(response: HTTPURLResponse(url: url, response), data: Data(count: byteCount))
      stores.store(content, as: response, to: request)
    }
    stores.onQueue { gate.waitBlocking() }
    try store("http://origin.test/a", byteCount: 600)
    try store("http://origin.test/b", byteCount: 401)
    try store("http://origin.test/c", byteCount: 400)
    gate.open()
    stores.waitForFiles {}
    #expect(directory.records.count == 2)
    let key = try URI("http://origin.test/b").cacheKey
    #expect(stores.foundInMemory(key).count == 1)
    try store("http://origin.test/d", byteCount: 1_000)
    stores.waitForFiles {}
    #expect(directory.records.count == 3)
  }
}
