// SelectionTests: Vary, partitions, ranges and invalidation (RFC 9111 §4.1, §4.4; RFC 9110 §14).

import LupineWire
import Testing

@testable import LupineCache

@Suite struct SelectionTests {
  struct Vary: Sendable, CustomTestStringConvertible {
    var vary = "Foo"
    /// The field lines of the request that received the stored response.
    let first: [String]
    let second: [String]
    let matches: Bool

    var testDescription: String { "Vary: \(vary), \(first), \(second)" }
  }

  @Test(
    "the cache uses a response with Vary only for requests with equivalent values of the fields that Vary lists",
    arguments: [
      Vary(first: ["Foo: 1"], second: ["foo: 1"], matches: true),
      Vary(first: ["Foo: 1"], second: ["Foo: 2"], matches: false),
      Vary(first: ["Foo: 1"], second: [], matches: false),
      Vary(first: [], second: ["Foo: 1"], matches: false),
      Vary(first: ["Foo: "], second: [], matches: false),
      Vary(first: [], second: ["Bar: 1"], matches: true),
      Vary(vary: "foo, , BAR", first: ["Foo: 1", "Bar: 2"], second: ["Bar: 2", "Foo: 1"], matches: true),
      Vary(vary: "foo, , BAR", first: ["Foo: 1", "Bar: 2"], second: ["Bar: 3", "Foo: 1"], matches: false),
      // Field lines with the same name are combined. White space and case matter unless the field's grammar is known.
      Vary(first: ["Foo: 1", "Foo: 2"], second: ["Foo: 1, 2"], matches: true),
      Vary(first: ["Foo: 1, 2"], second: ["Foo: 2, 1"], matches: false),
      Vary(first: ["Foo: 1, 2"], second: ["Foo: 1,2"], matches: false),
      Vary(first: ["Foo: a"], second: ["Foo: A"], matches: false),
      Vary(vary: "Accept", first: ["Accept: a/b , c/d"], second: ["Accept: a/b,c/d"], matches: true),
      Vary(vary: "Accept", first: ["Accept: a/b;x=\"1,  2\""], second: ["Accept: a/b;x=\"1,2\""], matches: false),
      Vary(
        vary: "Accept-Language", first: ["Accept-Language: EN-us, de ; q=0.5"],
        second: ["Accept-Language: en-US,de;q=0.5"], matches: true),
      Vary(
        vary: "Accept-Language", first: ["Accept-Language: de;q=0.5, en;q=0.8"],
        second: ["Accept-Language: en;q=0.8, de;q=0.5"], matches: true),
      Vary(
        vary: "Accept-Language", first: ["Accept-Language: de;q=0.5, en;q=0.8"],
        second: ["Accept-Language: de;q=0.8, en;q=0.5"], matches: false),
      Vary(
        vary: "Accept-Language", first: ["Accept-Language: de, en"], second: ["Accept-Language: en, de"],
        matches: false),
      // Weights with the same meaning are equal. An invalid weight equals only itself.
      Vary(
        vary: "Accept-Language", first: ["Accept-Language: en;q=1.0, de;q=0.50, fr;q=0.000"],
        second: ["Accept-Language: en, de;q=0.5, fr;q=0"], matches: true),
      Vary(
        vary: "Accept-Language", first: ["Accept-Language: de;q=0.5"], second: ["Accept-Language: de;q=0.05"],
        matches: false),
      Vary(
        vary: "Accept-Language", first: ["Accept-Language: de;q=1.5"], second: ["Accept-Language: de"], matches: false),
      Vary(
        vary: "Accept-Encoding", first: ["Accept-Encoding: br, gzip;q=0.5, deflate"],
        second: ["Accept-Encoding: deflate, br, gzip;q=0.5"], matches: true),
      Vary(
        vary: "Accept-Encoding", first: ["Accept-Encoding: br, gzip;q=0"], second: ["Accept-Encoding: br, gzip"],
        matches: false),
      Vary(
        vary: "X-Forwarded-Proto", first: ["X-Forwarded-Proto: http,https"],
        second: ["X-Forwarded-Proto: http , https"], matches: true),
      Vary(
        vary: "Accept-Encoding", first: ["Accept-Encoding: gzip", "Accept-Encoding: br"],
        second: ["Accept-Encoding: GZIP,br"], matches: true),
    ])
  func vary(_ row: Vary) throws {
    let response = try stored(["Cache-Control: max-age=60", "Vary: \(row.vary)"], to: .get(row.first))
    let word = CacheDecision.decide(try .get(row.second), [response], at: 1).word
    #expect(word == (row.matches ? "fresh" : "forward: noVariant"))
  }

  @Test("for Vary, field values that differ only in bytes that aren't valid UTF-8 don't match")
  func varyBytes() throws {
    var first = try CacheRequest.get()
    first.fields.append(name: "Foo", valueBytes: [0xE4])
    var second = try CacheRequest.get()
    second.fields.append(name: "Foo", valueBytes: [0xF6])
    let response = try stored(["Cache-Control: max-age=60", "Vary: Foo"], to: first)
    #expect(CacheDecision.decide(first, [response], at: 1).word == "fresh")
    #expect(CacheDecision.decide(second, [response], at: 1).word == "forward: noVariant")
  }

  struct Partition: Sendable, CustomTestStringConvertible {
    var request: [String] = []
    var credentials = CacheRequest.OtherCredentials.none
    var response: [String] = []
    let isShared: Bool

    var testDescription: String { "\(request) \(credentials) \(response)" }
  }

  @Test(
    "if a response sets a cookie or its request had credentials, only the session that received the response can reuse it",
    arguments: [
      Partition(isShared: true),
      Partition(request: ["Authorization: Basic eA=="], isShared: false),
      Partition(request: ["Cookie: a=b"], isShared: false),
      Partition(credentials: .presented, isShared: false),
      Partition(response: ["Set-Cookie: a=b"], isShared: false),
      // The cookie isn't stored, but the body may be for one user.
      Partition(response: ["Set-Cookie: a=b", "Connection: Set-Cookie"], isShared: false),
      Partition(request: ["Cookie: a=b"], response: ["Cache-Control: public"], isShared: false),
    ])
  func partition(_ row: Partition) throws {
    var request = try CacheRequest.get(row.request, session: "first")
    request.otherCredentials = row.credentials
    let response = try stored(row.response + ["Cache-Control: max-age=60", "ETag: \"1\""], to: request)
    #expect(CacheDecision.decide(try .get(session: "first"), [response], at: 1).word == "fresh")
    let other = CacheDecision.decide(try .get(row.request, session: "second"), [response], at: 1)
    #expect(other.word == (row.isShared ? "fresh" : "forward: nothingStored"))
    // The stored entity tag isn't sent, because it may identify the other session's user.
    #expect(other.forwarding?.fields.contains("If-None-Match") != true)
  }

  @Test(
    "the cache doesn't share a response stored for one session, even if a request without credentials revalidates it")
  func partitionOfFreshened() throws {
    let response = try stored(["Cache-Control: max-age=0", "ETag: \"1\""], to: .get(["Cookie: a=b"]))
    let outcome = try ForwardingOutcome.answer(304, ["ETag: \"1\""], to: .get(), [response], at: 1)
    #expect(outcome?.replacement?.partition == .session("first"))
  }

  @Test(
    "a shared cached response that is revalidated with credentials, or by a 304 with Set-Cookie, is served to one session only"
  )
  func partitionAfterCredentials() throws {
    let response = try stored(["Cache-Control: max-age=0", "ETag: \"1\""])
    let answer = ["ETag: \"1\""]
    let confirmed = try ForwardingOutcome.answer(304, answer, to: .get(["Cookie: a=b"]), [response], at: 1)
    #expect(confirmed?.replacement?.partition == .session("first"))
    for lines in [["Set-Cookie: a=b"], ["Set-Cookie: a=b", "Connection: Set-Cookie"]] {
      let cookie = try ForwardingOutcome.answer(304, answer + lines, to: .get(), [response], at: 1)
      #expect(cookie?.replacement?.partition == .session("first"))
    }
  }

  struct RangeRow: Sendable, CustomTestStringConvertible {
    let lines: [String]
    let status: Int?
    var body = ServedResponse.Body.complete
    var contentRange: String?

    var testDescription: String { "\(lines)" }
  }

  @Test(
    "the cache serves a single range from a complete stored response of 1000 bytes",
    arguments: [
      RangeRow(lines: ["Range: bytes=0-9"], status: 206, body: .part(0..<10), contentRange: "bytes 0-9/1000"),
      RangeRow(lines: ["Range: BYTES=990-"], status: 206, body: .part(990..<1000), contentRange: "bytes 990-999/1000"),
      RangeRow(lines: ["Range: bytes=-1"], status: 206, body: .part(999..<1000), contentRange: "bytes 999-999/1000"),
      RangeRow(lines: ["Range: bytes=-2000"], status: 206, body: .part(0..<1000), contentRange: "bytes 0-999/1000"),
      RangeRow(
        lines: ["Range: bytes=999-999999999999999999999"], status: 206, body: .part(999..<1000),
        contentRange: "bytes 999-999/1000"),
      RangeRow(lines: ["Range: bytes=1000-"], status: 416, body: .none, contentRange: "bytes */1000"),
      RangeRow(lines: ["Range: bytes=-0"], status: 416, body: .none, contentRange: "bytes */1000"),
      RangeRow(lines: ["Range: bytes=9-0"], status: 200),
      RangeRow(lines: ["Range: bytes=a-b"], status: 200),
      RangeRow(lines: ["Range: bytes=-"], status: 200),
      RangeRow(lines: ["Range: bytes="], status: 200),
      RangeRow(lines: ["Range: lines=0-9"], status: 200),
      RangeRow(lines: ["Range: bytes=0-1, 5-6"], status: nil),
      RangeRow(lines: ["Range: bytes=0-1", "Range: bytes=5-6"], status: nil),
      RangeRow(
        lines: ["Range: bytes=0-9", "If-Range: \"1\""], status: 206, body: .part(0..<10),
        contentRange: "bytes 0-9/1000"),
      RangeRow(lines: ["Range: bytes=0-9", "If-Range: \"2\""], status: 200),
      RangeRow(lines: ["Range: bytes=0-9", "If-Range: W/\"1\""], status: 200),
      RangeRow(
        lines: ["Range: bytes=0-9", "If-Range: \(date(-9))"], status: 206, body: .part(0..<10),
        contentRange: "bytes 0-9/1000"),
      RangeRow(lines: ["Range: bytes=0-9", "If-Range: \(date(-8))"], status: 200),
    ])
  func range(_ row: RangeRow) throws {
    let response = try stored([
      "Cache-Control: max-age=60", "ETag: \"1\"", "Last-Modified: \(date(-9))", "Content-Length: 1000",
    ])
    let decision = CacheDecision.decide(try .get(row.lines), [response], at: 1)
    #expect(decision.hit?.response.status == row.status)
    guard row.status != nil else {
      #expect(decision.word == "forward: conditions")
      return
    }
    #expect(decision.hit?.response.body == row.body)
    #expect(decision.hit?.response.fields.first("Content-Range") == row.contentRange)
    if case .part(let part) = row.body {
      #expect(decision.hit?.response.fields.all("Content-Length") == ["\(part.count)"])
    }
  }

  @Test(
    "the cache serves no range for HEAD, from a decoded body, or from a stored response with a status other than 200")
  func rangeExceptions() throws {
    let request = try CacheRequest.get(["Range: bytes=0-9"])
    let lines = ["Cache-Control: max-age=60", "Content-Encoding: gzip"]
    let decision = StoreDecision(
      request, status: 200, fields: Fields(lines), times: ExchangeTimes(request: start, response: start),
      bodyForm: .decoded)
    let decoded = try #require(decision.stored?.withBody(byteCount: 1000))
    #expect(CacheDecision.decide(request, [decoded], at: 1).word == "forward: conditions")
    let whole = try stored(lines)
    #expect(CacheDecision.decide(request, [whole], at: 1).hit?.response.status == 206)
    let head = try CacheRequest.get(["Range: bytes=0-9"], method: "HEAD")
    #expect(CacheDecision.decide(head, [whole], at: 1).hit?.response.status == 200)
    let missing = try stored(lines, status: 404)
    #expect(CacheDecision.decide(request, [missing], at: 1).hit?.response.status == 404)
  }

  @Test(
    "a request that lacks the fields that sessions add selects responses with any values of them, but not of others")
  func sessionFields() throws {
    let lines = ["Cache-Control: max-age=60", "Vary: Accept-Encoding, X"]
    let response = try stored(lines, to: .get(["Accept-Encoding: br", "X: 1"]))
    for (lines, isHit) in [
      (["X: 1"], true), (["X: 1", "Accept-Encoding: br"], true), (["X: 1", "Accept-Encoding: gzip"], false),
      ([], false),
    ] {
      var request = try CacheRequest.get(lines)
      request.lacksSessionFields = true
      #expect((CacheDecision.decide(request, [response], at: 1).hit != nil) == isHit)
      let new = try stored(["Vary: Accept-Encoding, X"], to: request)
      #expect(response.isSuperseded(by: new, to: request) == isHit)
      #expect(new.selectingFields.selectors.map(\.name) == (lines.count > 1 ? ["accept-encoding", "x"] : ["x"]))
    }
  }

  @Test(
    "the digests of a response's content are served only with all of the content, but that of the representation always"
  )
  func digests() throws {
    let lines = ["ETag: \"1\"", "Content-Digest: sha-256=:a:", "Content-MD5: b", "Repr-Digest: sha-256=:c:"]
    let response = try stored(["Cache-Control: max-age=60"] + lines)
    for (request, method, status) in [
      ([], "GET", 200), (["Range: bytes=0-9"], "GET", 206), (["Range: bytes=1000-"], "GET", 416),
      (["If-None-Match: \"1\""], "GET", 304), ([], "HEAD", 200),
    ] {
      let hit = try #require(CacheDecision.decide(.get(request, method: method), [response], at: 1).hit)
      #expect(hit.response.status == status)
      let isWhole = hit.response.body == .complete
      for name in ["Content-Digest", "Content-MD5"] { #expect(hit.response.fields.contains(name) == isWhole) }
      #expect(hit.response.fields.contains("Repr-Digest"))
    }
  }

  @Test("the cache forwards a request for a range of a stale response without adding conditions")
  func staleRange() throws {
    let request = try CacheRequest.get(["Range: bytes=0-9"])
    let response = try stored(["Cache-Control: max-age=0", "ETag: \"1\""])
    #expect(CacheDecision.decide(request, [response], at: 1).forwarding?.fields == request.fields)
  }

  struct Invalidating: Sendable, CustomTestStringConvertible {
    let method: String
    var status = 200
    var lines: [String] = []
    let targets: [String]

    var testDescription: String { "\(method) \(status) \(lines)" }
  }

  private static let page = "https://origin.test/page"

  @Test(
    "a successful unsafe request invalidates its URI, and the same-origin URIs in Location and Content-Location",
    arguments: [
      Invalidating(method: "POST", targets: [page]),
      Invalidating(method: "PUT", targets: [page]),
      Invalidating(method: "DELETE", status: 204, targets: [page]),
      Invalidating(method: "PATCH", targets: [page]),
      Invalidating(method: "M-SEARCH", targets: [page]),
      Invalidating(method: "post", targets: [page]),
      Invalidating(method: "POST", status: 303, targets: [page]),
      Invalidating(method: "POST", status: 399, targets: [page]),
      Invalidating(method: "POST", status: 400, targets: []),
      Invalidating(method: "POST", status: 500, targets: []),
      Invalidating(method: "POST", status: 100, targets: []),
      Invalidating(method: "GET", targets: []),
      Invalidating(method: "HEAD", targets: []),
      Invalidating(method: "OPTIONS", targets: []),
      Invalidating(
        method: "POST", lines: ["Location: /a#x", "Content-Location: b?q"],
        targets: [page, "https://origin.test/a", "https://origin.test/b?q"]),
      Invalidating(
        method: "POST", lines: ["Location: https://ORIGIN.test:443/a"], targets: [page, "https://origin.test/a"]),
      Invalidating(method: "POST", lines: ["Location: https://other.test/a"], targets: [page]),
      Invalidating(method: "POST", lines: ["Location: http://origin.test/a"], targets: [page]),
      Invalidating(method: "POST", lines: ["Location: https://origin.test:8443/a"], targets: [page]),
      Invalidating(method: "POST", lines: ["Content-Location: //other.test/a"], targets: [page]),
      Invalidating(method: "POST", lines: ["Location: http://[x"], targets: [page]),
      Invalidating(method: "POST", lines: ["Location: /page"], targets: [page]),
    ])
  func invalidation(_ row: Invalidating) throws {
    let request = try CacheRequest.get(method: row.method)
    let targets = Invalidation.targets(of: request, status: row.status, fields: Fields(row.lines))
    #expect(targets.map(\.cacheKey.text) == row.targets)
  }

  @Test("the cache key of a stored response contains neither user information nor a fragment")
  func key() throws {
    #expect(try URI("HTTPS://user:pass@Origin.test:443/a?b#c").cacheKey.text == "https://origin.test/a?b")
  }
}
