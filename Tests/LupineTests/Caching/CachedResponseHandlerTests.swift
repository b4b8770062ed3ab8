// CachedResponseHandlerTests: the handler that decides, with Alamofire's API, whether a response is stored; cache hits.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct CachedResponseHandlerTests {
  /// Calls `body` with an origin whose response bodies are consecutive numbers, and whose responses are fresh for an hour.
  private func withFreshOrigin(_ body: (OriginServer) async throws -> Void) async throws {
    let count = Atomic(0)
    try await withServer { _ in
      let number = count.add(1, ordering: .relaxed).oldValue
      return Reply(fields: ["Cache-Control": "max-age=3600"], .bytes(Array("\(number)".utf8)))
    } _: { origin async throws in
      try await body(origin)
    }
  }

  private func makeSession(_ handler: (any CachedResponseHandler)?, _ monitors: [any EventMonitor] = []) -> Session {
    Session(configuration: .af.ephemeral, cachedResponseHandler: handler, eventMonitors: monitors)
  }

  @Test("without a cached-response handler, a fresh response is served to the next request")
  func noHandler() async throws {
    try await withFreshOrigin { origin async throws in
      try await keeping(makeSession(nil)) { session async throws in
        for _ in 0..<3 { #expect(try await session.request(origin.url).serializingString().value == "0") }
        let stream = await session.streamRequest(origin.url).streamTask().streamingStrings().reduce(into: "") {
          text, piece in
          text += piece.value ?? ""
        }
        #expect(stream == "0")
        #expect(try await session.request(origin.url, method: .post).serializingString().value == "1")
        #expect(try await session.request(origin.url).serializingString().value == "2")
      }
    }
  }

  @Test("a request's cached-response handler takes precedence over the session's", arguments: [true, false])
  func precedence(sessionStores: Bool) async throws {
    let ofSession: ResponseCacher = sessionStores ? .cache : .doNotCache
    let ofRequest: ResponseCacher = sessionStores ? .doNotCache : .cache
    try await withFreshOrigin { origin async throws in
      try await keeping(makeSession(ofSession)) { session async throws in
        for handler in [nil, ofRequest] {
          let url = origin.url + (handler == nil ? "/session" : "/request")
          for number in 0..<2 {
            let request = session.request(url)
            if let handler { request.cacheResponse(using: handler) }
            _ = try await request.serializingString().value
            let stored = session.session.configuration.urlCache?.cachedResponse(
              for: try URLRequest(url: url, method: .get))
            #expect((stored != nil) == (sessionStores == (handler == nil)), "\(url) \(number)")
          }
        }
      }
    }
  }

  @Test("a request's cached-response handler decides even if the session has neither a handler nor monitors")
  func onlyOfRequest() async throws {
    try await withFreshOrigin { origin async throws in
      try await keeping(makeSession(nil)) { session async throws in
        for number in 0..<2 {
          let request = session.request(origin.url).cacheResponse(using: ResponseCacher.doNotCache)
          #expect(try await request.serializingString().value == "\(number)")
        }
      }
    }
  }

  @Test("if a cached-response handler changes a response, the cache serves the changed response to later requests")
  func modified() async throws {
    let cacher = ResponseCacher.modify { _, proposed in
      CachedURLResponse(response: proposed.response, data: Data("changed".utf8), userInfo: ["by": "test"])
    }
    try await withFreshOrigin { origin async throws in
      try await keeping(makeSession(cacher)) { session async throws in
        #expect(try await session.request(origin.url).serializingString().value == "0")
        #expect(try await session.request(origin.url).serializingString().value == "changed")
        let request = try URLRequest(url: origin.url, method: .get)
        #expect(
          session.session.configuration.urlCache?.cachedResponse(for: request)?.userInfo?["by"] as? String == "test")
      }
    }
  }

  @Test(
    "a response without a lifetime is stored if a cached-response handler decides so, but not if a monitor watches it",
    arguments: [true, false])
  func withoutLifetime(isDecided: Bool) async throws {
    try await withServer { _ in
      Reply(.bytes(Array("a".utf8)))
    } _: { origin async throws in
      let handler: ResponseCacher? = isDecided ? .cache : nil
      try await keeping(makeSession(handler, [ClosureEventMonitor()])) { session async throws in
        _ = try await session.request(origin.url).serializingString().value
        let stored = session.session.configuration.urlCache?.cachedResponse(
          for: try URLRequest(url: origin.url, method: .get))
        #expect((stored != nil) == isDecided)
      }
    }
  }

  @Test(
    "the cache stores the response of a stream request only if the cached-response handler permits it",
    arguments: [true, false])
  func streams(isStored: Bool) async throws {
    try await withFreshOrigin { origin async throws in
      try await keeping(makeSession(isStored ? .cache : .doNotCache)) { session async throws in
        for number in 0..<2 {
          let text = await session.streamRequest(origin.url).streamTask().streamingStrings().reduce(into: "") {
            text, piece in
            text += piece.value ?? ""
          }
          #expect(text == (isStored ? "0" : "\(number)"))
        }
      }
    }
  }

  @Test(
    "a cached response causes the usual events except the caching decision, and its metrics name the cache as source")
  func events() async throws {
    let decisions = Recorder<String>()
    let monitor = ClosureEventMonitor()
    monitor.dataTaskWillCacheResponse = { _, _, _ in decisions.record("decision") }
    monitor.dataTaskDidReceiveData = { _, _, _ in decisions.record("data") }
    monitor.taskDidFinishCollectingMetrics = { _, _, metrics in
      let last = metrics.transactionMetrics.last
      decisions.record(
        last?.resourceFetchType == .localCache && last?.remoteAddress == nil ? "metrics of the cache" : "metrics")
    }
    monitor.requestDidFinish = { _ in decisions.record("finish") }
    try await withFreshOrigin { origin async throws in
      try await keeping(makeSession(nil, [monitor])) { session async throws in
        _ = try await session.request(origin.url).serializingData().value
        #expect(await decisions.first(4) == ["data", "decision", "metrics", "finish"])
        _ = try await session.request(origin.url).serializingData().value
        #expect(await decisions.first(3) == ["data", "metrics of the cache", "finish"])
      }
    }
  }
}
