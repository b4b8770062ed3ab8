// URLCacheTests: Foundation's API of the cache, with a clock that the test sets.

import Foundation
import LupineCache
import LupineEngine
import Synchronization
import Testing

@testable import LupineURLSession

@Suite struct URLCacheTests {
  private let clock = CacheClock()
  private let directory = CacheDirectory()

  private func cache(memory: Int = 1_000_000, disk: Int = 1_000_000) -> URLCache {
    URLCache(memoryCapacity: memory, diskCapacity: disk, folder: directory.path) { [clock] in clock.now }
  }

  private func request(_ path: String = "/a", _ fields: [String: String] = [:], method: String = "GET") throws
    -> URLRequest
  {
    var request = URLRequest(url: try #require(URL(string: "https://origin.test\(path)")))
    request.httpMethod = method
    for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
    return request
  }

  private func response(
    _ text: String, _ fields: [String: String] = [:], status: Int = 200, userInfo: [AnyHashable: Any]? = nil,
    policy: URLCache.StoragePolicy = .allowed
  ) throws -> CachedURLResponse {
    let url = try #require(URL(string: "https://origin.test/a"))
    let head = try #require(
      HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields))
    return CachedURLResponse(response: head, data: Data(text.utf8), userInfo: userInfo, storagePolicy: policy)
  }

  private func text(_ cached: CachedURLResponse?) -> String? { cached.map { String(decoding: $0.data, as: UTF8.self) } }

  @Test("URLCache finds a stored response in memory, and another cache with the same directory also finds the response")
  func roundTrip() throws {
    let first = cache()
    let long = String(repeating: "x", count: 100_000)
    try first.storeCachedResponse(response(long, ["Foo": "1"], userInfo: ["k": 1]), for: request())
    let stored = try #require(first.cachedResponse(for: request()))
    #expect(text(stored) == long)
    #expect(stored.userInfo?["k"] as? Int == 1)
    let later = cache()
    let loaded = try #require(later.cachedResponse(for: request("/a#fragment")))
    #expect(text(loaded) == long)
    #expect(loaded.userInfo == nil)
    let head = try #require(loaded.response as? HTTPURLResponse)
    #expect(head.statusCode == 200)
    #expect(head.value(forHTTPHeaderField: "Foo") == "1")
    #expect(head.url?.path == "/a")
    #expect(try later.cachedResponse(for: request("/b")) == nil)
    #expect(later.currentMemoryUsage > long.utf8.count)
    #expect(try later.cachedResponse(for: request(method: "HEAD")) != nil)
    #expect(try later.cachedResponse(for: request(method: "POST")) == nil)
  }

  @Test("a stored response with a decoded body has no expected length, even after it is read from disk")
  func decodedBody() throws {
    let url = try #require(URL(string: "https://origin.test/a"))
    let head = HTTPURLResponse(
      url: url, statusCode: 200, fields: ["Content-Encoding": "gzip", "Content-Length": "3"], isContentDecoded: true)
    try cache().storeCachedResponse(CachedURLResponse(response: head, data: Data("decoded".utf8)), for: request())
    let loaded = try #require(cache().cachedResponse(for: request()))
    #expect(loaded.response.expectedContentLength == -1)
    #expect(text(loaded) == "decoded")
  }

  @Test("in URLCache, a later response replaces an earlier one, but variants are stored separately")
  func variants() throws {
    for cache in [cache(), cache(memory: 0), cache(disk: 0)] {
      try cache.storeCachedResponse(response("1"), for: request())
      try cache.storeCachedResponse(response("2"), for: request())
      #expect(try text(cache.cachedResponse(for: request())) == "2")
      let vary = ["Vary": "Accept-Language"]
      try cache.storeCachedResponse(response("de", vary), for: request("/a", ["Accept-Language": "de"]))
      try cache.storeCachedResponse(response("en", vary), for: request("/a", ["Accept-Language": "en"]))
      #expect(try text(cache.cachedResponse(for: request("/a", ["Accept-Language": "de"]))) == "de")
      #expect(try text(cache.cachedResponse(for: request("/a", ["Accept-Language": "en"]))) == "en")
      #expect(try cache.cachedResponse(for: request("/a", ["Accept-Language": "fr"])) == nil)
      try cache.removeCachedResponse(for: request())
      #expect(try cache.cachedResponse(for: request("/a", ["Accept-Language": "de"])) == nil)
    }
  }

  @Test("URLCache doesn't store a response that a private cache must not store")
  func refused() throws {
    let cache = cache()
    try cache.storeCachedResponse(response("", ["Cache-Control": "no-store"]), for: request())
    try cache.storeCachedResponse(response("", ["Vary": "*"]), for: request())
    try cache.storeCachedResponse(response("", status: 206), for: request())
    try cache.storeCachedResponse(response(""), for: request(method: "POST"))
    try cache.storeCachedResponse(response("", policy: .notAllowed), for: request())
    var withBody = try request()
    withBody.httpBody = Data("q".utf8)
    try cache.storeCachedResponse(response(""), for: withBody)
    let url = try #require(URL(string: "data:,a"))
    let other = URLResponse(url: url, mimeType: nil, expectedContentLength: 1, textEncodingName: nil)
    cache.storeCachedResponse(CachedURLResponse(response: other, data: Data()), for: URLRequest(url: url))
    #expect(cache.currentMemoryUsage == 0)
    #expect(cache.currentDiskUsage == 0)
  }

  @Test(
    "URLCache writes no file for a response that is stored only in memory, and deletes the file of an earlier response")
  func memoryOnly() throws {
    let cache = cache()
    try cache.storeCachedResponse(response("1"), for: request())
    try cache.storeCachedResponse(response("2", policy: .allowedInMemoryOnly), for: request())
    #expect(try text(cache.cachedResponse(for: request())) == "2")
    #expect(cache.currentDiskUsage == 0)
    cache.memoryCapacity = 0
    #expect(try cache.cachedResponse(for: request()) == nil)
  }

  @Test(
    "if URLCache can't write a response to a file, it deletes only the file of the response that the new one replaces")
  func unwritable() throws {
    let cache = cache(disk: 20_000)
    let vary = ["Vary": "Accept-Language"]
    let (english, german) = (["Accept-Language": "en"], ["Accept-Language": "de"])
    try cache.storeCachedResponse(response("en", vary), for: request("/a", english))
    try cache.storeCachedResponse(response("de", vary), for: request("/a", german))
    let long = String(repeating: "x", count: 50_000)
    try cache.storeCachedResponse(response(long, vary), for: request("/a", english))
    #expect(try text(cache.cachedResponse(for: request("/a", english))) == long)
    cache.memoryCapacity = 0
    #expect(try cache.cachedResponse(for: request("/a", english)) == nil)
    #expect(try text(cache.cachedResponse(for: request("/a", german))) == "de")
  }

  @Test(
    "URLCache stays within its capacities, even if they change, and has no directory if the disk capacity is 0")
  func capacities() throws {
    let memoryOnly = cache(disk: 0)
    try memoryOnly.storeCachedResponse(response("1"), for: request())
    #expect(!FileManager.default.fileExists(atPath: directory.path))
    let cache = cache(memory: 10_000, disk: 20_000)
    for number in 0..<30 {
      let text = String(repeating: "x", count: 3000)
      try cache.storeCachedResponse(response(text), for: request("/\(number)"))
      #expect(cache.currentMemoryUsage <= 10_000 && cache.currentDiskUsage <= 20_000)
    }
    #expect(cache.currentMemoryUsage > 3000 && cache.currentDiskUsage > 10_000)
    #expect(try cache.cachedResponse(for: request("/29")) != nil)
    #expect(try cache.cachedResponse(for: request("/0")) == nil)
    cache.memoryCapacity = 4000
    cache.diskCapacity = 4000
    #expect(cache.memoryCapacity == 4000 && cache.diskCapacity == 4000)
    #expect(cache.currentMemoryUsage <= 4000 && cache.currentDiskUsage <= 4000)
    cache.diskCapacity = 10_000
    try cache.storeCachedResponse(response("kept"), for: request("/kept"))
    #expect(cache.currentDiskUsage > 0 && !directory.records.isEmpty)
    cache.diskCapacity = 0
    #expect(directory.records.isEmpty)
  }

  @Test("URLCache can remove the responses stored since a date, or all responses, from memory and disk")
  func removal() throws {
    let cache = cache()
    try cache.storeCachedResponse(response("1"), for: request("/1"))
    clock.advance(10)
    let date = clock.now
    try cache.storeCachedResponse(response("2"), for: request("/2"))
    cache.removeCachedResponses(since: date)
    #expect(try cache.cachedResponse(for: request("/2")) == nil)
    #expect(try text(cache.cachedResponse(for: request("/1"))) == "1")
    cache.removeAllCachedResponses()
    #expect(try cache.cachedResponse(for: request("/1")) == nil)
    #expect(cache.currentMemoryUsage == 0 && cache.currentDiskUsage == 0)
  }

  @Test("a URLCache whose directory can't be used stores responses only in memory")
  func unusableDirectory() throws {
    let cache = URLCache(
      memoryCapacity: 100_000, diskCapacity: 100_000, directory: URL(filePath: "/proc/none/cache"))
    try cache.storeCachedResponse(response("1"), for: request())
    #expect(try text(cache.cachedResponse(for: request())) == "1")
    #expect(cache.currentDiskUsage == 0)
  }

  @Test("URLCache returns a response that was stored for a request with credentials only for the same credentials")
  func credentials() throws {
    let cache = cache()
    let users = [["Authorization": "Bearer 1"], ["Authorization": "Bearer 2"], ["Cookie": "Bearer 1"]]
    for (number, fields) in users.enumerated() {
      #expect(try cache.cachedResponse(for: request("/a", fields)) == nil)
      try cache.storeCachedResponse(response("\(number)"), for: request("/a", fields))
    }
    for (number, fields) in users.enumerated() {
      #expect(try text(cache.cachedResponse(for: request("/a", fields))) == "\(number)")
    }
    #expect(try cache.cachedResponse(for: request()) == nil)
  }

  @Test("a URLCache that can't use its directory reports the reason, warns once, and tries again after a minute")
  func diskFailure() throws {
    let (directory, clock) = (CacheDirectory(), CacheClock())
    let warnings = Mutex<[URLError]>([])
    let cache = URLCache(
      memoryCapacity: 100_000, diskCapacity: 100_000, folder: directory.path, now: { clock.now },
      warn: { error in warnings.withLock { $0.append(error) } })
    try Data().write(to: URL(filePath: directory.path))
    let error = try #require(cache.diskFailure as? URLError)
    #expect(error.code == .cannotOpenFile && (error.userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .ENOTDIR)
    #expect(error.localizedDescription.contains("can't use the folder \(directory.path)"))
    try cache.storeCachedResponse(response("1"), for: request())
    try FileManager.default.removeItem(atPath: directory.path)
    clock.advance(59)
    try cache.storeCachedResponse(response("1"), for: request())
    #expect(cache.diskFailure != nil && directory.records.isEmpty)
    #expect(!cache.stores.mayHaveFiles(of: "https://origin.test/a"))
    clock.advance(1)
    #expect(cache.stores.mayHaveFiles(of: "https://origin.test/a"))
    try cache.storeCachedResponse(response("1"), for: request())
    #expect(cache.diskFailure == nil && directory.records.count == 1)
    #expect(warnings.withLock { $0.map(\.localizedDescription) } == [error.localizedDescription])
  }

  @Test("what is removed while a URLCache can't use its directory isn't served from a file later")
  func removalDuringFailure() throws {
    try cache().storeCachedResponse(response("1"), for: request())
    try #require(directory.records.count == 1 && chmod(directory.path, 0o777) == 0)
    let later = cache()
    #expect(later.diskFailure != nil)
    try later.removeCachedResponse(for: request())
    try #require(chmod(directory.path, 0o700) == 0)
    clock.advance(60)
    #expect(later.diskFailure == nil)
    #expect(try later.cachedResponse(for: request()) == nil)
    #expect(directory.records.isEmpty)
  }

  @Test("a URLCache whose directory is deleted creates the directory again")
  func deletedDirectory() throws {
    let cache = cache()
    try cache.storeCachedResponse(response("1"), for: request("/1"))
    try #require(directory.records.count == 1)
    try FileManager.default.removeItem(atPath: directory.path)
    // This response can't be written, so that the deletion is noticed.
    try cache.storeCachedResponse(response("2"), for: request("/2"))
    #expect(try text(cache.cachedResponse(for: request("/2"))) == "2")
    try cache.storeCachedResponse(response("3"), for: request("/3"))
    #expect(directory.records.count == 1 && cache.diskFailure == nil)
    #expect(try text(self.cache().cachedResponse(for: request("/3"))) == "3")
  }

  @Test("a URLCache warns about a folder that others can change with a remedy, and not about one that it doesn't need")
  func foreignDirectory() throws {
    let directory = CacheDirectory()
    try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: false)
    try #require(chmod(directory.path, 0o777) == 0)
    let cache = URLCache(memoryCapacity: 1_000, diskCapacity: 1_000, folder: directory.path + "/a") { Date() }
    #expect(cache.diskFailure?.localizedDescription.contains("remove that permission") == true)
    #expect(URLCache(memoryCapacity: 1_000, diskCapacity: 0, diskPath: "/proc/none").diskFailure == nil)
  }

  @Test(
    "if a response is removed while URLCache is reading its file, URLCache doesn't put the response back into memory")
  func removalWhileReading() throws {
    let later = cache()
    try cache().storeCachedResponse(response("1"), for: request())
    let url = try #require(try request().url)
    let key = try URI(url.absoluteString).cacheKey
    let hasLoaded = later.stores.waitForFiles {
      guard case .file(_, let file?) = later.stores.found(key).first?.body else { return false }
      // The work that deletes the file is queued after this work.
      later.stores.removeAll(for: key)
      return later.stores.load(file, of: key, for: url) != nil
    }
    #expect(hasLoaded && later.currentMemoryUsage == 0)
    #expect(try later.cachedResponse(for: request()) == nil)
  }

  @Test("URLCache's methods for data tasks use the task's request")
  func tasks() async throws {
    let session = URLSession(configuration: .ephemeral)
    defer { session.invalidateAndCancel() }
    let task = session.dataTask(with: try request())
    let cache = cache()
    try cache.storeCachedResponse(response("1"), for: task)
    let found = await firstValue { cache.getCachedResponse(for: task, completionHandler: $0) }
    #expect(text(found) == "1")
    cache.removeCachedResponse(for: task)
    #expect(try cache.cachedResponse(for: request()) == nil)
  }

  /// A subclass of URLCache that counts calls, as a program might define it.
  private final class CountingCache: URLCache, @unchecked Sendable {
    private let count = Atomic(0)
    var lookupCount: Int { count.load(ordering: .relaxed) }

    init(memoryCapacity: Int) {
      super.init(memoryCapacity: memoryCapacity, diskCapacity: 0, diskPath: nil)
    }

    override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
      count.add(1, ordering: .relaxed)
      return super.cachedResponse(for: request)
    }
  }

  @Test("a program can create a subclass of URLCache and override its methods")
  func subclass() throws {
    let counting = CountingCache(memoryCapacity: 100_000)
    let cache: URLCache = counting
    try cache.storeCachedResponse(response("1"), for: request())
    #expect(try text(cache.cachedResponse(for: request())) == "1")
    #expect(counting.lookupCount == 1 && cache.memoryCapacity == 100_000)
  }

  @Test("an object in a stored response's userInfo may use the cache when the cache releases the object")
  func releasedObjects() throws {
    final class Witness {
      let cache: URLCache
      let request: URLRequest
      let onRelease: () -> Void

      init(_ cache: URLCache, _ request: URLRequest, onRelease: @escaping () -> Void) {
        (self.cache, self.request, self.onRelease) = (cache, request, onRelease)
      }

      deinit {
        _ = cache.currentMemoryUsage + cache.currentDiskUsage
        cache.removeCachedResponse(for: request)
        onRelease()
      }
    }
    let (cache, other) = (cache(), try request("/other"))
    var releasedCount = 0
    func store() throws {
      let witness = Witness(cache, other) { releasedCount += 1 }
      let fields = ["Cache-Control": "max-age=60"]
      let stored = try response("1", fields, userInfo: ["witness": witness], policy: .allowedInMemoryOnly)
      try cache.storeCachedResponse(stored, for: request())
    }
    try store()
    // Replaces the first response.
    try store()
    try cache.removeCachedResponse(for: request())
    try store()
    cache.removeAllCachedResponses()
    try store()
    cache.memoryCapacity = 0
    #expect(releasedCount == 4)
  }

  // Only this test compares with URLCache.shared, because other tests run while this one replaces it.
  @Test("the shared URLCache can be replaced, and default configurations use the shared URLCache")
  func shared() {
    let before = URLCache.shared
    #expect(before === URLCache.shared)
    let other = cache()
    URLCache.shared = other
    #expect(other === URLCache.shared)
    #expect(URLSessionConfiguration.default.urlCache === other)
    URLCache.shared = before
    #expect(URLSessionConfiguration.default.urlCache === before)
    // The setter must not hold its lock when it releases a cache.
    final class Curious: URLCache, @unchecked Sendable {
      deinit { _ = URLCache.shared }
    }
    URLCache.shared = Curious(memoryCapacity: 0, diskCapacity: 0, directory: nil)
    URLCache.shared = before
    #expect(before === URLCache.shared)
  }
}
