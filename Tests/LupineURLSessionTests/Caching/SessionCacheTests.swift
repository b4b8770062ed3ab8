// SessionCacheTests: what a session serves from its cache and what it sends, with a scripted origin and a set clock.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct SessionCacheTests {
  @Test("the session serves a fresh stored response with its age and without a request", arguments: [0, 10_000_000])
  func fresh(disk: Int) async throws {
    try await withCache(disk: disk) { fixture async throws in
      fixture.script.on("/a", "one")
      #expect(try await fixture.load().text == "one")
      fixture.clock.advance(59)
      let (text, head) = try await fixture.load("/a#part")
      #expect(text == "one" && head.value(forHTTPHeaderField: "Age") == "59")
      #expect(fixture.script.count == 1)
      fixture.clock.advance(1)
      try await fixture.load()
      #expect(fixture.script.count == 2)
    }
  }

  @Test("a 304 to a validation updates the stored response's fields and its lifetime", arguments: [0, 10_000_000])
  func validated(disk: Int) async throws {
    try await withCache(disk: disk) { fixture async throws in
      fixture.script.on("/a") { request, number in
        guard number > 0 else {
          return Reply(fields: ["ETag": "\"1\"", "Cache-Control": "max-age=60", "X": "old"], .bytes(Array("one".utf8)))
        }
        #expect(request.fields.first("If-None-Match") == "\"1\"")
        return Reply(status: 304, fields: ["ETag": "\"1\"", "Cache-Control": "max-age=60", "X": "new"])
      }
      try await fixture.load()
      fixture.clock.advance(60)
      let (text, head) = try await fixture.load()
      #expect(text == "one" && head.statusCode == 200 && head.value(forHTTPHeaderField: "X") == "new")
      fixture.clock.advance(59)
      let again = try await fixture.load()
      #expect(again.text == "one" && again.head.value(forHTTPHeaderField: "X") == "new")
      #expect(fixture.script.count == 2)
    }
  }

  @Test("a new version of a resource replaces the stored version")
  func replaced() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a") { _, number in
        Reply(fields: ["ETag": "\"\(number)\"", "Cache-Control": "max-age=60"], .bytes(Array("\(number)".utf8)))
      }
      #expect(try await fixture.load().text == "0")
      fixture.clock.advance(60)
      #expect(try await fixture.load().text == "1")
      #expect(try await fixture.load().text == "1")
      #expect(fixture.script.count == 2)
    }
  }

  @Test("the session's cache stores variants that differ in the fields listed in Vary separately")
  func variants() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a") { request, _ in
        Reply(
          fields: ["Cache-Control": "max-age=60", "Vary": "Accept-Language"],
          .bytes(Array((request.fields.first("Accept-Language") ?? "").utf8)))
      }
      for _ in 0..<2 {
        #expect(try await fixture.load("/a", ["Accept-Language": "en"]).text == "en")
        #expect(try await fixture.load("/a", ["Accept-Language": "da"]).text == "da")
      }
      #expect(fixture.script.count == 2)
    }
  }

  @Test(
    "the session answers HEAD requests, range requests and the caller's conditional requests from a stored response")
  func parts() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a", "0123456789", ["Cache-Control": "max-age=60", "ETag": "\"1\""])
      try await fixture.load()
      let head = try await fixture.load("/a", [:], "HEAD")
      #expect(head.text.isEmpty && head.head.expectedContentLength == 10)
      let (data, part) = try await fixture.session.data(for: fixture.request("/a", ["Range": "bytes=3-5"]))
      #expect(data == Data("345".utf8) && data.startIndex == 0)
      #expect((part as? HTTPURLResponse)?.statusCode == 206)
      let own = try await fixture.load("/a", ["If-None-Match": "\"1\""])
      #expect(own.head.statusCode == 304 && own.text.isEmpty)
      #expect(fixture.script.count == 1)
    }
  }

  @Test("the session's cache stores a compressed body decoded, and the head as received", arguments: [0, 10_000_000])
  func coded(disk: Int) async throws {
    try await withCache(memory: disk == 0 ? 1_000_000 : 0, disk: disk) { fixture async throws in
      let text = String(repeating: "lupine ", count: 1_000)
      fixture.script.on("/a") { _, _ in
        Reply(fields: ["Cache-Control": "max-age=60"], .coded(Array(text.utf8), .gzip))
      }
      for _ in 0..<2 {
        let (body, head) = try await fixture.load()
        #expect(body == text && head.value(forHTTPHeaderField: "Content-Encoding") == "gzip")
        #expect(head.expectedContentLength == -1)
        #expect(Int(head.value(forHTTPHeaderField: "Content-Length") ?? "").map { $0 < 500 } == true)
        fixture.cache.stores.waitForFiles {}
      }
      #expect(fixture.script.count == 1)
    }
  }

  @Test(
    "a program finds and replaces a response whose Vary names fields that sessions add to requests",
    arguments: [0, 10_000_000])
  func sessionFields(disk: Int) async throws {
    try await withCache(memory: disk == 0 ? 1_000_000 : 0, disk: disk) { fixture async throws in
      let vary = "Accept, Accept-Encoding, Accept-Language, User-Agent, X"
      fixture.script.on("/a", "one", ["Cache-Control": "max-age=60", "Vary": vary])
      try await fixture.load()
      let (cache, request) = (fixture.cache, fixture.request())
      let found = try #require(cache.cachedResponse(for: request))
      #expect(found.data == Data("one".utf8))
      let task = fixture.session.dataTask(with: request)
      let ofTask = await firstValue { cache.getCachedResponse(for: task, completionHandler: $0) }
      #expect(ofTask?.data == found.data)
      for own in [["Accept-Encoding": "identity"], ["X": "1"]] {
        #expect(cache.cachedResponse(for: fixture.request("/a", own)) == nil)
      }
      let changed = CachedURLResponse(response: found.response, data: Data("two".utf8))
      cache.storeCachedResponse(changed, for: request)
      #expect(try await fixture.load().text == "two")
      cache.removeAllCachedResponses()
      cache.storeCachedResponse(changed, for: request)
      #expect(try await fixture.load(policy: .returnCacheDataElseLoad).text == "two" && fixture.script.count == 1)
      #expect(try await fixture.load("/a", ["X": "1"]).text == "one")
    }
  }

  @Test(
    "what a program stores with a new head counts as decoded if it has a content coding, and its length is corrected",
    arguments: [0, 10_000_000])
  func storedByProgram(disk: Int) async throws {
    try await withCache(memory: disk == 0 ? 1_000_000 : 0, disk: disk) { fixture async throws in
      let url = try #require(fixture.request().url)
      func store(_ text: String, _ fields: [String: String]) throws {
        let fields = ["Cache-Control": "max-age=60"].merging(fields) { $1 }
        let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields)
        let cached = CachedURLResponse(response: try #require(head), data: Data(text.utf8))
        fixture.cache.storeCachedResponse(cached, for: fixture.request())
      }
      try store("0123456789", ["Content-Length": "7", "Content-Encoding": "gzip"])
      #expect(try await fixture.load().head.expectedContentLength == -1)
      fixture.script.on("/a", "567")
      // A range of the coded body can't be cut out of the decoded one.
      #expect(try await fixture.load("/a", ["Range": "bytes=5-7"]).text == "567" && fixture.script.count == 1)
      try store("0123456789", ["Content-Length": "7"])
      #expect(try await fixture.load().head.expectedContentLength == 10)
      #expect(try await fixture.load("/a", ["Range": "bytes=5-6"]).text == "56" && fixture.script.count == 1)
    }
  }

  @Test("the session follows a stored redirect without a request to its origin")
  func redirect() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a", "moved", ["Location": "/b", "Cache-Control": "max-age=60"], status: 301)
      fixture.script.on("/b", "here", ["Cache-Control": "no-store"])
      for _ in 0..<2 {
        let (text, head) = try await fixture.load()
        #expect(text == "here" && head.url?.path == "/b")
      }
      #expect(fixture.script.requests.map(\.path) == ["/a", "/b", "/b"])
    }
  }

  @Test("the session's cache stores an error response only if the response is fresh for a time")
  func errors() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a", "gone", ["Last-Modified": "Mon, 01 Jan 2001 00:00:00 GMT"], status: 404)
      fixture.script.on("/b", "gone", status: 404)
      fixture.script.on("/c", "gone", [:], status: 404)
      fixture.script.on("/d", "no", ["Last-Modified": "Mon, 01 Jan 2001 00:00:00 GMT"], status: 503)
      for path in ["/a", "/b", "/c", "/d"] {
        for _ in 0..<2 { try await fixture.load(path, policy: .returnCacheDataElseLoad) }
      }
      #expect(fixture.script.requests.map(\.path) == ["/a", "/b", "/c", "/c", "/d", "/d"])
    }
  }

  @Test(
    "the session's cache serves an error with Last-Modified for a tenth of its age if the status code or public permits it",
    arguments: [404, 405, 410, 414, 501, 403, 599])
  func estimatedErrors(status: Int) async throws {
    try await withCache { fixture async throws in
      // The clock of the fixture starts on 14 November 2023, 22:13:20.
      let dates: Fields = ["Date": "Tue, 14 Nov 2023 22:13:20 GMT", "Last-Modified": "Tue, 14 Nov 2023 22:03:20 GMT"]
      var permitted = dates
      if [403, 599].contains(status) { permitted.append(name: "Cache-Control", value: "public") }
      fixture.script.on("/a", "gone", permitted, status: status)
      for _ in 0..<2 { #expect(try await fixture.load().head.statusCode == status) }
      #expect(fixture.script.count == 1)
      fixture.clock.advance(60)
      try await fixture.load()
      #expect(fixture.script.count == 2)
    }
  }

  @Test(
    "a GET is answered with the response to a POST that says that it is the resource, until another request changes it")
  func post() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a") { request, number in
        var fields: Fields = ["Cache-Control": "max-age=60"]
        if request.method == "POST" { fields.append(name: "Content-Location", value: "/a") }
        return Reply(fields: fields, .bytes(Array("\(request.method) \(number)".utf8)))
      }
      func post(_ body: String) async throws {
        var request = fixture.request("/a", [:], "POST")
        request.httpBody = Data(body.utf8)
        _ = try await fixture.session.data(for: request)
      }
      #expect(try await fixture.load().text == "GET 0")
      try await post("one")
      #expect(try await fixture.load().text == "POST 1")
      try await post("two")
      #expect(try await fixture.load().text == "POST 2")
      try await fixture.load("/a", [:], "PUT")
      #expect(try await fixture.load().text == "GET 4")
    }
  }

  @Test("the response to a POST isn't stored if another unsafe request for the URL has succeeded in the meantime")
  func overtakenPost() async throws {
    let gate = Gate()
    defer { gate.open() }
    try await withCache { fixture async throws in
      fixture.script.on("/a") { request, _ in
        if request.method == "POST" { gate.waitBlocking() }
        return Reply(
          fields: ["Cache-Control": "max-age=60", "Content-Location": "/a"], .bytes(Array(request.method.utf8)))
      }
      async let posted = fixture.load("/a", [:], "POST")
      #expect(await settles { fixture.script.count == 1 })
      try await fixture.load("/a", [:], "PUT")
      gate.open()
      #expect(try await posted.text == "POST")
      #expect(try await fixture.load().text == "GET")
    }
  }

  @Test("with only-if-cached, a request for which nothing is stored gets a 504 from the cache")
  func onlyIfCached() async throws {
    try await withCache { fixture async throws in
      #expect(try await fixture.load("/a", ["Cache-Control": "only-if-cached"]).head.statusCode == 504)
      #expect(fixture.script.count == 0)
    }
  }

  @Test("with stale-if-error, the session serves a stale response if the origin responds with 503 or can't be reached")
  func staleIfError() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a", "one", ["Cache-Control": "max-age=60, stale-if-error=60"])
      try await fixture.load()
      fixture.script.on("/a", "sorry", [:], status: 503)
      fixture.clock.advance(100)
      #expect(try await fixture.load().text == "one")
      fixture.origin.stop()
      #expect(try await fixture.load().text == "one")
      fixture.clock.advance(100)
      await #expect(throws: URLError.self) { try await fixture.load() }
    }
  }

  @Test("with stale-while-revalidate, a stale response is served at once and validated by GET in the background")
  func staleWhileRevalidate() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a") { _, number in
        Reply(
          fields: ["Cache-Control": "max-age=60, stale-while-revalidate=60", "ETag": "\"\(number)\""],
          .bytes(Array("\(number)".utf8)))
      }
      #expect(try await fixture.load().text == "0")
      fixture.clock.advance(61)
      #expect(try await fixture.load("/a", [:], "HEAD").head.value(forHTTPHeaderField: "Age") == "61")
      #expect(await settles { fixture.script.count == 2 })
      let background = try #require(fixture.script.requests.last)
      #expect(background.method == "GET" && background.fields.first("If-None-Match") == "\"0\"")
      #expect(await settles { fixture.cache.cachedResponse(for: fixture.request())?.data == Data("1".utf8) })
      #expect(try await fixture.load().text == "1")
      #expect(fixture.script.count == 2)
    }
  }

  @Test("the session's cache doesn't store an incomplete response, whether the origin or the caller ended it")
  func incomplete() async throws {
    let (clock, directory) = (CacheClock(), CacheDirectory())
    let cache = URLCache(memoryCapacity: 1_000_000, diskCapacity: 0, folder: directory.path) { clock.now }
    let origin = try OriginServer { peer in
      while let request = try peer.readRequest() {
        if request.path == "/target" { return try peer.respond(body: Array("here".utf8)) }
        let status = request.path == "/moved" ? "301 Moved Permanently\r\nLocation: /target" : "200 OK"
        try peer.send("HTTP/1.1 \(status)\r\nCache-Control: max-age=60\r\nContent-Length: 10\r\n\r\n01234")
        if request.path == "/caller" { _ = try peer.awaitClose() }
        return
      }
    }
    defer { origin.stop() }
    try await withSession(
      { $0.urlCache = cache },
      { session in
        await #expect(throws: URLError.self) { try await session.data(for: origin.request()) }
        #expect(cache.cachedResponse(for: origin.request()) == nil)
        let (bytes, _) = try await session.bytes(for: origin.request("/caller"))
        let error = await code { for try await _ in bytes { bytes.task.cancel() } }
        #expect(error == .cancelled && cache.cachedResponse(for: origin.request("/caller")) == nil)
        // The task doesn't accept the body of a redirect that it follows.
        let (data, _) = try await session.data(for: origin.request("/moved"))
        #expect(data == Data("here".utf8) && cache.cachedResponse(for: origin.request("/moved")) == nil)
      })
  }

  @Test("the session's cache doesn't store an incomplete response to a validation in the background")
  func incompleteValidation() async throws {
    let (clock, directory) = (CacheClock(), CacheDirectory())
    let count = Atomic(0)
    let cache = URLCache(memoryCapacity: 1_000_000, diskCapacity: 0, folder: directory.path) { clock.now }
    let origin = try OriginServer { peer in
      while try peer.readRequest() != nil {
        guard count.add(1, ordering: .relaxed).newValue > 1 else {
          try peer.respond(
            fields: ["Cache-Control": "max-age=60, stale-while-revalidate=600"], body: Array("one".utf8))
          continue
        }
        return try peer.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 10\r\n\r\n01234")
      }
    }
    defer { origin.stop() }
    try await withSession(
      { $0.urlCache = cache },
      { session in
        var text = String(decoding: try await session.data(for: origin.request()).0, as: UTF8.self)
        clock.advance(61)
        // The second validation begins only after the first one has ended.
        while text == "one", count.load(ordering: .relaxed) < 3 {
          text = String(decoding: try await session.data(for: origin.request()).0, as: UTF8.self)
        }
        #expect(text == "one")
      })
  }

  @Test("the session's cache doesn't store a response's trailer section, and doesn't serve its fields")
  func trailers() async throws {
    try await withCache { fixture async throws in
      let origin = try OriginServer { peer in
        while try peer.readRequest() != nil {
          try peer.beginChunked(fields: ["Cache-Control": "max-age=60"])
          try peer.chunk("one")
          try peer.endChunked(trailers: ["X-Trailer": "1"])
        }
      }
      defer { origin.stop() }
      _ = try await fixture.session.data(for: origin.request())
      let (data, response) = try await fixture.session.data(for: origin.request())
      let head = try #require(response as? HTTPURLResponse)
      #expect(data == Data("one".utf8) && head.value(forHTTPHeaderField: "Age") == "0")
      #expect(head.value(forHTTPHeaderField: "X-Trailer") == nil)
    }
  }

  @Test(
    "a successful unsafe request, such as POST, removes the stored responses for its URL, whatever the kind of its task",
    arguments: ["data", "upload", "download"])
  func invalidation(task: String) async throws {
    let others = ["/created", "/changed", "/unrelated"]
    try await withCache(disk: 1_000_000) { fixture async throws in
      fixture.script.on("/a") { request, number in
        Reply(
          status: request.method == "GET" ? 200 : 204,
          fields: ["Cache-Control": "max-age=60", "Location": "/created", "Content-Location": "changed"],
          .bytes(request.method == "GET" ? Array("\(number)".utf8) : []))
      }
      #expect(try await fixture.load().text == "0")
      for path in others {
        fixture.script.on(path, "other")
        try await fixture.load(path)
      }
      let unsafe = fixture.request("/a", [:], "POST")
      switch task {
      case "data": _ = try await fixture.session.data(for: unsafe)
      case "upload": _ = try await fixture.session.upload(for: unsafe, from: Data("x".utf8))
      default:
        let (file, _) = try await fixture.session.download(for: unsafe)
        try? FileManager.default.removeItem(at: file)
      }
      #expect(fixture.cache.cachedResponse(for: fixture.request()) == nil)
      // The responses for the URLs in Location and Content-Location are removed, too.
      let isStored = others.map { fixture.cache.cachedResponse(for: fixture.request($0)) != nil }
      #expect(isStored == [false, false, true])
      #expect(try await fixture.load().text == "2")
    }
  }

  @Test("download and upload tasks are always sent to the origin, and their responses aren't cached")
  func bypass() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a", "one")
      for _ in 0..<2 {
        let (file, _) = try await fixture.session.download(for: fixture.request())
        try? FileManager.default.removeItem(at: file)
        _ = try await fixture.session.upload(for: fixture.request("/a", [:], "PUT"), from: Data("x".utf8))
      }
      #expect(fixture.script.count == 4)
      #expect(fixture.cache.cachedResponse(for: fixture.request()) == nil)
      #expect(
        await code { try await fixture.session.download(for: fixture.request(policy: .returnCacheDataDontLoad)) }
          == .resourceUnavailable)
    }
  }

  @Test(
    "task metrics report .localCache and no connection for a cached response, and .networkLoad for a validation")
  func metrics() async throws {
    let collector = MetricsCollector()
    try await withCache(delegate: collector) { fixture async throws in
      fixture.script.on("/a", "one", ["Cache-Control": "max-age=60", "ETag": "\"1\""])
      for _ in 0..<2 { try await fixture.load() }
      fixture.script.on("/a", "", ["ETag": "\"1\""], status: 304)
      fixture.clock.advance(60)
      try await fixture.load()
      #expect(await settles { collector.all.count == 3 })
      #expect(collector.all.map(\.resourceFetchType) == [.networkLoad, .localCache, .networkLoad])
      let hit = collector.all[1]
      #expect(hit.remotePort == nil && hit.networkProtocolName == nil && hit.connectStartDate == nil)
      #expect(hit.countOfResponseBodyBytesAfterDecoding == 3 && hit.countOfResponseBodyBytesReceived == 0)
      #expect((collector.all[2].response as? HTTPURLResponse)?.statusCode == 200)
    }
  }

  @Test(
    "an ephemeral session uses its own cache in memory, and a session whose configuration's urlCache is nil uses none")
  func configurations() async throws {
    let own = URLSessionConfiguration.ephemeral.urlCache
    #expect(own != nil && own !== URLSessionConfiguration.ephemeral.urlCache && own?.diskCapacity == 0)
    let configuration = URLSessionConfiguration.default
    configuration.urlCache = nil
    #expect(configuration.urlCache == nil && URLSession(configuration: configuration).client.cache == nil)
    try await withCache({ $0.urlCache = nil }) { fixture async throws in
      fixture.script.on("/a", "one")
      for _ in 0..<2 { try await fixture.load() }
      #expect(fixture.script.count == 2)
    }
  }

  @Test("resetting a session removes the cache's stored responses")
  func reset() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a", "one")
      try await fixture.load()
      await withCheckedContinuation { continuation in fixture.session.reset { continuation.resume() } }
      #expect(fixture.cache.cachedResponse(for: fixture.request()) == nil)
    }
  }
}

/// A session's delegate that collects the metrics of each task's last transaction.
private final class MetricsCollector: NSObject, URLSessionTaskDelegate, Sendable {
  private let transactions = Mutex<[URLSessionTaskTransactionMetrics]>([])
  var all: [URLSessionTaskTransactionMetrics] { transactions.withLock { $0 } }

  func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
    if let last = metrics.transactionMetrics.last { transactions.withLock { $0.append(last) } }
  }
}
