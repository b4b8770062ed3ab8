// StoreDecisionTests: which responses and which of their fields are stored (RFC 9111 §3).

import LupineWire
import Testing

@testable import LupineCache

@Suite struct StoreDecisionTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var request: [String] = []
    var method = "GET"
    var status = 200
    var response: [String] = []
    /// The reason why the cache must not store the response, or nil if it must.
    var refusal: StoreDecision.Refusal?

    var testDescription: String { "\(method) \(request): \(status) \(response)" }
  }

  @Test(
    "the cache stores a response unless the method, status code, directives or Vary forbid that",
    arguments: [
      Row(),
      Row(response: ["Cache-Control: private"]),
      Row(response: ["Cache-Control: private=\"x\", no-cache, must-revalidate"]),
      Row(request: ["Authorization: Basic eA=="], response: []),
      Row(response: ["Set-Cookie: a=b"]),
      Row(request: ["Range: bytes=0-1"], status: 200),
      // Methods whose responses the cache doesn't store.
      Row(method: "HEAD", response: ["Cache-Control: max-age=60"], refusal: .method),
      Row(method: "POST", response: ["Cache-Control: max-age=60"], refusal: .method),
      Row(method: "get", response: ["Cache-Control: max-age=60"], refusal: .method),
      // Status codes of the response.
      Row(status: 103, response: ["Cache-Control: max-age=60"], refusal: .status),
      Row(status: 206, response: ["Cache-Control: max-age=60"], refusal: .status),
      Row(status: 304, response: ["Cache-Control: max-age=60"], refusal: .status),
      Row(status: 401, response: ["Cache-Control: max-age=60"], refusal: .status),
      Row(request: ["Authorization: Basic eA=="], status: 401, response: ["Expires: \(date(60))"], refusal: .status),
      Row(status: 407, response: ["Cache-Control: max-age=60"], refusal: .status),
      Row(status: 412, response: ["Cache-Control: max-age=60"], refusal: .status),
      Row(status: 416, response: ["Cache-Control: max-age=60"], refusal: .status),
      Row(status: 417, response: ["Cache-Control: max-age=60"], refusal: .status),
      Row(status: 428, response: ["Cache-Control: max-age=60"], refusal: .status),
      Row(status: 429, response: ["Cache-Control: max-age=60"], refusal: .status),
      Row(status: 431, response: ["Cache-Control: max-age=60"], refusal: .status),
      Row(status: 511, response: ["Cache-Control: max-age=60"], refusal: .status),
      Row(status: 599, response: ["Cache-Control: max-age=60"]),
      Row(status: 599, response: ["Cache-Control: max-age=60, must-understand"], refusal: .status),
      Row(status: 302, refusal: .notCacheable),
      Row(status: 302, response: ["Cache-Control: s-maxage=60"], refusal: .notCacheable),
      Row(status: 302, response: ["Cache-Control: max-age=60"]),
      Row(status: 302, response: ["Cache-Control: public"]),
      Row(status: 302, response: ["Cache-Control: private"]),
      Row(status: 302, response: ["Expires: 0"]),
      Row(status: 500, refusal: .notCacheable),
      Row(status: 404),
      // no-store, also with an argument, next to a malformed directive, or on a second field line.
      Row(response: ["Cache-Control: no-store"], refusal: .noStore),
      Row(response: ["Cache-Control: No-Store=1"], refusal: .noStore),
      Row(response: ["Cache-Control: max-age=60, x=\"a, no-store"], refusal: .noStore),
      Row(response: ["Cache-Control: x=\"a", "Cache-Control: no-store"], refusal: .noStore),
      Row(response: ["Cache-Control: ,,no-store,"], refusal: .noStore),
      Row(response: ["Cache-Control: x=\"no-store\""]),
      Row(response: ["Cache-Control: x=\"a, no-store, b\""]),
      Row(response: ["Cache-Control: no-store, must-understand"]),
      Row(status: 599, response: ["Cache-Control: no-store, must-understand"], refusal: .status),
      Row(request: ["Cache-Control: no-store"], response: ["Cache-Control: max-age=60"], refusal: .noStore),
      Row(request: ["Cache-Control: no-cache"], response: ["Cache-Control: max-age=60"]),
      // The field Vary in the response.
      Row(response: ["Vary: Accept"]),
      Row(response: ["Vary: Accept, *"], refusal: .vary(.unselectable)),
      Row(response: ["Vary: Accept", "Vary: *"], refusal: .vary(.unselectable)),
      Row(response: ["Vary: Accept Language"], refusal: .vary(.unselectable)),
    ])
  func storing(_ row: Row) throws {
    let request = try CacheRequest.get(row.request, method: row.method)
    let decision = StoreDecision.decide(row.response, status: row.status, to: request)
    #expect(decision.refusal == row.refusal)
    #expect((decision.stored == nil) == (row.refusal != nil))
  }

  @Test(
    "a response to POST is stored only if it is a 200 with explicit freshness and the request's URI in Content-Location",
    arguments: [
      (["Cache-Control: max-age=60", "Content-Location: /page"], 200, true),
      (["Expires: \(date(60))", "Content-Location: https://origin.test:443/page#a"], 200, true),
      (["Cache-Control: max-age=60"], 200, false),
      (["Cache-Control: max-age=60", "Content-Location: /other"], 200, false),
      (["Cache-Control: max-age=60", "Content-Location: http://origin.test/page"], 200, false),
      (["Cache-Control: max-age=60", "Content-Location: /page", "Content-Location: /page"], 200, false),
      (["Cache-Control: max-age=60", "Content-Location: /page"], 201, false),
      (["Cache-Control: max-age=60, no-store", "Content-Location: /page"], 200, false),
      (["Cache-Control: max-age=0", "Content-Location: /page"], 200, false),
      (["Cache-Control: public", "Content-Location: /page"], 200, false),
      (["Expires: 0", "Content-Location: /page"], 200, false),
      (["Last-Modified: \(date(-1000))", "Content-Location: /page"], 200, false),
    ])
  func post(_ lines: [String], _ status: Int, isStored: Bool) throws {
    var request = try CacheRequest.get(method: "POST")
    request.content = .present
    #expect((StoreDecision.decide(lines, status: status, to: request).stored != nil) == isStored)
  }

  @Test(
    "a response that no-store or Vary keeps from being stored makes the stored response outdated if its status is 2xx",
    arguments: [
      (Row(response: ["Cache-Control: no-store"]), true), (Row(response: ["Vary: *"]), true),
      (Row(request: ["Cache-Control: no-store"]), true), (Row(status: 202), false), (Row(status: 302), false),
      (Row(), false), (Row(response: ["Cache-Control: max-age=60"]), false),
      (Row(method: "HEAD"), false), (Row(status: 206), false), (Row(status: 304), false),
      (Row(status: 302, response: ["Cache-Control: no-store"]), false),
      (Row(status: 404, response: ["Cache-Control: no-store"]), false),
      (Row(status: 500, response: ["Cache-Control: no-store"]), false),
    ])
  func outdating(_ row: Row, isOutdating: Bool) throws {
    let request = try CacheRequest.get(row.request, method: row.method)
    let decision = StoreDecision.decide(row.response, status: row.status, to: request)
    #expect(decision.outdatesStored(status: row.status) == isOutdating)
  }

  @Test("a response that isn't stored makes the stored responses outdated that its request may get, in any partition")
  func outdated() throws {
    let english = try CacheRequest.get(["Accept-Language: en"])
    let response = try stored(["Vary: Accept-Language"], to: english)
    #expect(response.isOutdated(byResponseTo: english))
    #expect(!response.isOutdated(byResponseTo: try .get(["Accept-Language: de"])))
    // A personal response of one session doesn't replace the response that all sessions share, but is newer.
    let personal = try CacheRequest.get(["Accept-Language: en", "Cookie: a=b"])
    let new = try stored(["Set-Cookie: a=b"], to: personal)
    #expect(response.isOutdated(byResponseTo: personal) && response.isOutdated(by: new, to: personal))
    #expect(!new.isOutdated(byResponseTo: try .get(session: "second")))
    var isolated = english
    isolated.isIsolated = true
    #expect(!response.isOutdated(byResponseTo: isolated))
    #expect(!response.isOutdated(by: try stored([], to: isolated), to: isolated))
  }

  @Test("the cache doesn't store a response to a GET with content")
  func contentOfRequest() throws {
    var request = try CacheRequest.get()
    request.content = .present
    #expect(StoreDecision.decide(["Cache-Control: max-age=60"], to: request).refusal == .method)
  }

  @Test("the cache doesn't store a response if Vary lists too many fields, or fields whose values are too large")
  func varyLimits() throws {
    let names = (0..<CacheLimits.varyNamesMax).map { "X-\($0)" }.joined(separator: ", ")
    #expect(StoreDecision.decide(["Vary: \(names)"], to: try .get()).stored != nil)
    #expect(StoreDecision.decide(["Vary: \(names), Y"], to: try .get()).refusal == .vary(.tooLarge))
    let value = String(repeating: "v", count: CacheLimits.selectingBytesMax)
    #expect(StoreDecision.decide(["Vary: Foo"], to: try .get(["Foo: \(value)"])).stored != nil)
    #expect(StoreDecision.decide(["Vary: Foo"], to: try .get(["Foo: \(value)v"])).refusal == .vary(.tooLarge))
    let both = try CacheRequest.get(["Foo: \(value)", "Bar: v"])
    #expect(StoreDecision.decide(["Vary: Foo, Bar"], to: both).refusal == .vary(.tooLarge))
  }

  @Test("the cache stores all response fields as received, except those for the connection and for proxies")
  func storedFields() throws {
    let kept = ["Date: \(date())", "X-Unknown: 1", "x-unknown: 2", "Set-Cookie: a=b", "Content-Length: 3", "Foo: z"]
    let dropped = [
      "Connection: close, X-Hop", "X-Hop: 1", "Keep-Alive: timeout=5", "Proxy-Connection: x", "TE: trailers",
      "Trailer: X", "Transfer-Encoding: chunked", "Upgrade: h2c", "Proxy-Authenticate: Basic",
      "Proxy-Authentication-Info: x", "Proxy-Authorization: Basic x",
    ]
    #expect(try stored(dropped + kept).fields == Fields(kept))
  }

  @Test("a response's Connection field can't make the cache ignore a field that controls caching")
  func connectionNamesCacheControl() throws {
    let lines = [
      "Date: \(date())", "Cache-Control: max-age=60", "ETag: \"a\"", "Vary: Accept", "Expires: \(date())", "Age: 1",
      "Last-Modified: \(date())",
    ]
    let connection = "Connection: cache-control, etag, vary, date, expires, age, last-modified"
    #expect(try stored(lines + [connection]).fields == Fields(lines))
  }

  @Test(
    "the cache replaces a missing or invalid Date with the time at which the response was received",
    arguments: [[], ["Date: 0"]])
  func missingDate(_ lines: [String]) throws {
    #expect(try stored(lines).fields == Fields(["Date: \(date())"]))
  }

  @Test(
    "the cache regards a response as reusable if it will be fresh, has a validator, or may be served stale",
    arguments: [
      ([], false), (["Cache-Control: max-age=0"], false), (["Cache-Control: max-age=1"], true),
      (["Cache-Control: max-age=60, no-cache"], false), (["Cache-Control: no-cache", "ETag: \"1\""], true),
      (["Last-Modified: \(date())"], true), (["Cache-Control: max-age=0, stale-while-revalidate=60"], true),
      (["Cache-Control: stale-if-error=60"], true), (["Expires: 0"], false),
    ] as [([String], Bool)])
  func reusable(lines: [String], isReusable: Bool) throws {
    let response = try stored(lines)
    for policy in [CachePolicy.automatic, .reload, .validate] {
      #expect(response.isReusable(under: policy) == isReusable)
    }
    #expect(response.isReusable(under: .storedElseLoad) && response.isReusable(under: .storedOnly))
  }

  @Test("a new response supersedes only the stored response that its request would have selected")
  func superseding() throws {
    let english = try CacheRequest.get(["Accept-Language: en"])
    let german = try CacheRequest.get(["Accept-Language: de"])
    let old = try stored(["Vary: Accept-Language"], to: english)
    let new = try stored(["Vary: Accept-Language"], to: english, at: 1)
    #expect(old.isSuperseded(by: new, to: english))
    #expect(!old.isSuperseded(by: try stored(["Vary: Accept-Language"], to: german), to: german))
    #expect(try stored([]).isSuperseded(by: new, to: english))
    let personal = try CacheRequest.get(["Accept-Language: en", "Cookie: a=b"])
    #expect(!old.isSuperseded(by: try stored([], to: personal), to: personal))
  }

  @Test(
    "a stored response is newer than one that takes longer if it was requested after the head of that one had arrived")
  func newer() throws {
    let slow = try stored(["ETag: \"1\""], at: 5, delay: 5)
    let quick = try stored(["ETag: \"2\""], at: 8, delay: 2)
    #expect(quick.isNewer(than: slow, now: start + 9) && !slow.isNewer(than: quick, now: start + 9))
    // Both requests may have been answered at the same time.
    #expect(try !stored([], at: 8, delay: 3).isNewer(than: slow, now: start + 9))
    // The clock has been set back.
    #expect(!quick.isNewer(than: slow, now: start + 7))
    #expect(try !stored(["ETag: \"1\""], at: 8, delay: 2).isNewer(than: slow, now: start + 9))
  }
}
