// CacheDecisionTests: when a stored response is served (RFC 9111 §4, §4.2.4, §5.2; RFC 5861 §3; RFC 8246).

import LupineWire
import Testing

@testable import LupineCache

@Suite struct CacheDecisionTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var request: [String] = []
    var method = "GET"
    var policy = CachePolicy.automatic
    /// The Cache-Control field of the stored response.
    var response = "max-age=60"
    /// The age of the stored response, in seconds.
    var age: Int64 = 10
    let decision: String

    var testDescription: String { "\(method) \(request) \(policy), stored \(response), age \(age)" }
  }

  @Test(
    "the cache serves a stored response only if its freshness, Cache-Control and the cache policy permit that",
    arguments: [
      Row(decision: "fresh"),
      Row(age: 59, decision: "fresh"),
      Row(age: 60, decision: "forward: stale"),
      Row(method: "HEAD", decision: "fresh"),
      Row(method: "HEAD", age: 60, decision: "forward: stale"),
      Row(method: "POST", decision: "forward: method"),
      Row(method: "OPTIONS", decision: "forward: method"),
      Row(method: "FOO", decision: "forward: method"),
      // Directives in the response's Cache-Control.
      Row(response: "no-cache, max-age=60", decision: "forward: validationRequired"),
      Row(response: "no-cache=\"\", max-age=60", decision: "forward: validationRequired"),
      Row(response: "no-cache=\"foo\", max-age=60", decision: "fresh"),
      Row(response: "no-cache=\"foo\", no-cache, max-age=60", decision: "forward: validationRequired"),
      Row(response: "no-cache, no-cache=foo, max-age=60", decision: "forward: validationRequired"),
      Row(response: "must-revalidate, max-age=60", decision: "fresh"),
      Row(response: "private, max-age=60", decision: "fresh"),
      Row(response: "unknown, unknown=\"no-cache, no-store\", max-age=60", decision: "fresh"),
      Row(
        request: ["Cache-Control: max-stale"], response: "max-age=60, proxy-revalidate", age: 61, decision: "maxStale"),
      // The directive max-age in the request.
      Row(request: ["Cache-Control: max-age=10"], decision: "fresh"),
      Row(request: ["Cache-Control: max-age=9"], decision: "forward: requestDirective"),
      Row(request: ["Cache-Control: max-age=0"], decision: "forward: requestDirective"),
      Row(request: ["Cache-Control: max-age=x"], decision: "forward: requestDirective"),
      Row(request: ["Cache-Control: max-age=90"], age: 70, decision: "forward: stale"),
      Row(request: ["Cache-Control: max-age=90, max-stale"], age: 70, decision: "maxStale"),
      Row(request: ["Cache-Control: max-age=65, max-stale"], age: 70, decision: "forward: requestDirective"),
      // The directive min-fresh in the request.
      Row(request: ["Cache-Control: min-fresh=50"], decision: "fresh"),
      Row(request: ["Cache-Control: min-fresh=51"], decision: "forward: requestDirective"),
      Row(request: ["Cache-Control: min-fresh=x"], decision: "forward: requestDirective"),
      Row(request: ["Cache-Control: min-fresh=1, max-stale"], age: 60, decision: "forward: requestDirective"),
      // The directive max-stale in the request.
      Row(request: ["Cache-Control: max-stale"], age: 9999, decision: "maxStale"),
      Row(request: ["Cache-Control: max-stale=10"], age: 70, decision: "maxStale"),
      Row(request: ["Cache-Control: max-stale=10"], age: 71, decision: "forward: stale"),
      Row(request: ["Cache-Control: max-stale=x"], age: 61, decision: "forward: stale"),
      Row(
        request: ["Cache-Control: max-stale"], response: "max-age=60, must-revalidate", age: 61,
        decision: "forward: validationRequired"),
      Row(
        request: ["Cache-Control: max-stale"], response: "max-age=60, must-revalidate=x", age: 61,
        decision: "forward: validationRequired"),
      // The directives no-cache and no-store in the request, and the field Pragma.
      Row(request: ["Cache-Control: no-cache"], decision: "forward: requestDirective"),
      Row(request: ["Pragma: no-cache"], decision: "forward: requestDirective"),
      Row(request: ["Pragma: foo, No-Cache"], decision: "forward: requestDirective"),
      Row(request: ["Pragma: no-cache", "Cache-Control: max-age=60"], decision: "fresh"),
      Row(request: ["Cache-Control: no-store"], decision: "fresh"),
      Row(request: ["Cache-Control: unknown=1"], decision: "fresh"),
      // The directive only-if-cached in the request.
      Row(request: ["Cache-Control: only-if-cached"], decision: "fresh"),
      Row(request: ["Cache-Control: only-if-cached"], age: 60, decision: "gatewayTimeout"),
      Row(request: ["Cache-Control: only-if-cached, max-stale"], age: 60, decision: "maxStale"),
      Row(request: ["Cache-Control: only-if-cached, no-cache"], decision: "gatewayTimeout"),
      Row(request: ["Cache-Control: only-if-cached"], method: "POST", decision: "gatewayTimeout"),
      // The directive stale-while-revalidate in the response.
      Row(response: "max-age=60, stale-while-revalidate=10", age: 59, decision: "fresh"),
      Row(response: "max-age=60, stale-while-revalidate=10", age: 60, decision: "staleWhileRevalidate"),
      Row(response: "max-age=60, stale-while-revalidate=10", age: 70, decision: "staleWhileRevalidate"),
      Row(response: "max-age=60, stale-while-revalidate=10", age: 71, decision: "forward: stale"),
      Row(response: "max-age=60, stale-while-revalidate=x", age: 61, decision: "forward: stale"),
      Row(
        response: "max-age=60, stale-while-revalidate=10, must-revalidate", age: 61,
        decision: "forward: validationRequired"),
      Row(
        response: "max-age=60, stale-while-revalidate=10, no-cache", age: 61, decision: "forward: validationRequired"),
      Row(
        request: ["Cache-Control: max-age=90"], response: "max-age=60, stale-while-revalidate=10", age: 61,
        decision: "forward: stale"),
      // Cache policies.
      Row(policy: .reload, decision: "forward: policy"),
      Row(policy: .validate, decision: "forward: policy"),
      Row(policy: .validate, response: "max-age=60, immutable", decision: "fresh"),
      Row(policy: .validate, response: "max-age=60, immutable", age: 60, decision: "forward: policy"),
      Row(
        request: ["Cache-Control: no-cache"], response: "max-age=60, immutable",
        decision: "forward: requestDirective"),
      Row(policy: .storedElseLoad, age: 9999, decision: "policy"),
      Row(policy: .storedElseLoad, response: "no-cache, must-revalidate", decision: "policy"),
      Row(policy: .storedOnly, age: 9999, decision: "policy"),
      Row(method: "POST", policy: .storedOnly, decision: "gatewayTimeout"),
    ])
  func decision(_ row: Row) throws {
    let response = try stored(["Cache-Control: \(row.response)", "ETag: \"a\""])
    let request = try CacheRequest.get(row.request, method: row.method, policy: row.policy)
    #expect(CacheDecision.decide(request, [response], at: row.age).word == row.decision)
  }

  @Test("a fresh immutable response that wasn't received over https is validated like any other")
  func immutableWithoutTLS() throws {
    var request = try CacheRequest.get(policy: .validate)
    let response = try stored(["Cache-Control: max-age=60, immutable", "ETag: \"a\""])
    #expect(CacheDecision.decide(request, [response], at: 1).word == "fresh")
    request.uri = try URI("http://origin.test/page")
    #expect(CacheDecision.decide(request, [response], at: 1).word == "forward: policy")
  }

  @Test(
    "a policy that accepts any age accepts an error with an estimated lifetime only while that lasts",
    arguments: [CachePolicy.storedElseLoad, .storedOnly])
  func estimatedError(_ policy: CachePolicy) throws {
    let request = try CacheRequest.get(policy: policy)
    let estimated = try stored(["Last-Modified: \(date(-1000))"], status: 404)
    let explicit = try stored(["Cache-Control: max-age=1"], status: 404)
    #expect(CacheDecision.decide(request, [estimated], at: 99).word == "policy")
    #expect(CacheDecision.decide(request, [estimated], at: 100).hit == nil)
    #expect(CacheDecision.decide(request, [explicit], at: 100).word == "policy")
  }

  @Test("if no response is stored, the cache forwards the request, unless the caller accepts only stored responses")
  func miss() throws {
    #expect(CacheDecision.decide(try .get(), [], at: 0).word == "forward: nothingStored")
    #expect(CacheDecision.decide(try .get(policy: .storedElseLoad), [], at: 0).word == "forward: nothingStored")
    #expect(CacheDecision.decide(try .get(policy: .storedOnly), [], at: 0) == .gatewayTimeout)
    #expect(CacheDecision.decide(try .get(["Cache-Control: only-if-cached"]), [], at: 0) == .gatewayTimeout)
  }

  @Test("a stale response is served without a revalidation in the background if the request has only-if-cached")
  func onlyIfCachedWhileStale() throws {
    let response = try stored(["Cache-Control: max-age=60, stale-while-revalidate=10", "ETag: \"a\""])
    let decision = CacheDecision.decide(try .get(["Cache-Control: only-if-cached"]), [response], at: 65)
    #expect(decision.hit?.reason == .staleWhileRevalidate)
    #expect(decision.forwarding == nil)
  }

  @Test("the cache doesn't answer a GET request with content")
  func contentOfRequest() throws {
    var request = try CacheRequest.get()
    request.content = .present
    let response = try stored(["Cache-Control: max-age=60"])
    #expect(CacheDecision.decide(request, [response], at: 1).word == "forward: method")
  }

  @Test("the cache uses an invalidated response only after validation, even if the response is fresh")
  func invalidated() throws {
    var response = try stored(["Cache-Control: max-age=60", "ETag: \"a\""])
    response.state = .invalidated
    let decision = CacheDecision.decide(try .get(), [response], at: 1)
    #expect(decision.word == "forward: validationRequired")
    #expect(decision.forwarding?.nominated == [0])
  }

  @Test(
    "the cache serves a stored response with its current age in the Age field, whether the response is fresh or stale")
  func ageOfServed() throws {
    let fresh = try stored(["Cache-Control: max-age=60", "Age: 20", "age: 3"])
    let hit = try #require(CacheDecision.decide(try .get(), [fresh], at: 5).hit)
    #expect(hit.response.fields.all("Age") == ["25"])
    #expect(hit.response.body == .complete)
    let late = try stored(["Cache-Control: max-age=60, stale-while-revalidate=10"])
    let stale = try #require(CacheDecision.decide(try .get(), [late], at: 65).hit)
    #expect(stale.response.fields.all("Age") == ["65"])
  }

  @Test("the cache answers HEAD with the fields of a stored GET response and without a body")
  func head() throws {
    let response = try stored(["Cache-Control: max-age=60", "Content-Length: 1000"])
    let hit = try #require(CacheDecision.decide(try .get(method: "HEAD"), [response], at: 5).hit)
    #expect(hit.response.status == 200)
    #expect(hit.response.fields.first("Content-Length") == "1000")
    #expect(hit.response.body == .none)
  }

  @Test("the cache doesn't serve the fields listed in a no-cache directive without validation")
  func qualifiedNoCache() throws {
    let lines = ["Cache-Control: max-age=60, no-cache=\"Foo, bar\"", "FOO: 1", "Bar: 2", "Baz: 3"]
    let served = try #require(CacheDecision.decide(try .get(), [try stored(lines)], at: 1).hit?.response.fields)
    #expect(!served.contains("Foo") && !served.contains("Bar"))
    #expect(served.first("Baz") == "3")
  }

  @Test(
    "of several matching stored responses, the cache prefers those with Vary, and then the one with the latest Date")
  func mostRecent() throws {
    let cacheable = "Cache-Control: max-age=600"
    let older = try stored([cacheable, "Date: \(date(-5))"], at: 2)
    let newer = try stored([cacheable, "Date: \(date(-1))"], at: 1)
    #expect(CacheDecision.decide(try .get(), [newer, older], at: 3).hit?.index == 0)
    #expect(CacheDecision.decide(try .get(), [older, newer], at: 3).hit?.index == 1)
    let varying = try stored([cacheable, "Date: \(date(-9))", "Vary: Accept"])
    #expect(CacheDecision.decide(try .get(), [older, varying, newer], at: 3).hit?.index == 1)
  }
}
