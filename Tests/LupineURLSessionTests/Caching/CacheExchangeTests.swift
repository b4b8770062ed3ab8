// CacheExchangeTests: one exchange with a cache, whose receiver interferes.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct CacheExchangeTests {
  /// A mock receiver that cancels the exchange as soon as it receives the complete response to be stored.
  private final class Receiver: CacheReceiver {
    let exchange = Mutex<CacheExchange?>(nil)
    let endCount = Atomic(0)

    func accept(_ head: ResponseHead) -> (disposition: BodyDisposition, isTrusted: Bool) { (.deliver, true) }
    func confirm(_ head: ResponseHead) -> Bool { true }
    func receive(served head: ResponseHead) -> BodyDisposition { .deliver }
    func receive(served piece: Data) {}
    func keep(_ storable: StorableResponse) {
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

  private func makeExchange(_ fixture: CacheFixture, _ receiver: Receiver) throws -> CacheExchange {
    let client = fixture.session.client
    let cache = try #require(client.cache)
    let text = fixture.origin.url + "/a"
    let request = EngineRequest(uri: try URI(text))
    return CacheExchange(
      cache.request(request, policy: .useProtocolCachePolicy, ownCookie: nil, identity: nil), request,
      url: URL(string: text), cache: cache, upstream: client, windowBytes: .max, isStreamed: false,
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

  @Test(
    "if another process deletes a cache file between its lookup and its delivery, the request is sent to the origin")
  func deletedBeforeDelivery() async throws {
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
      // This work runs after the lookup, and before the delivery that the lookup schedules.
      stores.onQueue { for path in directory.records { try? FileManager.default.removeItem(atPath: path) } }
      gate.open()
      #expect(await settles { receiver.endCount.load(ordering: .relaxed) == 1 })
      #expect(fixture.script.count == 2)
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
