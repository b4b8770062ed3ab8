// StoringDecisionTests: the delegate decides whether and how a response is stored, before its task completes.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct StoringDecisionTests {
  private final class Decider: NSObject, URLSessionDataDelegate, Sendable {
    let notes = Notes()
    let change: @Sendable (CachedURLResponse) -> CachedURLResponse?

    init(_ change: @escaping @Sendable (CachedURLResponse) -> CachedURLResponse?) { self.change = change }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { notes.add("data") }

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
      completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
      notes.add("decide \(String(decoding: proposedResponse.data, as: UTF8.self))")
      completionHandler(change(proposedResponse))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
      notes.add("metrics")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      notes.add("end")
    }
  }

  /// Starts a data task for the path, and waits for its end. Returns the delegate's calls for the task, in order.
  private func notes(_ decider: Decider, _ fixture: CacheFixture, _ path: String = "/a") async -> [String] {
    await notes(decider, fixture, fixture.request(path))
  }

  /// Starts a data task for the request, and waits for its end. Returns the delegate's calls for the task, in order.
  private func notes(_ decider: Decider, _ fixture: CacheFixture, _ request: URLRequest) async -> [String] {
    let before = decider.notes.all.count
    fixture.session.dataTask(with: request).resume()
    #expect(await settles { decider.notes.all.dropFirst(before).last == "end" })
    return Array(decider.notes.all.dropFirst(before))
  }

  @Test(
    "after a response's body, before its metrics, the delegate decides about storing the response, unless it was cached"
  )
  func order() async throws {
    let decider = Decider { $0 }
    try await withCache(delegate: decider) { fixture async throws in
      fixture.script.on("/a", "one")
      #expect(await notes(decider, fixture) == ["data", "decide one", "metrics", "end"])
      #expect(await notes(decider, fixture) == ["data", "metrics", "end"])
      #expect(fixture.script.count == 1)
    }
  }

  @Test("a response that the delegate refuses to store isn't in the cache afterward")
  func refused() async throws {
    let decider = Decider { _ in nil }
    try await withCache(delegate: decider) { fixture async throws in
      fixture.script.on("/a", "one")
      for _ in 0..<2 { #expect(await notes(decider, fixture) == ["data", "decide one", "metrics", "end"]) }
      #expect(fixture.script.count == 2)
    }
  }

  @Test("if the delegate returns a response that isn't of HTTP, nothing is stored and the older response is removed")
  func notHTTP() async throws {
    let decider = Decider { proposed in
      guard proposed.data == Data("1".utf8), let url = proposed.response.url else { return proposed }
      let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 1, textEncodingName: nil)
      return CachedURLResponse(response: response, data: proposed.data)
    }
    try await withCache(delegate: decider) { fixture async throws in
      fixture.script.on("/a") { _, number in
        Reply(fields: ["Cache-Control": "max-age=60"], .bytes(Array("\(number)".utf8)))
      }
      #expect(await notes(decider, fixture).contains("decide 0"))
      var reload = fixture.request("/a")
      reload.cachePolicy = .reloadIgnoringLocalCacheData
      #expect(await notes(decider, fixture, reload).contains("decide 1"))
      #expect(try await fixture.load().text == "2")
    }
  }

  @Test("a response about which the delegate decides late doesn't replace a newer one", arguments: [0, 10_000_000])
  func lateDecision(disk: Int) async throws {
    let gate = Gate()
    defer { gate.open() }
    let decider = Decider { proposed in
      gate.waitBlocking()
      return proposed
    }
    try await withCache(memory: disk == 0 ? 1_000_000 : 0, disk: disk, delegate: decider) { fixture async throws in
      fixture.script.on("/a") { _, number in
        Reply(fields: ["Cache-Control": "max-age=60"], .bytes(Array("\(number)".utf8)))
      }
      fixture.session.dataTask(with: fixture.request()).resume()
      #expect(await settles { decider.notes.all.contains("decide 0") })
      fixture.clock.advance(1)
      let other = fixture.sibling()
      #expect(try await fixture.load(in: other).text == "1")
      gate.open()
      #expect(await settles { decider.notes.all.last == "end" })
      #expect(try await fixture.load(in: other).text == "1" && fixture.script.count == 2)
    }
  }

  @Test("the cache stores a redirect without asking the delegate")
  func redirects() async throws {
    let decider = Decider { _ in nil }
    try await withCache(delegate: decider) { fixture async throws in
      fixture.script.on("/r", "moved", ["Location": "/a", "Cache-Control": "max-age=60"], status: 301)
      fixture.script.on("/a", "one")
      for _ in 0..<2 { #expect(await notes(decider, fixture, "/r") == ["data", "decide one", "metrics", "end"]) }
      #expect(fixture.script.requests.map(\.path) == ["/r", "/a", "/a"])
    }
  }

  @Test("after the delegate has refused to store a response, requests for the response's URL are sent concurrently")
  func refusedTogether() async throws {
    let decider = Decider { _ in nil }
    let gate = Gate()
    defer { gate.open() }
    try await withCache(delegate: decider) { fixture async throws in
      fixture.script.on("/a") { _, number in
        if number > 0 { gate.waitBlocking() }
        return Reply(fields: ["Cache-Control": "max-age=60"], .bytes([0x61]))
      }
      _ = await notes(decider, fixture)
      for _ in 0..<3 { fixture.session.dataTask(with: fixture.request()).resume() }
      #expect(await settles { fixture.script.count == 4 })
      gate.open()
      #expect(await settles { decider.notes.all.count { $0 == "end" } == 4 })
    }
  }

  @Test("the storage policy allowedInMemoryOnly keeps a response out of the files, and notAllowed out of the cache")
  func storagePolicies() async throws {
    for (policy, count) in [(URLCache.StoragePolicy.allowedInMemoryOnly, 1), (.notAllowed, 2)] {
      let decider = Decider {
        CachedURLResponse(response: $0.response, data: $0.data, userInfo: ["k": 1], storagePolicy: policy)
      }
      try await withCache(disk: 1_000_000, delegate: decider) { fixture async throws in
        fixture.script.on("/a", "one")
        for _ in 0..<2 { _ = await notes(decider, fixture) }
        fixture.cache.stores.waitForFiles {}
        #expect(fixture.directory.records.isEmpty && fixture.script.count == count)
        let stored = fixture.cache.cachedResponse(for: fixture.request())
        #expect(stored?.userInfo?["k"] as? Int == (count == 1 ? 1 : nil))
      }
    }
  }

  @Test("a stored response that is validated in the background keeps its earlier storage policy and user info")
  func background() async throws {
    let decider = Decider {
      CachedURLResponse(
        response: $0.response, data: $0.data, userInfo: ["k": 1], storagePolicy: .allowedInMemoryOnly)
    }
    try await withCache(disk: 1_000_000, delegate: decider) { fixture async throws in
      fixture.script.on("/a") { _, number in
        Reply(
          fields: ["Cache-Control": "max-age=60, stale-while-revalidate=60"], .bytes(Array("\(number)".utf8)))
      }
      _ = await notes(decider, fixture)
      fixture.clock.advance(61)
      _ = await notes(decider, fixture)
      #expect(await settles { fixture.cache.cachedResponse(for: fixture.request())?.data == Data("1".utf8) })
      #expect(fixture.cache.cachedResponse(for: fixture.request())?.userInfo?["k"] as? Int == 1)
      fixture.cache.stores.waitForFiles {}
      #expect(fixture.directory.records.isEmpty)
    }
  }

  @Test("if the delegate changes a response, the cache stores the changed response if HTTP's rules permit that")
  func changed() async throws {
    let decider = Decider { proposed in
      guard let head = proposed.response as? HTTPURLResponse, let url = head.url,
        let new = HTTPURLResponse(
          url: url, statusCode: 200, httpVersion: nil,
          headerFields: [
            "Cache-Control": url.path == "/a" ? "max-age=60" : "no-store", "Content-Length": "3", "X": "new",
          ])
      else { return nil }
      return CachedURLResponse(response: new, data: Data("changed".utf8))
    }
    try await withCache(delegate: decider) { fixture async throws in
      fixture.script.on("/a", "one", [:])
      fixture.script.on("/b", "two")
      _ = await notes(decider, fixture)
      let (text, head) = try await fixture.load()
      #expect(text == "changed" && head.value(forHTTPHeaderField: "X") == "new" && head.expectedContentLength == 7)
      #expect(fixture.script.count == 1)
      _ = await notes(decider, fixture, "/b")
      #expect(try await fixture.load("/b").text == "two" && fixture.script.count == 3)
    }
  }

  @Test("the cache doesn't store a response that it could never serve, unless the request's cache policy ignores age")
  func neverServed() async throws {
    try await withCache(disk: 1_000_000) { fixture async throws in
      fixture.script.on("/a", "one", [:])
      try await fixture.load()
      fixture.cache.stores.waitForFiles {}
      #expect(fixture.directory.records.isEmpty && fixture.cache.currentMemoryUsage == 0)
      try await fixture.load(policy: .returnCacheDataElseLoad)
      fixture.cache.stores.waitForFiles {}
      #expect(fixture.directory.records.count == 1)
      #expect(try await fixture.load(policy: .returnCacheDataDontLoad).text == "one")
      #expect(fixture.script.count == 2)
    }
  }

  @Test("if the delegate decides to store a response, it is stored even if only a request that ignores age can get it")
  func decidedNeverServed() async throws {
    let decider = Decider { $0 }
    try await withCache(delegate: decider) { fixture async throws in
      fixture.script.on("/a", "one", [:])
      _ = await notes(decider, fixture)
      #expect(try await fixture.load(policy: .returnCacheDataDontLoad).text == "one")
      _ = await notes(decider, fixture)
      #expect(fixture.script.count == 2)
      fixture.script.on("/b", "two", ["Cache-Control": "no-store"])
      _ = await notes(decider, fixture, "/b")
      #expect(fixture.cache.cachedResponse(for: fixture.request("/b")) == nil)
    }
  }

  @Test("a delegate without a method for the decision doesn't cause a response to be stored that could never be served")
  func undecided() async throws {
    let delegate = NotingDelegate()
    try await withCache(delegate: delegate) { fixture async throws in
      fixture.script.on("/a", "one", [:])
      fixture.script.on("/b", "two")
      for path in ["/a", "/b"] {
        fixture.session.dataTask(with: fixture.request(path)).resume()
        #expect(await settles { delegate.notes.all.filter { $0 == "end" }.count == (path == "/a" ? 1 : 2) })
      }
      #expect(fixture.cache.cachedResponse(for: fixture.request("/a")) == nil)
      #expect(fixture.cache.cachedResponse(for: fixture.request("/b"))?.data == Data("two".utf8))
    }
  }

  @Test("a new response that the cache could never serve removes the stored response that the new one replaces")
  func neverServedReplacement() async throws {
    try await withCache(disk: 1_000_000) { fixture async throws in
      fixture.script.on("/a", "one")
      try await fixture.load()
      fixture.script.on("/a", "two", [:])
      try await fixture.load(policy: .reloadIgnoringLocalCacheData)
      fixture.cache.stores.waitForFiles {}
      #expect(fixture.directory.records.isEmpty)
      #expect(try await fixture.load().text == "two" && fixture.script.count == 3)
    }
  }

  @Test(
    "a newer response that HTTP's rules don't permit storing removes the stored response, but an error response doesn't",
    arguments: [0, 10_000_000])
  func unstorableReplacement(memory: Int) async throws {
    try await withCache(memory: memory, disk: 1_000_000) { fixture async throws in
      for (path, fields, status) in [
        ("/a", ["Cache-Control": "no-store"], 200), ("/b", ["Vary": "*"], 200),
        ("/c", ["Cache-Control": "no-store"], 500),
      ] as [(String, Fields, Int)] {
        fixture.script.on(path, "one")
        try await fixture.load(path)
        fixture.cache.stores.waitForFiles {}
        fixture.script.on(path, "two", fields, status: status)
        try await fixture.load(path, policy: .reloadIgnoringLocalCacheData)
        #expect(try await fixture.load(path).text == (status == 500 ? "one" : "two"))
      }
      fixture.cache.stores.waitForFiles {}
      #expect(fixture.directory.records.count == 1)
    }
  }

  @Test(
    "a newer response that is too long to be stored, or that the delegate refuses or makes no-store, removes the stored one"
  )
  func unstoredReplacement() async throws {
    let decider = Decider { proposed in
      switch String(decoding: proposed.data, as: UTF8.self) {
      case "refused": return nil
      case "changed":
        let new = proposed.response.url.flatMap {
          HTTPURLResponse(url: $0, statusCode: 200, httpVersion: nil, headerFields: ["Cache-Control": "no-store"])
        }
        return new.map { CachedURLResponse(response: $0, data: proposed.data) }
      default: return proposed
      }
    }
    try await withCache(memory: 100_000, delegate: decider) { fixture async throws in
      let long = Array(repeating: UInt8(ascii: "x"), count: 5_001)
      let contents: [(path: String, content: Reply.Content)] = [
        ("/a", .bytes(long)), ("/b", .chunks([long], pause: .zero)), ("/c", .bytes(Array("refused".utf8))),
        ("/d", .bytes(Array("changed".utf8))),
      ]
      for (path, content) in contents {
        fixture.script.on(path) { _, number in
          Reply(fields: ["Cache-Control": "max-age=60"], number == 0 ? .bytes([0x31]) : content)
        }
        _ = await notes(decider, fixture, path)
        #expect(fixture.cache.cachedResponse(for: fixture.request(path)) != nil)
        let reload = fixture.request(path, policy: .reloadIgnoringLocalCacheData)
        _ = await notes(decider, fixture, reload)
        #expect(fixture.cache.cachedResponse(for: fixture.request(path)) == nil)
      }
    }
  }

  @Test("the delegate isn't asked about storing a response that is too large for the cache and has more than 4 MiB")
  func longBodies() async throws {
    let decider = Decider { $0 }
    try await withCache(memory: 100_000, delegate: decider) { fixture async throws in
      for (path, count, isProposed) in [("/a", 4 << 20, true), ("/b", (4 << 20) + 1, false)] {
        fixture.script.on(path, String(repeating: "x", count: count))
        let decisions = await notes(decider, fixture, path).filter { $0.hasPrefix("decide ") }
        #expect(decisions.map(\.utf8.count) == (isProposed ? ["decide ".count + count] : []))
      }
    }
  }

  @Test("a response larger than a twentieth of the cache's capacity isn't stored, even if it is streamed")
  func limits() async throws {
    try await withCache(memory: 100_000) { fixture async throws in
      for (path, count) in [("/a", 5_000), ("/b", 5_001)] {
        fixture.script.on(path, String(repeating: "x", count: count))
        for _ in 0..<2 { try await fixture.load(path) }
      }
      #expect(fixture.script.requests.map(\.path) == ["/a", "/b", "/b"])
    }
    try await withCache(memory: 1_000_000_000) { fixture async throws in
      for (path, count) in [("/a", UInt64(1 << 20)), ("/b", UInt64(1 << 20) + 1)] {
        fixture.script.on(path) { _, _ in Reply(fields: ["Cache-Control": "max-age=60"], .pattern(byteCount: count)) }
        for _ in 0..<2 {
          let (bytes, _) = try await fixture.session.bytes(for: fixture.request(path))
          let received = try await bytes.reduce(into: UInt64(0)) { sum, _ in sum += 1 }
          #expect(received == count)
        }
      }
      #expect(fixture.script.requests.map(\.path) == ["/a", "/b", "/b"])
    }
  }
}
