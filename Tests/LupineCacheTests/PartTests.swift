// PartTests: stored parts of representations (RFC 9111 §3.3, §3.4; RFC 9110 §15.3.7).

import LupineWire
import Testing

@testable import LupineCache

@Suite struct PartTests {
  /// Returns the cache's decision about a 206 with the bytes of a representation of 1000 bytes.
  private func decide(
    _ range: ClosedRange<Int>, _ lines: [String] = ["ETag: \"1\""], to request: [String] = ["Range: bytes=0-"],
    bodyForm: StoredResponse.BodyForm = .received, at seconds: Int64 = 0
  ) throws -> StoreDecision {
    StoreDecision(
      try .get(request), status: 206,
      fields: Fields(
        ["Cache-Control: max-age=60", "Content-Range: bytes \(range.lowerBound)-\(range.upperBound)/1000"] + lines),
      times: ExchangeTimes(request: start + seconds, response: start + seconds), bodyForm: bodyForm, storesParts: true)
  }

  /// Returns a stored part of a representation of 1000 bytes.
  private func part(
    _ range: ClosedRange<Int>, _ lines: [String] = ["ETag: \"1\""], at seconds: Int64 = 0
  ) throws -> StoredResponse {
    try #require(try decide(range, lines, at: seconds).stored).withBody(byteCount: UInt64(range.count))
  }

  @Test("a part is stored only if its position is known, nothing decodes it, and the owner supports parts")
  func storing() throws {
    #expect(try decide(0...9).stored?.status == 206)
    #expect(try decide(0...9, to: []).refusal == .status)
    #expect(try decide(0...9, ["Content-Encoding: gzip"]).refusal == .status)
    #expect(try decide(0...9, bodyForm: .decoded).refusal == .status)
    #expect(try decide(0...9, ["Content-Range: bytes 0-9/1000"]).refusal == .status)
    for value in ["bytes 0-9/*", "bytes 9-0/1000", "bytes */1000", "lines 0-9/1000"] {
      let decision = StoreDecision(
        try .get(["Range: bytes=0-9"]), status: 206,
        fields: Fields(["Cache-Control: max-age=60", "Content-Range: \(value)"]),
        times: ExchangeTimes(request: start, response: start), storesParts: true)
      #expect(decision.refusal == .status, "\(value)")
    }
    let request = try CacheRequest.get(["Range: bytes=0-9"])
    let lines = ["Cache-Control: max-age=60", "Content-Range: bytes 0-9/1000"]
    #expect(StoreDecision.decide(lines, status: 206, to: request).refusal == .status)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let lines: [String]
    var method = "GET"
    /// The positions in the stored body of the bytes that are served, or nil if the request is forwarded.
    var body: Range<UInt64>?
    var contentRange: String?

    var testDescription: String { "\(method) \(lines)" }
  }

  @Test(
    "a stored part answers only requests for a single range that is wholly within it",
    arguments: [
      Row(lines: ["Range: bytes=100-199"], body: 0..<100, contentRange: "bytes 100-199/1000"),
      Row(lines: ["Range: bytes=150-159"], body: 50..<60, contentRange: "bytes 150-159/1000"),
      Row(
        lines: ["Range: bytes=150-159", "If-Range: \"1\""], body: 50..<60, contentRange: "bytes 150-159/1000"),
      Row(lines: ["Range: bytes=150-159", "If-Range: \"2\""]),
      Row(lines: ["Range: bytes=99-150"]), Row(lines: ["Range: bytes=150-200"]), Row(lines: ["Range: bytes=150-"]),
      Row(lines: ["Range: bytes=-50"]), Row(lines: ["Range: bytes=0-9"]), Row(lines: ["Range: bytes=1000-"]),
      Row(lines: ["Range: bytes=110-119, 130-139"]), Row(lines: ["Range: lines=150-159"]), Row(lines: []),
      Row(lines: ["Range: bytes=150-159", "If-None-Match: \"1\""]),
      Row(lines: ["Range: bytes=150-159"], method: "HEAD"),
    ])
  func serving(_ row: Row) throws {
    let decision = CacheDecision.decide(try .get(row.lines, method: row.method), [try part(100...199)], at: 1)
    #expect(decision.hit?.response.status == (row.body == nil ? nil : 206))
    #expect(decision.hit?.response.body == row.body.map { .part($0) })
    #expect(decision.hit?.response.fields.first("Content-Range") == row.contentRange)
    #expect(decision.hit?.response.fields.first("Content-Length") == row.body.map { "\($0.count)" })
    // The tag of a part isn't sent: a 304 would confirm a representation that the cache doesn't have.
    #expect(decision.forwarding?.nominated.isEmpty != false)
  }

  @Test("a part whose body has another length than its Content-Range says answers no request")
  func wrongLength() throws {
    let short = try part(100...199).withBody(byteCount: 99)
    #expect(CacheDecision.decide(try .get(["Range: bytes=150-159"]), [short], at: 1).hit == nil)
    #expect(try part(200...299).combined(with: short) == nil)
  }

  @Test("the last bytes of a representation are served from a part that contains them")
  func suffix() throws {
    let decision = CacheDecision.decide(try .get(["Range: bytes=-5"]), [try part(900...999)], at: 1)
    #expect(decision.hit?.response.body == .part(95..<100))
  }

  @Test("a stale part isn't served while it is revalidated, because a part can't be validated")
  func staleWhileRevalidate() throws {
    let lenient = try part(100...199, ["ETag: \"1\"", "Cache-Control: stale-while-revalidate=600"])
    let decision = CacheDecision.decide(try .get(["Range: bytes=150-159"]), [lenient], at: 61)
    #expect(decision.word == "forward: stale")
  }

  @Test("a newer part replaces the parts of its version that it contains, and everything of other versions")
  func superseding() throws {
    let request = try CacheRequest.get(["Range: bytes=0-"])
    let whole = try stored(["Cache-Control: max-age=60", "ETag: \"1\""])
    let new = try part(100...199)
    #expect(try part(120...130).isSuperseded(by: new, to: request))
    #expect(try !part(150...250).isSuperseded(by: new, to: request))
    #expect(!whole.isSuperseded(by: new, to: request))
    #expect(try part(500...600).isSuperseded(by: whole, to: request))
    for lines in [["ETag: \"2\""], ["ETag: W/\"1\""], []] {
      #expect(try part(500...600).isSuperseded(by: part(100...199, lines), to: request))
      #expect(try whole.isSuperseded(by: part(100...199, lines), to: request))
    }
  }

  @Test("parts are combined only if they adjoin or overlap and have the same strong entity tag")
  func combining() throws {
    let first = try part(100...199, ["ETag: \"1\"", "A: 1", "B: 1", "Age: 5"])
    let second = try part(150...299, ["ETag: \"1\"", "A: 2"], at: 7)
    let union = try #require(second.combined(with: first))
    #expect(union.prefix == 0..<50 && union.suffix == 100..<100)
    #expect(union.response.part?.range == 100..<300 && union.response.times == second.times)
    // The newer response's fields replace the others, except for Content-Range and Content-Length.
    #expect(union.response.fields.all("A") == ["2"] && union.response.fields.all("B") == ["1"])
    #expect(!union.response.fields.contains("Age"))
    #expect(union.response.fields.all("Content-Range") == ["bytes 100-299/1000"])
    #expect(union.response.fields.all("Content-Length") == ["200"])
    let inner = try #require(try part(120...129).combined(with: first))
    #expect(inner.prefix == 0..<20 && inner.suffix == 30..<100 && inner.response.part?.range == 100..<200)

    #expect(try part(200...299).combined(with: first) != nil)
    #expect(try part(201...299).combined(with: first) == nil)
    for lines in [["ETag: \"2\""], ["ETag: W/\"1\""], [], ["ETag: \"1\"", "Set-Cookie: a=b"]] {
      #expect(try part(200...299, lines).combined(with: first) == nil)
    }
    var invalidated = first
    invalidated.state = .invalidated
    #expect(try part(200...299).combined(with: invalidated) == nil)
  }

  @Test("a combined part or response has no digest of one part's content, but keeps the digest of the representation")
  func digests() throws {
    let lines = ["ETag: \"1\"", "Content-Digest: sha-256=:a:", "Content-MD5: b", "Repr-Digest: sha-256=:c:"]
    let first = try part(0...399, lines)
    for last in [599, 999] {
      let fields = try #require(try part(400...last, lines).combined(with: first)).response.fields
      #expect(!fields.contains("Content-Digest") && !fields.contains("Content-MD5") && fields.contains("Repr-Digest"))
    }
  }

  @Test("parts that are the whole representation together are combined to a 200")
  func completing() throws {
    let union = try #require(try part(400...999).combined(with: part(0...399)))
    #expect(union.response.status == 200 && union.response.bodyByteCount == 1000)
    #expect(!union.response.fields.contains("Content-Range"))
    #expect(union.response.fields.all("Content-Length") == ["1000"])
    // A part renews a complete response of the same version.
    let whole = try stored(["Cache-Control: max-age=1", "ETag: \"1\""])
    let renewed = try #require(try part(400...499, at: 50).combined(with: whole))
    #expect(renewed.response.status == 200 && renewed.prefix == 0..<400 && renewed.suffix == 500..<1000)
    #expect(renewed.response.isFresh(now: start + 100))
    let other = try stored(["ETag: \"1\""]).withBody(byteCount: 999)
    #expect(try part(400...499).combined(with: other) == nil)
  }

  @Test("a stored beginning is completed by a request for the rest, with If-Range, and only from the same version")
  func completion() throws {
    var request = try CacheRequest.get()
    request.completedBytesMax = .max
    let answers: [([String], Int, String)] = [
      (["Content-Range: bytes 400-999/1000", "ETag: \"1\""], 206, "complete"),
      (["Content-Range: bytes 400-999/1000", "ETag: \"1\"", "Content-Length: 600"], 206, "complete"),
      (["Content-Range: bytes 400-999/1000", "ETag: \"1\"", "Content-Length: 599"], 206, "again"),
      (["Content-Range: bytes 400-998/1000", "ETag: \"1\""], 206, "again"),
      (["Content-Range: bytes 401-999/1000", "ETag: \"1\""], 206, "again"),
      (["Content-Range: bytes 400-999/1001", "ETag: \"1\""], 206, "again"),
      (["Content-Range: bytes 400-999/1000", "ETag: \"2\""], 206, "again"),
      (["Content-Range: bytes 400-999/1000"], 206, "again"),
      (["Content-Range: bytes 400-999/1000", "ETag: \"1\"", "Cache-Control: no-store"], 206, "again"),
      (["Content-Range: bytes */300"], 416, "again"), (["ETag: \"2\""], 200, "pass on"), ([], 503, "pass on"),
    ]
    for (lines, status, expected) in answers {
      var machine = CacheMachine(request, .inBackground, mayWait: false)
      let now = start + 1
      guard case .send = machine.found([try part(0...399)], now: now) else {
        Issue.record("the request isn't sent")
        return
      }
      let sent = machine.sent(now: now)
      let fields = try #require(sent)
      #expect(fields.all("Range") == ["bytes=400-"] && fields.all("If-Range") == ["\"1\""])
      #expect(!fields.contains("If-None-Match"))
      switch machine.received(status: status, Fields(["Cache-Control: max-age=60"] + lines), to: request, now: now) {
      case .complete(let combination, index: 0, _):
        #expect(expected == "complete" && combination.response.status == 200 && combination.prefix == 0..<400)
      case .withhold:
        #expect(expected == "again", "\(lines)")
        // The request is sent again, without a range.
        #expect(machine.ended(.complete, now: now) == .send(Fields(), mayWait: false))
      case .passOn: #expect(expected == "pass on", "\(lines)")
      case .complete, nil: Issue.record("\(lines)")
      }
    }
  }

  @Test("of several stored beginnings of the current version, the longest is completed")
  func longestBeginning() throws {
    var request = try CacheRequest.get()
    request.completedBytesMax = .max
    let parts = [
      try part(0...99, at: 5), try part(0...499), try part(0...899, ["ETag: \"2\""]), try part(0...299, at: 3),
    ]
    let forwarding = CacheDecision.decide(request, parts, at: 6).forwarding
    #expect(forwarding?.completed == 1 && forwarding?.fields.first("Range") == "bytes=500-")
  }

  @Test("a beginning that is too long for the caller gives way to a shorter one of its version, but of no older one")
  func longestBeginningThatFits() throws {
    let parts = [try part(0...499, at: 5), try part(0...299), try part(0...99, ["ETag: \"2\""])]
    for (bytesMax, completed) in [(500, 0), (499, 1), (300, 1), (299, nil)] as [(UInt64, Int?)] {
      var request = try CacheRequest.get()
      request.completedBytesMax = bytesMax
      #expect(CacheDecision.decide(request, parts, at: 6).forwarding?.completed == completed, "\(bytesMax)")
    }
  }

  @Test(
    "a stored part isn't completed if the caller demands something else, or if it isn't a beginning with a strong tag")
  func noCompletion() throws {
    func fields(_ lines: [String], policy: CachePolicy = .automatic, _ stored: StoredResponse) throws -> Fields? {
      var request = try CacheRequest.get(lines, policy: policy)
      request.completedBytesMax = .max
      return CacheDecision.decide(request, [stored], at: 1).forwarding?.fields
    }
    let beginning = try part(0...399)
    #expect(try fields([], beginning)?.contains("If-Range") == true)
    for lines in [["Cache-Control: no-cache"], ["Pragma: no-cache"], ["If-None-Match: \"1\""], ["Range: bytes=0-500"]] {
      #expect(try fields(lines, beginning)?.contains("If-Range") == false)
    }
    for policy in [CachePolicy.reload, .validate, .storedElseLoad] {
      #expect(try fields([], policy: policy, beginning)?.contains("If-Range") == false)
    }
    for other in [try part(1...399), try part(0...399, ["ETag: W/\"1\""]), try part(0...399, [])] {
      #expect(try fields([], other)?.contains("If-Range") == false)
    }
    #expect(CacheDecision.decide(try .get(), [beginning], at: 1).forwarding?.fields.contains("Range") == false)
  }
}
