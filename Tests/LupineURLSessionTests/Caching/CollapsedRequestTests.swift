// CollapsedRequestTests: concurrent requests for a URL wait for one response if it serves them, and never hang.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct CollapsedRequestTests {
  private static let followerCount = 5
  /// The time limit for requests to stop waiting for another request's response. It is shorter than `SessionCache.waitMax`, after
  /// which requests stop waiting in any case.
  private static let releaseMax = SessionCache.waitMax / 2

  /// Starts data tasks, and records the arguments of their completion handlers by the index of the task.
  private final class Outcomes: Sendable {
    private let outcomes = Mutex<[Int: Outcome]>([:])
    var count: Int { outcomes.withLock { $0.count } }
    var all: [Outcome] { outcomes.withLock { outcomes in outcomes.sorted { $0.key < $1.key }.map(\.value) } }

    func start(_ index: Int, _ request: URLRequest, in session: URLSession) -> URLSessionTask {
      let task = session.dataTask(with: request) { data, response, error in
        self.outcomes.withLock { $0[index] = Outcome(data: data, response: response, error: error) }
      }
      task.resume()
      return task
    }
  }

  /// Starts a request that the origin doesn't answer yet, and then five requests that wait for its response. Calls `meanwhile`, and
  /// returns the outcomes of all tasks.
  private func collapse(
    _ fixture: CacheFixture, fields: (Int) -> [String: String] = { _ in [:] },
    meanwhile: (URLSessionTask) async throws -> Void
  ) async throws -> [Outcome] {
    try fixture.cache.storeStale(for: fixture.request())
    let outcomes = Outcomes()
    let leader = outcomes.start(0, fixture.request("/a", fields(0)), in: fixture.session)
    #expect(await settles { fixture.script.count == 1 })
    for index in 1...Self.followerCount {
      _ = outcomes.start(index, fixture.request("/a", fields(index)), in: fixture.session)
    }
    #expect(await settles { fixture.session.client.cache?.waiterCount == Self.followerCount })
    try await meanwhile(leader)
    #expect(await settles(within: Self.releaseMax) { outcomes.count == Self.followerCount + 1 })
    return outcomes.all
  }

  /// Makes the mock origin answer "/a" with the number of earlier requests. It answers the first request when the gate is open.
  private func script(_ fixture: CacheFixture, _ gate: Gate, _ fields: Fields, status: Int = 200) {
    fixture.script.on("/a") { request, number in
      if number == 0 { gate.waitBlocking() }
      var fields = fields
      fields.appendMissing(["X-Language": request.fields.first("Accept-Language") ?? ""])
      return Reply(status: status, fields: fields, .bytes(Array("\(number)".utf8)))
    }
  }

  @Test("requests for a URL that is already being requested share its cached response, and the origin gets one request")
  func collapsed() async throws {
    try await withCache { fixture async throws in
      let gate = Gate()
      script(fixture, gate, ["Cache-Control": "max-age=60"])
      let outcomes = try await collapse(fixture) { _ in gate.open() }
      #expect(outcomes.map(\.text) == Array(repeating: "0", count: outcomes.count))
      #expect(fixture.script.count == 1)
    }
  }

  @Test("requests for a URL for which no response is stored are sent at once, without waiting for each other")
  func nothingStored() async throws {
    try await withCache { fixture async throws in
      let (gate, outcomes) = (Gate(), Outcomes())
      defer { gate.open() }
      fixture.script.on("/a") { _, _ in
        gate.waitBlocking()
        return Reply(fields: ["Cache-Control": "max-age=60"], .bytes([0x61]))
      }
      for index in 0..<3 { _ = outcomes.start(index, fixture.request(), in: fixture.session) }
      #expect(await settles { fixture.script.count == 3 })
      gate.open()
      #expect(await settles { outcomes.count == 3 })
      #expect(try await fixture.load().text == "a" && fixture.script.count == 3)
    }
  }

  @Test("requests that wait while the cache validates a stored response get that response after the 304")
  func validated() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a", "one", ["Cache-Control": "max-age=60", "ETag": "\"1\""])
      try await fixture.load()
      fixture.clock.advance(60)
      let gate = Gate()
      fixture.script.on("/a") { _, number in
        gate.waitBlocking()
        return Reply(status: 304, fields: ["ETag": "\"1\"", "Cache-Control": "max-age=60"])
      }
      let first = fixture.script.count
      let outcomes = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<4 { group.addTask { try await fixture.load().text } }
        #expect(await settles { fixture.session.client.cache?.waiterCount == 3 })
        gate.open()
        #expect(await settles(within: Self.releaseMax) { fixture.session.client.cache?.waiterCount == 0 })
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(outcomes == ["one", "one", "one", "one"] && fixture.script.count == first + 1)
    }
  }

  @Test(
    "if a response can't serve the requests that wait for that response, the requests stop waiting at once",
    arguments: [
      (["Cache-Control": "no-store"], 200), (["Cache-Control": "no-cache"], 200), ([:], 200), (["Vary": "*"], 200),
      (["Cache-Control": "max-age=60"], 500),
    ] as [(Fields, Int)])
  func notCacheable(fields: Fields, status: Int) async throws {
    try await withCache { fixture async throws in
      let gate = Gate()
      script(fixture, gate, status == 500 ? ["Cache-Control": "no-store"] : fields, status: status)
      let outcomes = try await collapse(fixture) { _ in gate.open() }
      #expect(Set(outcomes.compactMap(\.text)).count == Self.followerCount + 1)
      #expect(fixture.script.count == Self.followerCount + 1)
    }
  }

  @Test("after a response that the cache couldn't share, requests for its URL are sent concurrently")
  func unshared() async throws {
    try await withCache { fixture async throws in
      let (gate, outcomes) = (Gate(), Outcomes())
      defer { gate.open() }
      fixture.script.on("/a") { _, number in
        if number > 0 { gate.waitBlocking() }
        return Reply(fields: ["Cache-Control": "max-age=0", "ETag": "\"\(number)\""], .bytes([0x61]))
      }
      try fixture.cache.storeStale(for: fixture.request())
      try await fixture.load()
      for index in 0..<3 { _ = outcomes.start(index, fixture.request(), in: fixture.session) }
      #expect(await settles { fixture.script.count == 4 })
      gate.open()
      #expect(await settles { outcomes.count == 3 })
    }
  }

  @Test(
    "if a response's head shows that the response can't be shared, waiting requests are sent before its body has arrived"
  )
  func early() async throws {
    let (head, body) = (Gate(), Gate())
    let count = Atomic(0)
    let (clock, directory) = (CacheClock(), CacheDirectory())
    let cache = URLCache(memoryCapacity: 1_000_000, diskCapacity: 0, folder: directory.path) { clock.now }
    let origin = try OriginServer { peer in
      while try peer.readRequest() != nil {
        guard count.add(1, ordering: .relaxed).newValue == 1 else {
          try peer.respond(body: Array("other".utf8))
          continue
        }
        try peer.wait(for: head)
        try peer.beginChunked(fields: ["Cache-Control": "no-cache"])
        try peer.chunk("fir")
        try peer.wait(for: body)
        try peer.chunk("st")
        try peer.endChunked()
      }
    }
    defer { origin.stop() }
    try await withSession(
      { $0.urlCache = cache },
      { session in
        try cache.storeStale(for: origin.request())
        async let first = session.data(for: origin.request()).0
        #expect(await settles { count.load(ordering: .relaxed) == 1 })
        async let second = session.data(for: origin.request()).0
        #expect(await settles { session.client.cache?.waiterCount == 1 })
        head.open()
        #expect(await settles(within: Self.releaseMax) { count.load(ordering: .relaxed) == 2 })
        let other = try await second
        #expect(other == Data("other".utf8) && !body.isOpen)
        body.open()
        let whole = try await first
        #expect(whole == Data("first".utf8))
      })
  }

  @Test("a request that waits for another request's response stops waiting at once if it needs another variant")
  func variants() async throws {
    try await withCache { fixture async throws in
      let gate = Gate()
      script(fixture, gate, ["Cache-Control": "max-age=60", "Vary": "Accept-Language"])
      let outcomes = try await collapse(fixture, fields: { $0 < 3 ? ["Accept-Language": "en"] : [:] }) { _ in
        gate.open()
      }
      #expect(outcomes[..<3].map(\.text) == ["0", "0", "0"])
      #expect(
        outcomes[3...].allSatisfy { ($0.response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Language") == "" })
    }
  }

  @Test(
    "if a request is cancelled while others wait for its response, the next one is sent, and the others keep waiting")
  func canceled() async throws {
    try await withCache { fixture async throws in
      let (gate, second) = (Gate(), Gate())
      defer { gate.open() }
      fixture.script.on("/a") { _, number in
        (number == 0 ? gate : second).waitBlocking()
        return Reply(fields: ["Cache-Control": "max-age=60"], .bytes(Array("\(number)".utf8)))
      }
      let outcomes = try await collapse(fixture) { leader in
        leader.cancel()
        #expect(await settles { fixture.script.count == 2 })
        #expect(fixture.session.client.cache?.waiterCount == Self.followerCount - 1)
        second.open()
      }
      #expect(outcomes[0].code == .cancelled)
      #expect(outcomes.dropFirst().allSatisfy { $0.text == "1" } && fixture.script.count == 2)
    }
  }

  @Test(
    "if a request fails or its response is truncated while other requests wait for the response, these are sent",
    arguments: [false, true])
  func failed(hasHead: Bool) async throws {
    let gate = Gate()
    let count = Atomic(0)
    let (clock, directory) = (CacheClock(), CacheDirectory())
    let cache = URLCache(memoryCapacity: 1_000_000, diskCapacity: 0, folder: directory.path) { clock.now }
    let origin = try OriginServer { peer in
      while try peer.readRequest() != nil {
        guard count.add(1, ordering: .relaxed).newValue == 1 else {
          try peer.respond(fields: ["Cache-Control": "max-age=60"], body: Array("one".utf8))
          continue
        }
        try peer.wait(for: gate)
        if hasHead { try peer.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 10\r\n\r\n01") }
        return
      }
    }
    defer { origin.stop() }
    try await withSession(
      { $0.urlCache = cache },
      { session in
        try cache.storeStale(for: origin.request())
        async let first = code { try await session.data(for: origin.request()) }
        #expect(await settles { count.load(ordering: .relaxed) == 1 })
        async let second = session.data(for: origin.request()).0
        async let third = session.data(for: origin.request()).0
        #expect(await settles { session.client.cache?.waiterCount == 2 })
        gate.open()
        #expect(await settles(within: Self.releaseMax) { session.client.cache?.waiterCount == 0 })
        #expect(await first == .networkConnectionLost)
        let bodies = try await (second, third)
        #expect(bodies.0 == Data("one".utf8) && bodies.1 == Data("one".utf8))
      })
  }

  @Test("if a request is suspended while other requests wait for its response, these stop waiting")
  func suspended() async throws {
    try await withCache { fixture async throws in
      let gate = Gate()
      script(fixture, gate, ["Cache-Control": "max-age=60"])
      let outcomes = try await collapse(fixture) { leader in
        leader.suspend()
        // Some of the requests may be served with the response to another of them.
        #expect(await settles(within: Self.releaseMax) { fixture.session.client.cache?.waiterCount == 0 })
        gate.open()
        leader.resume()
      }
      #expect(outcomes.allSatisfy { $0.status == 200 })
    }
  }

  @Test("cancelling a request that waits for another request's response doesn't affect the others")
  func canceledWaiter() async throws {
    try await withCache { fixture async throws in
      let gate = Gate()
      script(fixture, gate, ["Cache-Control": "max-age=60"])
      let outcomes = Outcomes()
      try fixture.cache.storeStale(for: fixture.request())
      _ = outcomes.start(0, fixture.request(), in: fixture.session)
      #expect(await settles { fixture.script.count == 1 })
      let waiter = outcomes.start(1, fixture.request(), in: fixture.session)
      #expect(await settles { fixture.session.client.cache?.waiterCount == 1 })
      waiter.cancel()
      #expect(await settles { outcomes.count == 1 })
      #expect(outcomes.all[0].code == .cancelled && fixture.session.client.cache?.waiterCount == 0)
      gate.open()
      #expect(await settles { outcomes.count == 2 })
      #expect(outcomes.all[0].text == "0")
    }
  }

  @Test("a request waits for another request's response no longer than its own timeoutInterval")
  func waitLimit() async throws {
    try await withCache { fixture async throws in
      let gate = Gate()
      defer { gate.open() }
      script(fixture, gate, ["Cache-Control": "max-age=60"])
      try fixture.cache.storeStale(for: fixture.request())
      async let first = fixture.load()
      #expect(await settles { fixture.script.count == 1 })
      var request = fixture.request()
      request.timeoutInterval = 1
      let hurried = request
      // On a slow machine, the server's response to this request may come too late. Only the request matters.
      async let second = code { try await fixture.session.data(for: hurried) }
      #expect(await settles(within: Self.releaseMax) { fixture.script.count == 2 })
      gate.open()
      _ = try await first
      _ = await second
    }
  }
}
