// InvalidatedResponseTests: responses that arrive after an unsafe request, but were requested before it (RFC 9111 §4.4).

import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct InvalidatedResponseTests {
  @Test(
    "a response that arrives after an unsafe request, but was requested before, isn't stored",
    arguments: [0, 10_000_000])
  func requestedBefore(disk: Int) async throws {
    try await withCache(disk: disk) { fixture async throws in
      let gate = Gate()
      defer { gate.open() }
      fixture.script.on("/a") { request, number in
        if number == 0 { gate.waitBlocking() }
        return Self.reply(to: request, "\(number)")
      }
      async let early = fixture.load().text
      #expect(await settles { fixture.script.count == 1 })
      try await fixture.load("/a", [:], "POST")
      gate.open()
      let text = try await early
      #expect(text == "0")
      #expect(fixture.cache.cachedResponse(for: fixture.request()) == nil)
      #expect(try await fixture.load().text == "2")
      #expect(try await fixture.load().text == "2")
    }
  }

  @Test("requests that wait for a response that isn't stored because of an unsafe request share one new response")
  func waiting() async throws {
    try await withCache { fixture async throws in
      let gate = Gate()
      defer { gate.open() }
      fixture.script.on("/a") { request, number in
        if number == 0 { gate.waitBlocking() }
        return Self.reply(to: request, "\(number)")
      }
      try fixture.cache.storeStale(for: fixture.request())
      let texts: [String] = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<4 { group.addTask { try await fixture.load().text } }
        #expect(await settles { fixture.session.client.cache?.waiterCount == 3 && fixture.script.count == 1 })
        try await fixture.load("/a", [:], "POST")
        gate.open()
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(texts.sorted() == ["0", "2", "2", "2"] && fixture.script.count == 3)
    }
  }

  @Test(
    "a 304 that arrives after an unsafe request doesn't bring the removed response back", arguments: [0, 10_000_000])
  func validatedBefore(disk: Int) async throws {
    try await withCache(disk: disk) { fixture async throws in
      let gate = Gate()
      defer { gate.open() }
      fixture.script.on("/a") { request, number in
        guard number == 1 else { return Self.reply(to: request, "\(number)") }
        gate.waitBlocking()
        return Reply(status: 304, fields: ["Cache-Control": "max-age=60", "ETag": "\"1\""])
      }
      try await fixture.load()
      fixture.clock.advance(60)
      async let early = fixture.load().text
      #expect(await settles { fixture.script.count == 2 })
      try await fixture.load("/a", [:], "POST")
      gate.open()
      let text = try await early
      #expect(fixture.script.requests[1].fields.first("If-None-Match") == "\"1\"")
      #expect(text == "0")
      #expect(try await fixture.load().text == "3")
    }
  }

  @Test("the log of invalidations remembers a limited number of URIs, and regards all others as possibly invalidated")
  func log() {
    let log = InvalidationLog()
    log.add("a")
    let before = log.count
    log.add("b")
    #expect(log.count == before + 1)
    #expect(log.mayContain("b", after: before) && !log.mayContain("a", after: before))
    #expect(log.mayContain("a", after: 0) && !log.mayContain("b", after: log.count))
    // The log forgets the oldest URIs, "a" and "b".
    for number in 0..<InvalidationLog.invalidatedURIsMax { log.add("c\(number)") }
    #expect(log.mayContain("a", after: 0) && log.mayContain("b", after: before))
    #expect(log.mayContain("unknown", after: before) && !log.mayContain("unknown", after: before + 1))
    #expect(log.mayContain("c0", after: before + 1) && !log.mayContain("c0", after: before + 2))
  }

  /// Returns the mock origin's reply: to GET, a response with this body that stays fresh for 60 seconds.
  private static func reply(to request: ReceivedRequest, _ text: String) -> Reply {
    guard request.method == "GET" else { return Reply(status: 204, fields: [:]) }
    return Reply(fields: ["Cache-Control": "max-age=60", "ETag": "\"1\""], .bytes(Array(text.utf8)))
  }
}
