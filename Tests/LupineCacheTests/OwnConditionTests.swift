// OwnConditionTests: requests with conditions of the caller (RFC 9111 §4.3.2, §4.3.4).

import LupineWire
import Testing

@testable import LupineCache

@Suite struct OwnConditionTests {
  private let stale = "Cache-Control: max-age=0"

  struct Own: Sendable {
    let request: [String]
    /// The status code that the cache serves, or nil if the cache forwards the request without changing its conditions.
    let status: Int?
  }

  @Test(
    "the cache evaluates a caller's If-None-Match and If-Modified-Since, but forwards If-Match and If-Unmodified-Since",
    arguments: [
      Own(request: ["If-None-Match: \"1\""], status: 304),
      Own(request: ["If-None-Match: \"0\" , W/\"1\""], status: 304),
      Own(request: ["If-None-Match: \"0\"", "If-None-Match: \"1\""], status: 304),
      Own(request: ["If-None-Match: *"], status: 304),
      Own(request: ["If-None-Match: \"0\""], status: 200),
      Own(request: ["If-None-Match: 1"], status: 200),
      Own(request: ["If-None-Match: \"0\"", "If-Modified-Since: \(date())"], status: 200),
      Own(request: ["If-Modified-Since: \(date(-100))"], status: 304),
      Own(request: ["If-Modified-Since: \(date(-101))"], status: 200),
      Own(request: ["If-Modified-Since: x"], status: 200),
      Own(request: ["If-Match: \"1\""], status: nil),
      Own(request: ["If-Unmodified-Since: \(date())"], status: nil),
    ])
  func ownConditions(_ row: Own) throws {
    let response = try stored([
      "Cache-Control: max-age=60", "ETag: \"1\"", "Last-Modified: \(date(-100))", "Content-Type: text/a",
    ])
    let request = try CacheRequest.get(row.request)
    let decision = CacheDecision.decide(request, [response], at: 1)
    #expect(decision.hit?.response.status == row.status)
    if row.status == 304 {
      #expect(decision.hit?.response.body == ServedResponse.Body.none)
      #expect(decision.hit?.response.fields.contains("Content-Type") == false)
      #expect(decision.hit?.response.fields.first("ETag") == "\"1\"")
    }
    if row.status == nil { #expect(decision.forwarding?.fields == request.fields) }
  }

  @Test("if a stored response has no Last-Modified, If-Modified-Since is compared with its Date")
  func ownConditionWithDate() throws {
    let response = try stored(["Cache-Control: max-age=60", "Date: \(date(-5))"])
    for (since, status) in [(-5, 304), (-6, 200)] {
      let request = try CacheRequest.get(["If-Modified-Since: \(date(Int64(since)))"])
      #expect(CacheDecision.decide(request, [response], at: 1).hit?.response.status == status)
    }
  }

  @Test(
    "if a stored response has no Last-Modified or Date, If-Modified-Since is compared with its time of receipt")
  func ownConditionWithTimeOfArrival() throws {
    let response = try stored(["Cache-Control: max-age=60"])
    for (since, status) in [(0, 304), (-1, 200)] {
      let request = try CacheRequest.get(["If-Modified-Since: \(date(Int64(since)))"])
      #expect(CacheDecision.decide(request, [response], at: 1).hit?.response.status == status)
    }
  }

  @Test(
    "the cache forwards a caller's conditions unchanged, passes a 304 on to the caller, and updates the stored response"
  )
  func ownConditionsForwarded() throws {
    let response = try stored([stale, "ETag: \"1\""])
    let request = try CacheRequest.get(["If-None-Match: \"0\""])
    let forwarding = try #require(CacheDecision.decide(request, [response], at: 1).forwarding)
    #expect(forwarding.fields == request.fields)
    let outcome = try #require(
      try ForwardingOutcome.answer(304, ["ETag: \"1\"", "Cache-Control: max-age=60"], to: request, [response], at: 1))
    #expect(outcome.answer == .passOn)
    #expect(outcome.replacement?.lifetime == .maxAge(60))
  }

  @Test("the cache forwards a caller's conditions unchanged if no stored response can be served")
  func ownConditionsWithoutResponse() throws {
    let response = try stored(["Cache-Control: max-age=60", "ETag: \"1\""])
    let get = try CacheRequest.get(["If-None-Match: \"1\""])
    #expect(CacheDecision.decide(get, [], at: 1).forwarding?.fields == get.fields)
    let put = try CacheRequest.get(["If-None-Match: \"1\""], method: "PUT")
    #expect(CacheDecision.decide(put, [response], at: 1).forwarding?.fields == put.fields)
  }

  @Test(
    "a 304 without validators updates a stored response without validators if no other response is stored for the URI")
  func own304WithoutValidators() throws {
    let plain = try stored([stale])
    let request = try CacheRequest.get(["If-Modified-Since: \(date())"])
    let answer = ["Cache-Control: max-age=60"]
    let outcome = try #require(try ForwardingOutcome.answer(304, answer, to: request, [plain], at: 1))
    #expect(outcome.replacement?.lifetime == .maxAge(60))
    let tagged = try stored([stale, "ETag: \"1\""])
    for others in [[tagged], [plain, plain]] {
      #expect(try ForwardingOutcome.answer(304, answer, to: request, others, at: 1)?.updates == [])
    }
  }
}
