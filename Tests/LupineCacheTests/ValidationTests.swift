// ValidationTests: conditional requests and the origin's answers to them (RFC 9111 §4.3, §3.2; RFC 5861 §4).

import LupineWire
import Testing

@testable import LupineCache

@Suite struct ValidationTests {
  private let stale = "Cache-Control: max-age=0"

  @Test("a validation request contains the stored response's entity tag and Last-Modified as received")
  func conditions() throws {
    let modified = "Sun Nov  5 22:13:20 2023"
    let response = try stored([stale, "ETag: W/\"a,b\"", "Last-Modified: \(modified)"])
    let request = try CacheRequest.get(["Accept: x"])
    let forwarding = try #require(CacheDecision.decide(request, [response], at: 1).forwarding)
    #expect(
      forwarding.fields == Fields(["Accept: x", "If-None-Match: W/\"a,b\"", "If-Modified-Since: \(modified)"]))
    #expect(forwarding.nominated == [0])
  }

  struct Validators: Sendable {
    let lines: [String]
    let sent: [String]
  }

  @Test(
    "the cache doesn't send invalid validators, and without a valid one sends the request without conditions",
    arguments: [
      Validators(lines: ["ETag: \"a\""], sent: ["If-None-Match: \"a\""]),
      Validators(lines: ["ETag: \"\""], sent: ["If-None-Match: \"\""]),
      Validators(lines: ["ETag: a"], sent: []),
      Validators(lines: ["ETag: w/\"a\""], sent: []),
      Validators(lines: ["ETag: \"a b\""], sent: []),
      Validators(lines: ["ETag: \"a\", \"b\""], sent: []),
      Validators(
        lines: ["ETag: a", "Last-Modified: \(date(-9))"], sent: ["If-Modified-Since: \(date(-9))"]),
      Validators(lines: ["Last-Modified: \(date(-9))"], sent: ["If-Modified-Since: \(date(-9))"]),
      Validators(lines: ["Last-Modified: yesterday"], sent: []),
      Validators(lines: [], sent: []),
    ])
  func validators(_ row: Validators) throws {
    let forwarding = CacheDecision.decide(try .get(), [try stored([stale] + row.lines)], at: 1).forwarding
    #expect(forwarding?.fields == Fields(row.sent))
    #expect(forwarding?.nominated == (row.sent.isEmpty ? [] : [0]))
  }

  /// Returns the stored German, English and French variants of a page, with these entity tags.
  private func variants(_ tags: [String]) throws -> [StoredResponse] {
    try zip(["de", "en", "fr"], tags).enumerated().map { index, variant in
      try stored(
        [stale, "Vary: Accept-Language", "ETag: \(variant.1)", "Last-Modified: \(date(-99))"],
        to: .get(["Accept-Language: \(variant.0)"]), at: Int64(index))
    }
  }

  @Test(
    "If-None-Match lists the entity tag of the selected response, then other variants' strong tags, latest first")
  func tagsOfVariants() throws {
    let stored = try variants(["\"1\"", "\"2\"", "\"3\""])
    let english = try CacheRequest.get(["Accept-Language: en"])
    let forwarding = try #require(CacheDecision.decide(english, stored, at: 9).forwarding)
    #expect(forwarding.fields.all("If-None-Match") == ["\"2\", \"3\", \"1\""])
    #expect(!forwarding.fields.contains("If-Modified-Since"))
    #expect(forwarding.nominated == [1, 2, 0])
    let spanish = try #require(CacheDecision.decide(.get(["Accept-Language: es"]), stored, at: 9).forwarding)
    #expect(spanish.reason == .noVariant)
    #expect(spanish.fields.all("If-None-Match") == ["\"3\", \"2\", \"1\""])
    let weak = try variants(["W/\"1\"", "W/\"1\"", "W/\"1\""])
    let onlyOwn = try #require(CacheDecision.decide(english, weak, at: 9).forwarding)
    #expect(onlyOwn.fields.all("If-None-Match") == ["W/\"1\""])
    #expect(onlyOwn.nominated == [1])
  }

  @Test("a validation request's If-None-Match lists at most as many entity tags as its limit")
  func tagsLimit() throws {
    let responses = try (0...CacheLimits.entityTagsMax).map { index in
      try stored([stale, "Vary: Foo", "ETag: \"\(index)\""], to: .get(["Foo: \(index)"]), at: Int64(index))
    }
    let forwarding = try #require(CacheDecision.decide(.get(["Foo: 0"]), responses, at: 99).forwarding)
    #expect(forwarding.nominated.count == CacheLimits.entityTagsMax)
    #expect(forwarding.nominated.first == 0)
    let long = String(repeating: "a", count: CacheLimits.entityTagBytesMax - 2)
    #expect(EntityTag(Array("\"\(long)\"".utf8)) != nil)
    #expect(EntityTag(Array("\"\(long)a\"".utf8)) == nil)
  }

  @Test(
    "after a 304 with a strong entity tag, the cache serves and updates the variant with that tag, whichever the request selects"
  )
  func strongTagSelects() throws {
    let stored = try variants(["\"1\"", "\"2\"", "\"3\""])
    let spanish = try CacheRequest.get(["Accept-Language: es"])
    let outcome = try #require(
      try ForwardingOutcome.answer(304, ["ETag: \"2\"", "Cache-Control: max-age=60"], to: spanish, stored, at: 9))
    #expect(outcome.served?.index == 1)
    #expect(outcome.updates.map(\.index) == [1])
    let updated = try #require(outcome.replacement)
    #expect(updated.lifetime == .maxAge(60))
    #expect(updated.selectingFields == stored[1].selectingFields)
  }

  struct Selection: Sendable {
    /// The entity tags of two stored responses. The second response is the later one.
    let tags: [String]
    let answer: [String]
    let served: Int?
    let updated: [Int]
  }

  @Test(
    "a strong entity tag in a 304 updates all stored responses with the tag, but a weak entity tag only the latest of them",
    arguments: [
      Selection(tags: ["\"1\"", "\"2\""], answer: ["ETag: \"1\""], served: 0, updated: [0]),
      Selection(tags: ["\"1\"", "\"1\""], answer: ["ETag: \"1\""], served: 1, updated: [1, 0]),
      Selection(tags: ["\"1\"", "\"2\""], answer: ["ETag: W/\"2\""], served: 1, updated: [1]),
      Selection(tags: ["\"1\"", "\"1\""], answer: ["ETag: W/\"1\""], served: 1, updated: [1]),
      Selection(tags: ["W/\"1\"", "\"2\""], answer: ["ETag: \"1\""], served: nil, updated: []),
      Selection(tags: ["\"1\"", "\"2\""], answer: ["ETag: \"3\""], served: nil, updated: []),
      Selection(tags: ["\"1\"", "\"2\""], answer: ["ETag: W/\"3\""], served: nil, updated: []),
      Selection(tags: ["\"1\"", "\"2\""], answer: [], served: nil, updated: []),
    ])
  func selection(_ row: Selection) throws {
    // A request without the fields that Vary lists would select both responses.
    let responses = try row.tags.enumerated().map { index, tag in
      try stored([stale, "ETag: \(tag)"], at: Int64(index))
    }
    let outcome = try #require(try ForwardingOutcome.answer(304, row.answer, to: .get(), responses, at: 9))
    #expect(outcome.served?.index == row.served)
    #expect(outcome.updates.map(\.index) == row.updated)
    if row.served == nil { #expect(outcome.answer == .sendWithoutConditions) }
  }

  @Test(
    "a 304 with the strong form of a stored weak tag, as nginx sends it, confirms the stored response, but doesn't update it"
  )
  func weakenedTag() throws {
    let stored = try variants(["\"1\"", "W/\"2\"", "\"3\""])
    let english = try CacheRequest.get(["Accept-Language: en"])
    let answer = ["ETag: \"2\"", "Cache-Control: max-age=60"]
    let outcome = try #require(try ForwardingOutcome.answer(304, answer, to: english, stored, at: 9))
    #expect(outcome.served?.index == 1)
    #expect(outcome.served?.response.fields.first("ETag") == "W/\"2\"")
    #expect(outcome.updates.isEmpty)
    // A weak tag of a variant that the request doesn't select isn't sent, so the 304 can't confirm that variant.
    let german = try CacheRequest.get(["Accept-Language: de"])
    let other = try #require(try ForwardingOutcome.answer(304, answer, to: german, stored, at: 9))
    #expect(other.answer == .sendWithoutConditions)
  }

  @Test("a 304 without a validator confirms the only stored response whose tag was sent, but doesn't update its fields")
  func anonymous304() throws {
    let response = try stored([stale, "ETag: \"1\""])
    let outcome = try #require(
      try ForwardingOutcome.answer(304, ["Cache-Control: max-age=60"], to: .get(), [response], at: 9))
    #expect(outcome.served?.index == 0)
    #expect(outcome.updates.isEmpty)
  }

  @Test(
    "if variants share a weak tag or a date, a 304 with this value updates only the variant that the request selects",
    arguments: [
      (["W/\"1\"", "W/\"1\"", "W/\"1\""], "ETag: W/\"1\""),
      (["\"1\"", "W/\"1\"", "\"1\""], "ETag: W/\"1\""),
      (["\"1\"", "\"2\"", "\"3\""], "Last-Modified: \(date(-99))"),
    ])
  func sharedValidator(tags: [String], answer: String) throws {
    let stored = try variants(tags)
    let english = try CacheRequest.get(["Accept-Language: en"])
    let outcome = try #require(try ForwardingOutcome.answer(304, [answer], to: english, stored, at: 9))
    #expect(outcome.served?.index == 1)
    #expect(outcome.updates.map(\.index) == [1])
  }

  @Test("the fields of a 304 replace the stored fields, except those that describe the stored body or the connection")
  func updatedFields() throws {
    let response = try stored([
      stale, "ETag: \"1\"", "Foo: old", "Foo: older", "Kept: yes", "Content-Length: 1000", "Content-Encoding: gzip",
      "Content-Type: text/a", "Content-Digest: sha-256=:a:", "Age: 700", "Date: \(date())",
    ])
    let answer = [
      "ETag: \"1\"", "Cache-Control: max-age=60", "foo: new", "Foo: newer", "Content-Length: 7",
      "Content-Encoding: br", "Content-Range: bytes 0-1/2", "Content-Type: text/b", "Date: \(date(9))",
      "Connection: X-Hop", "X-Hop: 1", "Transfer-Encoding: chunked", "Proxy-Authenticate: Basic", "Set-Cookie: a=b",
      "Content-Digest: sha-256=:empty:", "Content-MD5: empty",
    ]
    let updated = try #require(
      try ForwardingOutcome.answer(304, answer, to: .get(), [response], at: 9)?.replacement)
    let expected = [
      "Kept: yes", "Content-Length: 1000", "Content-Encoding: gzip", "Content-Digest: sha-256=:a:", "ETag: \"1\"",
      "Cache-Control: max-age=60", "foo: new", "Foo: newer", "Content-Type: text/b", "Date: \(date(9))",
      "Set-Cookie: a=b",
    ]
    #expect(updated.fields == Fields(expected))
    #expect(updated.times == ExchangeTimes(request: start + 9, response: start + 9))
    // The Age field of the first response doesn't count toward the age of the updated response.
    #expect(updated.currentAge(now: start + 10) == 1)
    #expect(updated.state == .valid)
    #expect(updated.bodyByteCount == 1000)
  }

  @Test("if a request has no-store, neither a 304 nor a response to HEAD updates the stored response")
  func noStoreRequest() throws {
    let response = try stored([stale, "ETag: \"1\""])
    let request = try CacheRequest.get(["Cache-Control: no-store"])
    let outcome = try #require(try ForwardingOutcome.answer(304, ["ETag: \"1\""], to: request, [response], at: 9))
    #expect(outcome.served?.index == 0)
    #expect(outcome.updates.isEmpty)
    let head = try CacheRequest.get(["Cache-Control: no-store"], method: "HEAD")
    #expect(try ForwardingOutcome.answer(200, [], to: head, [response], at: 9)?.updates == [])
  }

  @Test("the cache treats a 304 without Date as if its Date were the time at which the 304 was received")
  func date304() throws {
    let response = try stored([stale, "ETag: \"1\"", "Date: \(date(-500))"])
    let updated = try #require(
      try ForwardingOutcome.answer(304, ["ETag: \"1\""], to: .get(), [response], at: 9)?.replacement)
    #expect(updated.fields.all("Date") == [date(9)])
  }

  @Test(
    "after a 304 with no-store or Vary: *, the cache serves the stored response and then removes it",
    arguments: [
      "Cache-Control: no-store", "Vary: *",
    ])
  func removal(_ line: String) throws {
    let response = try stored([stale, "ETag: \"1\""])
    let outcome = try #require(
      try ForwardingOutcome.answer(304, ["ETag: \"1\"", line], to: .get(), [response], at: 9))
    #expect(outcome.served?.index == 0)
    #expect(outcome.updates == [StoredUpdate(index: 0, change: .remove)])
  }

  @Test(
    "if a 304 changes Vary, the stored response then matches only requests with the same values of the listed fields")
  func newVary() throws {
    let response = try stored([stale, "ETag: \"1\""])
    let request = try CacheRequest.get(["Foo: 1"])
    let updated = try #require(
      try ForwardingOutcome.answer(304, ["ETag: \"1\"", "Vary: Foo"], to: request, [response], at: 9)?.replacement)
    #expect(updated.isSelectable(for: request))
    #expect(!updated.isSelectable(for: try .get(["Foo: 2"])))
  }

  @Test(
    "a full response to a validation request replaces the stored response, and a 4xx response is passed on",
    arguments: [
      200, 206, 302, 404, 412, 501,
    ])
  func fullResponse(_ status: Int) throws {
    let response = try stored(["Cache-Control: max-age=0, stale-if-error=60", "ETag: \"1\""])
    let outcome = try #require(try ForwardingOutcome.answer(status, [], to: .get(), [response], at: 9))
    #expect(outcome.answer == .passOn)
    #expect(outcome.updates == [])
  }

  struct Failure: Sendable, CustomTestStringConvertible {
    var request: [String] = []
    var policy = CachePolicy.automatic
    var response: String
    var age: Int64 = 70
    let isServed: Bool

    var testDescription: String { "\(request) \(policy), stored \(response), age \(age)" }
  }

  @Test(
    "after a server or network error, the cache serves a stale response within stale-if-error unless forbidden",
    arguments: [
      Failure(response: "max-age=60, stale-if-error=10", isServed: true),
      Failure(response: "max-age=60, stale-if-error=9", isServed: false),
      Failure(response: "max-age=60, stale-if-error=x", isServed: false),
      Failure(response: "max-age=60", isServed: false),
      Failure(request: ["Cache-Control: stale-if-error=10"], response: "max-age=60", isServed: true),
      Failure(request: ["Cache-Control: stale-if-error=9"], response: "max-age=60", isServed: false),
      Failure(response: "max-age=60, stale-if-error=10, must-revalidate", isServed: false),
      Failure(response: "max-age=60, stale-if-error=10, no-cache", isServed: false),
      Failure(
        request: ["Cache-Control: no-cache"], response: "max-age=60, stale-if-error=10", isServed: false),
      Failure(
        request: ["Cache-Control: max-age=0"], response: "max-age=60, stale-if-error=10", age: 50, isServed: true),
      Failure(policy: .validate, response: "max-age=60, stale-if-error=10", isServed: false),
      Failure(policy: .reload, response: "max-age=60, stale-if-error=10", isServed: false),
    ])
  func staleIfError(_ row: Failure) throws {
    let response = try stored(["Cache-Control: \(row.response)"])
    let request = try CacheRequest.get(row.request, policy: row.policy)
    for status in [500, 502, 503, 504] {
      let outcome = try #require(try ForwardingOutcome.answer(status, [], to: request, [response], at: row.age))
      #expect((outcome.served != nil) == row.isServed)
      #expect(outcome.served.map { $0.response.fields.first("Age") == "\(row.age)" } ?? true)
    }
    let forwarding = try #require(CacheDecision.decide(request, [response], at: row.age).forwarding)
    let failure = ForwardingOutcome(
      ofFailure: forwarding, for: request, stored: [response], now: start + row.age)
    #expect((failure.served != nil) == row.isServed)
  }

  @Test("the cache doesn't serve an invalidated response after a server or network error")
  func invalidatedAfterError() throws {
    var response = try stored(["Cache-Control: max-age=60, stale-if-error=60"])
    response.state = .invalidated
    let outcome = try #require(try ForwardingOutcome.answer(500, [], to: .get(), [response], at: 1))
    #expect(outcome.answer == .passOn)
  }

  struct Head: Sendable {
    let answer: [String]
    let isUpdated: Bool
  }

  @Test(
    "a response to HEAD updates a stored GET response if validators and length are the same, and otherwise invalidates it",
    arguments: [
      Head(answer: ["ETag: \"1\"", "Content-Length: 1000"], isUpdated: true),
      Head(answer: [], isUpdated: true),
      Head(answer: ["ETag: \"2\""], isUpdated: false),
      Head(answer: ["ETag: W/\"1\""], isUpdated: false),
      Head(answer: ["Last-Modified: \(date())"], isUpdated: false),
      Head(answer: ["ETag: \"1\"", "Content-Length: 999"], isUpdated: false),
    ])
  func head(_ row: Head) throws {
    let response = try stored([stale, "ETag: \"1\"", "Content-Length: 1000"])
    let request = try CacheRequest.get(method: "HEAD")
    let outcome = try #require(
      try ForwardingOutcome.answer(200, row.answer + ["Foo: new"], to: request, [response], at: 1))
    #expect(outcome.answer == .passOn)
    if row.isUpdated {
      #expect(outcome.replacement?.fields.first("Foo") == "new")
    } else {
      #expect(outcome.updates == [StoredUpdate(index: 0, change: .invalidate)])
    }
  }

  @Test("a response to HEAD changes only the stored variants that the request can select")
  func headOfVariant() throws {
    let english = try CacheRequest.get(["Accept-Language: en"], method: "HEAD")
    let stored = try variants(["\"1\"", "\"2\"", "\"3\""])
    let outcome = try ForwardingOutcome.answer(200, ["ETag: \"4\""], to: english, stored, at: 9)
    #expect(outcome?.updates == [StoredUpdate(index: 1, change: .invalidate)])
  }

  @Test(
    "a response to HEAD makes an invalidated response valid again only if it has a validator of that response",
    arguments: [(["ETag: \"1\""], true), (["ETag: \"2\""], false), ([], false), (["Content-Length: 1000"], false)])
  func headOfInvalidated(answer: [String], isUpdated: Bool) throws {
    var response = try stored([stale, "ETag: \"1\"", "Content-Length: 1000"])
    response.state = .invalidated
    let outcome = try #require(
      try ForwardingOutcome.answer(200, answer, to: .get(method: "HEAD"), [response], at: 1))
    #expect((outcome.replacement?.state == .valid) == isUpdated)
    #expect(outcome.updates.map { $0.change == .invalidate } == [!isUpdated])
  }

  @Test("a response to HEAD with a different status code doesn't change the stored response")
  func headError() throws {
    let outcome = try ForwardingOutcome.answer(
      404, [], to: .get(method: "HEAD"), [stored([stale, "ETag: \"1\""])], at: 1)
    #expect(outcome?.updates == [])
  }

  @Test("a background revalidation omits the range and the conditions of the request that was served")
  func backgroundRevalidation() throws {
    let response = try stored(
      [
        "Cache-Control: max-age=60, stale-while-revalidate=60", "ETag: \"1\"", "Vary: Foo",
      ], to: .get(["Foo: 1"]))
    let request = try CacheRequest.get(
      ["Foo: 1", "Range: bytes=0-9", "If-None-Match: \"0\""], method: "HEAD")
    let forwarding = try #require(CacheDecision.decide(request, [response], at: 61).forwarding)
    #expect(forwarding.fields == Fields(["Foo: 1", "If-None-Match: \"1\""]))
  }
}
