// SessionCachePolicyTests: each cache policy with a fresh, a stale and no stored response.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct SessionCachePolicyTests {
  enum Stored: String, CaseIterable { case fresh, stale, none }

  struct Expectation: Sendable, CustomStringConvertible {
    let policy: URLRequest.CachePolicy
    let stored: Stored
    /// The expected version of the delivered response, or nil if the request must fail with `URLError.resourceUnavailable`.
    let version: Int?
    /// The expected If-None-Match or Cache-Control field of the request to the origin. The value is "unconditionally" for a request
    /// without these fields, and "nothing" if no request is sent.
    let asks: String

    var description: String { "\(policy) \(stored.rawValue)" }
  }

  private static let table: [Expectation] = [
    .init(policy: .useProtocolCachePolicy, stored: .fresh, version: 0, asks: "nothing"),
    .init(policy: .useProtocolCachePolicy, stored: .stale, version: 1, asks: "\"0\""),
    .init(policy: .useProtocolCachePolicy, stored: .none, version: 0, asks: "unconditionally"),
    .init(policy: .reloadIgnoringLocalCacheData, stored: .fresh, version: 1, asks: "unconditionally"),
    .init(policy: .reloadIgnoringLocalCacheData, stored: .stale, version: 1, asks: "unconditionally"),
    .init(policy: .reloadIgnoringLocalCacheData, stored: .none, version: 0, asks: "unconditionally"),
    .init(policy: .reloadIgnoringLocalAndRemoteCacheData, stored: .fresh, version: 1, asks: "no-cache"),
    .init(policy: .reloadIgnoringLocalAndRemoteCacheData, stored: .stale, version: 1, asks: "no-cache"),
    .init(policy: .reloadIgnoringLocalAndRemoteCacheData, stored: .none, version: 0, asks: "no-cache"),
    .init(policy: .returnCacheDataElseLoad, stored: .fresh, version: 0, asks: "nothing"),
    .init(policy: .returnCacheDataElseLoad, stored: .stale, version: 0, asks: "nothing"),
    .init(policy: .returnCacheDataElseLoad, stored: .none, version: 0, asks: "unconditionally"),
    .init(policy: .returnCacheDataDontLoad, stored: .fresh, version: 0, asks: "nothing"),
    .init(policy: .returnCacheDataDontLoad, stored: .stale, version: 0, asks: "nothing"),
    .init(policy: .returnCacheDataDontLoad, stored: .none, version: nil, asks: "nothing"),
    .init(policy: .reloadRevalidatingCacheData, stored: .fresh, version: 1, asks: "\"0\""),
    .init(policy: .reloadRevalidatingCacheData, stored: .stale, version: 1, asks: "\"0\""),
    .init(policy: .reloadRevalidatingCacheData, stored: .none, version: 0, asks: "unconditionally"),
  ]

  @Test(
    "a request's cachePolicy decides whether the stored response is used, validated or loaded again", arguments: table)
  func policy(expected: Expectation) async throws {
    try await withCache { fixture async throws in
      try await prepare(fixture, expected.stored)
      let before = fixture.script.count
      let error = await code {
        let text = try await fixture.load(policy: expected.policy).text
        #expect(text == expected.version.map { "\($0)" })
      }
      #expect(error == (expected.version == nil ? .resourceUnavailable : nil))
      let sent = fixture.script.requests.dropFirst(before)
      #expect(sent.count == (expected.asks == "nothing" ? 0 : 1))
      guard let fields = sent.first?.fields else { return }
      let condition = fields.first("If-None-Match") ?? fields.first("Cache-Control") ?? "unconditionally"
      #expect(condition == expected.asks)
    }
  }

  @Test("the session's cache policy applies to requests that don't set a cache policy")
  func ofTheSession() async throws {
    try await withCache({ $0.requestCachePolicy = .returnCacheDataDontLoad }) { fixture async throws in
      #expect(await code { try await fixture.load() } == .resourceUnavailable)
      #expect(fixture.script.count == 0)
      try await prepare(fixture, .stale)
      #expect(try await fixture.load().text == "0")
    }
  }

  @Test("a response loaded with reloadIgnoringLocalCacheData replaces the stored response")
  func reloaded() async throws {
    try await withCache { fixture async throws in
      try await prepare(fixture, .fresh)
      #expect(try await fixture.load(policy: .reloadIgnoringLocalCacheData).text == "1")
      #expect(try await fixture.load().text == "1")
      #expect(fixture.script.count == 2)
    }
  }

  @Test("the session validates a fresh immutable response that it has received without TLS")
  func immutable() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a", "one", ["Cache-Control": "max-age=60, immutable", "ETag": "\"1\""])
      for _ in 0..<2 { try await fixture.load(policy: .reloadRevalidatingCacheData) }
      #expect(fixture.script.count == 2)
    }
  }

  @Test(
    "returnCacheDataDontLoad never sends a request, even if the cache can't serve it",
    arguments: ["POST", "PUT", "Upgrade", "Host", "proxy"])
  func unanswerable(what: String) async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a", "one")
      let method = ["POST", "PUT"].contains(what) ? what : "GET"
      var request = fixture.request("/a", [:], method, policy: .returnCacheDataDontLoad)
      switch what {
      case "Upgrade": request.setValue("x", forHTTPHeaderField: "Upgrade")
      case "Host": request.setValue("h.example", forHTTPHeaderField: "Host")
      case "proxy": request.lupine.proxy = ProxySettings.none
      default: break
      }
      #expect(await code { try await fixture.session.data(for: request) } == .resourceUnavailable)
      #expect(fixture.script.count == 0)
    }
  }

  @Test("returnCacheDataDontLoad follows a stored redirect, but fails rather than sending a request")
  func unanswerableRedirect() async throws {
    try await withCache(delegate: HostSetter()) { fixture async throws in
      fixture.script.on("/a", "", ["Location": "/b", "Cache-Control": "max-age=60"], status: 302)
      fixture.script.on("/b", "two")
      #expect(try await fixture.load().text == "two")
      #expect(await code { try await fixture.load(policy: .returnCacheDataDontLoad) } == .resourceUnavailable)
      #expect(fixture.script.requests.map(\.path) == ["/a", "/b"])
    }
  }

  private func prepare(_ fixture: CacheFixture, _ stored: Stored) async throws {
    fixture.script.on("/a") { _, number in
      Reply(fields: ["Cache-Control": "max-age=60", "ETag": "\"\(number)\""], .bytes(Array("\(number)".utf8)))
    }
    guard stored != .none else { return }
    try await fixture.load(policy: .useProtocolCachePolicy)
    if stored == .stale { fixture.clock.advance(60) }
  }
}

/// A session's delegate that adds a Host field to each redirected request.
private final class HostSetter: NSObject, URLSessionTaskDelegate, Sendable {
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    var request = request
    request.setValue("h.example", forHTTPHeaderField: "Host")
    completionHandler(request)
  }
}
