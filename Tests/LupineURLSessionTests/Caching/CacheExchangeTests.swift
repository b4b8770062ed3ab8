// CacheExchangeTests: one exchange with a cache, whose receiver interferes.

import Foundation
import LupineCache
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct CacheExchangeTests {
  /// A mock receiver that cancels the exchange as soon as it receives the complete response to be stored.
  private final class Receiver: CacheReceiver {
    /// Whether the receiver discards the body while it accepts the head.
    let discardsBody: Bool
    let exchange = Mutex<CacheExchange?>(nil)
    let keptCount = Atomic(0)
    let endCount = Atomic(0)

    init(discardsBody: Bool = false) { self.discardsBody = discardsBody }

    func accept(_ head: ResponseHead) -> (disposition: BodyDisposition, isTrusted: Bool) {
      let exchange = exchange.withLock { $0 }
      if discardsBody { exchange?.discardBody() }
      return (.deliver, true)
    }
    func confirm(_ head: ResponseHead) -> Bool { true }
    func receive(served head: ResponseHead) -> BodyDisposition { .deliver }
    func receive(served piece: Data) {}
    func keep(_ storable: StorableResponse) {
      keptCount.add(1, ordering: .relaxed)
      let exchange = exchange.withLock { $0.take() }
      exchange?.cancel()
    }
    func fail(_ error: URLError) {}
    func receive(head: ResponseHead) -> BodyDisposition { .deliver }
    func receive(body bytes: borrowing Span<UInt8>) {}
    func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
      endCount.add(1, ordering: .relaxed)
    }
  }

  /// A mock receiver of a stream that processes the bytes that it has received when a turn has ended, and then extends its window
  /// by their number.
  private final class WindowReceiver: CacheReceiver {
    static let windowBytes = 3

    struct State {
      var bytes: [UInt8] = []
      var window = WindowReceiver.windowBytes
      var unprocessedCount = 0
      var hasExceededWindow = false
      var result: Result<Fields, EngineError>?
    }

    let exchange = Mutex<CacheExchange?>(nil)
    let state = Mutex(State())

    func accept(_ head: ResponseHead) -> (disposition: BodyDisposition, isTrusted: Bool) { (.deliver, true) }
    func confirm(_ head: ResponseHead) -> Bool { true }
    func receive(served head: ResponseHead) -> BodyDisposition { .deliver }
    func receive(served piece: Data) { receive(Array(piece)) }
    func keep(_ storable: StorableResponse) {}
    func fail(_ error: URLError) {}
    func receive(head: ResponseHead) -> BodyDisposition { .deliver }
    func receive(body bytes: borrowing Span<UInt8>) { receive((0..<bytes.count).map { bytes[$0] }) }

    private func receive(_ bytes: [UInt8]) {
      state.withLock { state in
        state.bytes += bytes
        state.window -= bytes.count
        state.unprocessedCount += bytes.count
        if state.window < 0 { state.hasExceededWindow = true }
      }
    }

    func turnEnded(sentBodyByteCount: UInt64) {
      let count = state.withLock { state in
        defer { state.unprocessedCount = 0 }
        state.window += state.unprocessedCount
        return state.unprocessedCount
      }
      if count > 0 { exchange.withLock { $0 }?.extendWindow(by: count) }
    }

    func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
      state.withLock { $0.result = result }
    }
  }

  @Test(
    "the stored beginning of a stream and its rest arrive within the receive window, in order",
    arguments: [0, 10_000_000])
  func windowOfCompletedStream(disk: Int) async throws {
    try await withCache(memory: disk == 0 ? 1_000_000 : 0, disk: disk) { fixture async throws in
      fixture.script.on("/a") { request, _ in
        let isRest = request.fields.first("Range") == "bytes=7-"
        return Reply(
          status: 206,
          fields: [
            "Cache-Control": "max-age=60", "ETag": "\"1\"", "Content-Range": isRest ? "bytes 7-16/17" : "bytes 0-6/17",
          ], .bytes(Array((isRest ? "789abcdefg" : "0123456").utf8)))
      }
      try await fixture.load("/a", ["Range": "bytes=0-6"])
      let receiver = WindowReceiver()
      let client = fixture.session.client
      let cache = try #require(client.cache)
      let request = EngineRequest(uri: try URI(fixture.origin.url + "/a"))
      var cached = cache.request(request, policy: .useProtocolCachePolicy, ownCookie: nil, identity: nil)
      cached.completedBytesMax = .max
      let exchange = CacheExchange(
        cached, request, url: URL(string: fixture.origin.url + "/a"), cache: cache, upstream: client,
        windowBytes: WindowReceiver.windowBytes, isStreamed: true, receiver: receiver)
      receiver.exchange.withLock { $0 = exchange }
      exchange.decide()
      #expect(await settles { receiver.state.withLock { $0.result != nil } })
      let state = receiver.state.withLock { $0 }
      #expect(String(decoding: state.bytes, as: UTF8.self) == "0123456789abcdefg" && !state.hasExceededWindow)
      #expect(throws: Never.self) { try state.result?.get() }
      receiver.exchange.withLock { $0 = nil }
    }
  }

  /// A mock engine that records the total time limit of each request, and sends the requests through a session's engine.
  private final class Upstream: CacheUpstream {
    let totals = Mutex<[Duration?]>([])
    private let client: EngineClient

    init(_ client: EngineClient) { self.client = client }

    func submit(
      _ request: consuming EngineRequest, to sink: any ResponseSink, windowBytes: Int
    ) throws(URLError) -> ExchangeHandle {
      let total = request.timeouts.total
      totals.withLock { $0.append(total) }
      return try client.submit(request, to: sink, windowBytes: windowBytes)
    }
  }

  /// Creates an exchange with the session's cache, or with `cache`, and with the session's engine, or with `upstream`.
  private func makeExchange(
    _ fixture: CacheFixture, _ receiver: Receiver, path: String = "/a", total: Duration? = .seconds(100),
    cache: SessionCache? = nil, upstream: (any CacheUpstream)? = nil
  ) throws -> CacheExchange {
    let client = fixture.session.client
    let cache = try #require(cache ?? client.cache)
    let text = fixture.origin.url + path
    var request = EngineRequest(uri: try URI(text))
    request.timeouts.total = total
    return CacheExchange(
      cache.request(request, policy: .useProtocolCachePolicy, ownCookie: nil, identity: nil), request,
      url: URL(string: text), cache: cache, upstream: upstream ?? client, windowBytes: .max, isStreamed: false,
      receiver: receiver)
  }

  /// Starts an exchange. Returns a closure that returns whether the exchange has been released.
  private func start(_ fixture: CacheFixture, _ receiver: Receiver) throws -> () -> Bool {
    let exchange = try makeExchange(fixture, receiver)
    receiver.exchange.withLock { $0 = exchange }
    exchange.decide()
    return { [weak exchange] in exchange == nil }
  }

  @Test("if the cache's disk doesn't respond to a lookup in time, the session sends the request to the origin")
  func stalledDisk() async throws {
    try await withCache(disk: 1_000_000) { fixture async throws in
      fixture.script.on("/a", "one")
      let gate = Gate()
      defer { gate.open() }
      fixture.cache.stores.onQueue { gate.waitBlocking() }
      #expect(try await fixture.load().text == "one" && !gate.isOpen)
      #expect(fixture.script.count == 1)
      gate.open()
      fixture.cache.stores.waitForFiles {}
    }
  }

  @Test("a lookup in files serves the response from the file that it has opened, before other work with files")
  func deletedAfterLookup() async throws {
    try await withCache(memory: 0, disk: 1_000_000) { fixture async throws in
      fixture.script.on("/a", "one")
      try await fixture.load()
      let (stores, directory) = (fixture.cache.stores, fixture.directory)
      stores.waitForFiles {}
      #expect(directory.records.count == 1)
      let (gate, receiver) = (Gate(), Receiver())
      defer { gate.open() }
      stores.onQueue { gate.waitBlocking() }
      let exchange = try makeExchange(fixture, receiver)
      exchange.decide()
      // This work runs after the lookup. Another lookup of the file would fail.
      stores.onQueue { for path in directory.records { try? FileManager.default.removeItem(atPath: path) } }
      gate.open()
      #expect(await settles { receiver.endCount.load(ordering: .relaxed) == 1 })
      stores.waitForFiles {}
      #expect(fixture.script.count == 1 && directory.records.isEmpty)
    }
  }

  @Test("if another process deletes a cache file during its validation, the request is sent without conditions")
  func deletedDuringValidation() async throws {
    try await withCache(memory: 0, disk: 1_000_000) { fixture async throws in
      let directory = fixture.directory
      fixture.script.on("/a") { request, number in
        guard request.fields.contains("If-None-Match") else {
          return Reply(fields: ["Cache-Control": "max-age=0", "ETag": "\"1\""], .bytes(Array("\(number)".utf8)))
        }
        for path in directory.records { try FileManager.default.removeItem(atPath: path) }
        return Reply(status: 304, fields: ["ETag": "\"1\""], .bytes([]))
      }
      try await fixture.load()
      fixture.cache.stores.waitForFiles {}
      #expect(directory.records.count == 1)
      #expect(try await fixture.load().text == "2")
      #expect(fixture.script.requests.map { $0.fields.contains("If-None-Match") } == [false, true, false])
    }
  }

  @Test("a validation of a stored response in the background takes at most 60 s, or the request's own total limit")
  func backgroundTime() async throws {
    try await withCache { fixture async throws in
      for (path, total, expected) in [
        ("/a", nil, .seconds(60)), ("/b", .seconds(7), .seconds(7)), ("/c", .seconds(600), .seconds(60)),
      ] as [(String, Duration?, Duration?)] {
        fixture.script.on(path, "one", ["Cache-Control": "max-age=60, stale-while-revalidate=600"])
        try await fixture.load(path)
        fixture.clock.advance(61)
        let (receiver, upstream) = (Receiver(), Upstream(fixture.session.client))
        try makeExchange(fixture, receiver, path: path, total: total, upstream: upstream).decide()
        let isValidated = await settles { fixture.script.requests.count { $0.path == path } == 2 }
        #expect(isValidated && upstream.totals.withLock { $0 } == [expected])
      }
    }
  }

  @Test("a request waits for the response to another one no longer than the session's limit")
  func waitLimit() async throws {
    try await withCache { fixture async throws in
      let gate = Gate()
      defer { gate.open() }
      fixture.script.on("/a") { _, number in
        if number == 1 { gate.waitBlocking() }
        return Reply(fields: ["Cache-Control": "max-age=60"], .bytes(Array("one".utf8)))
      }
      #expect(fixture.session.client.cache?.waitMax == .seconds(20))
      // Requests for a URL of which nothing is stored don't wait.
      try await fixture.load("/a")
      fixture.clock.advance(61)
      let cache = SessionCache(fixture.cache.stores, waitMax: .milliseconds(10))
      let receivers = [Receiver(), Receiver()]
      for receiver in receivers {
        let exchange = try makeExchange(fixture, receiver, cache: cache)
        exchange.decide()
        // The first request is sent before the second one begins to wait.
        #expect(await settles { fixture.script.count >= 2 })
      }
      #expect(await settles(within: SessionCache.waitMax / 2) { fixture.script.count == 3 })
      gate.open()
      #expect(await settles { receivers.allSatisfy { $0.endCount.load(ordering: .relaxed) == 1 } })
    }
  }

  @Test("a request that is resumed while its pause is passed to the engine ends up resumed")
  func resumedDuringPause() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a", "one")
      let receiver = Receiver()
      let exchange = try makeExchange(fixture, receiver)
      exchange.state.withLock {
        $0.phase = .forwarding(NetworkExchange(attempt: 1, validated: nil, invalidationCount: 0))
      }
      let request = EngineRequest(uri: try URI(fixture.origin.url + "/a"))
      let handle = try fixture.session.client.submit(request, to: receiver, windowBytes: .max)
      /// Returns whether the next step is to pause or resume, or nil if the handle is stored.
      func step(isPaused: Bool) -> Bool? {
        let step = exchange.state.withLock { $0.keep(handle, of: 1, isPaused: isPaused) }
        guard case .setPaused(let isNowPaused)? = step else { return nil }
        return isNowPaused
      }
      /// Whether the handle is stored, or nil if the request has ended.
      var hasHandle: Bool? {
        exchange.state.withLock { state in
          if case .forwarding(let network) = state.phase { network.handle != nil } else { nil }
        }
      }
      exchange.setPaused(true)
      #expect(step(isPaused: false) == true)
      // The engine gets no command from here, which it could receive before the pause.
      exchange.setPaused(false)
      #expect(hasHandle == false)
      #expect(step(isPaused: true) == false)
      #expect(step(isPaused: false) == nil)
      #expect(hasHandle == true)
      #expect(await settles { receiver.endCount.load(ordering: .relaxed) == 1 })
    }
  }

  @Test("a response whose body the receiver discards while it accepts the head isn't stored")
  func discardedAtOnce() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a", "one")
      let receiver = Receiver(discardsBody: true)
      _ = try start(fixture, receiver)
      #expect(await settles { receiver.endCount.load(ordering: .relaxed) == 1 })
      receiver.exchange.withLock { $0 = nil }
      #expect(receiver.keptCount.load(ordering: .relaxed) == 0)
      #expect(try await fixture.load().text == "one" && fixture.script.count == 2)
    }
  }

  @Test("a request that is cancelled while its complete response is being delivered ends only once")
  func canceledAtTheEnd() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a", "one")
      let receiver = Receiver()
      let isReleased = try start(fixture, receiver)
      // The engine releases the exchange after the last call.
      #expect(await settles(isReleased))
      #expect(receiver.endCount.load(ordering: .relaxed) == 1)
    }
  }
}
