// CacheMachineTests: the course of a request through a cache, as tables of events and expected answers.

import LupineWire
import Testing

@testable import LupineCache

/// A test vector for CacheMachine: a sequence of events with the expected answers, 60 seconds after the stored responses have
/// arrived.
///
/// Events: "memory NAME…" and "files NAME…" (a lookup has found the responses with these names), "no files", "unreadable" (the
/// response to serve), "stop waiting", "sent", "head STATUS [FIELD: VALUE | …]", "pass on", "body BYTES", "discard", "end
/// complete", "end outage", "end failed".
struct CacheHistory: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let request: [String]
  let policy: CachePolicy
  let revalidation: CacheMachine.Revalidation
  let mayWait: Bool
  let lines: [(event: String, answer: String)]

  init(
    _ name: String, fields request: [String] = [], policy: CachePolicy = .automatic,
    revalidation: CacheMachine.Revalidation = .inBackground, mayWait: Bool = true, _ lines: [(String, String)]
  ) {
    testDescription = name
    (self.request, self.policy, self.revalidation, self.mayWait) = (request, policy, revalidation, mayWait)
    self.lines = lines
  }

  private static let responses = [
    "fresh": ["Cache-Control: max-age=600"],
    "stale": ["Cache-Control: max-age=1", "ETag: \"1\""],
    "tolerant": ["Cache-Control: max-age=1, stale-if-error=600", "ETag: \"1\""],
    "lenient": ["Cache-Control: max-age=1, stale-while-revalidate=600", "ETag: \"1\""],
    "personal": ["Cache-Control: no-cache", "ETag: \"1\""],
  ]

  /// Returns the stored response with this name, or nil if the word isn't a name. "beginning" consists of the first 400 of 1000
  /// bytes.
  private static func response(_ name: String) throws -> StoredResponse? {
    guard name == "beginning" else { return try responses[name].map { try stored($0) } }
    let decision = StoreDecision(
      try .get(["Range: bytes=0-399"]), status: 206,
      fields: Fields(["Cache-Control: max-age=600", "ETag: \"1\"", "Content-Range: bytes 0-399/1000"]),
      times: ExchangeTimes(request: start, response: start), storesParts: true)
    return try #require(decision.stored).withAnnouncedBody
  }

  func run() throws {
    var cached = try CacheRequest.get(request, policy: policy)
    cached.completedBytesMax = .max
    var machine = CacheMachine(cached, revalidation, mayWait: mayWait)
    for (number, line) in lines.enumerated() {
      let words = line.event.split(separator: " ").map(String.init)
      let found = try words.dropFirst().compactMap { try Self.response($0) }
      let now = start + 60
      let answer =
        switch words[0] {
        case "memory": text(machine.foundInMemory(found, now: now))
        case "files": text(machine.found(found, now: now))
        case "no": text(machine.decideWithoutFiles(now: now))
        case "unreadable": text(machine.decideWithoutStored(now: now))
        case "stop": "\(machine.stopWaiting())"
        case "sent": machine.sent(now: now).map { text(sent: $0) } ?? "-"
        case "head":
          text(
            machine.received(
              status: try #require(Int(words[1])),
              Fields(
                words.dropFirst(2).split(separator: "|").map { $0.joined(separator: " ") }),
              to: machine.request, now: now))
        case "body": "\(machine.received(byteCount: try #require(Int(words[1]))))"
        case "discard": text(machine.discardBody())
        case "pass": text(machine.passOn())
        case "end": text(machine.ended(try #require(Self.endings[words[1]]), now: now))
        default: "unknown event"
        }
      #expect(answer == line.answer, "line \(number + 1): \(line.event)")
    }
  }

  private static let endings: [String: CacheMachine.Ending] = [
    "complete": .complete, "outage": .outage, "failed": .failed,
  ]

  private func text(_: Void) -> String { "" }

  private func text(sent fields: Fields) -> String {
    if fields.contains("If-Range") { return fields.first("Range") ?? "no range" }
    return fields.contains("If-None-Match") ? "conditional" : "plain"
  }

  private func text(_ action: CacheMachine.Action?) -> String {
    switch action {
    case .lookUp(let isLimited): isLimited ? "look up" : "look up without limit"
    case .serve(let served):
      "serve \(served.index) \(text(served.reason))" + (served.updates.isEmpty ? "" : ", updated")
        + (served.revalidation == nil ? "" : ", revalidate")
    case .send(_, let mayWait): mayWait ? "send or wait" : "send"
    case .fail: "fail"
    case .timeOut: "time out"
    case .abort: "abort"
    case nil: "-"
    }
  }

  private func text(_ reason: CacheMachine.Served.Reason) -> String {
    switch reason {
    case .hit(let reason): "\(reason)"
    case .validated: "validated"
    case .originFailed: "origin failed"
    }
  }

  private func text(_ reception: CacheMachine.Reception?) -> String {
    switch reception {
    case .passOn: "pass on"
    case .complete(let combination, let index, _): "complete \(index) \(combination.prefix)"
    case .withhold(_, let confirmed): confirmed == nil ? "withhold" : "confirm"
    case nil: "-"
    }
  }
}

extension CacheHistory {
  static let lookups = [
    CacheHistory(
      "a fresh response in memory is served without a lookup in files", [("memory fresh", "serve 0 fresh")]),
    CacheHistory(
      "files are looked up if memory has nothing, and their result decides",
      [("memory", "look up"), ("files fresh", "serve 0 fresh"), ("no files", "-"), ("files", "-")]),
    CacheHistory(
      "without files, the responses in memory decide, and a later result has no effect",
      [("memory stale", "look up"), ("no files", "send or wait"), ("files fresh", "-"), ("sent", "conditional")]),
    CacheHistory(
      "a request that ignores stored responses looks up no files",
      policy: .reload, [("memory stale", "send"), ("sent", "plain"), ("sent", "-")]),
    CacheHistory(
      "if only a stored response may answer, the lookup in files has no limit, and without a response the request fails",
      policy: .storedOnly, [("memory", "look up without limit"), ("files", "fail"), ("sent", "-")]),
    CacheHistory(
      "only-if-cached is answered with a 504 if nothing is stored",
      fields: ["Cache-Control: only-if-cached"], [("memory", "look up without limit"), ("no files", "time out")]),
    CacheHistory(
      "if the chosen response can't be read, the request is sent as if nothing were stored",
      [("files fresh", "serve 0 fresh"), ("unreadable", "send"), ("sent", "plain")]),
  ]

  static let waits = [
    CacheHistory(
      "a request whose stored response is stale may wait for another request, but only once",
      [
        ("files stale", "send or wait"), ("stop waiting", "true"), ("stop waiting", "false"),
        ("memory stale", "look up"),
        ("files stale", "send"), ("sent", "conditional"), ("stop waiting", "false"),
      ]),
    CacheHistory("a request without stored responses doesn't wait", [("files", "send")]),
    CacheHistory("a request whose response must be validated each time doesn't wait", [("files personal", "send")]),
    CacheHistory("a range request doesn't wait", fields: ["Range: bytes=0-1"], [("files stale", "send")]),
    CacheHistory("a streamed request doesn't wait", mayWait: false, [("files stale", "send")]),
  ]

  static let validations = [
    CacheHistory(
      "a 304 serves the stored response after the end of the exchange, with its update",
      [
        ("files stale", "send or wait"), ("sent", "conditional"), ("head 304 ETag: \"1\"", "confirm"),
        ("head 200", "-"),
        ("end complete", "serve 0 validated, updated"), ("end complete", "-"),
      ]),
    CacheHistory(
      "a 304 serves the stored response even if the exchange fails afterward",
      [
        ("files stale", "send or wait"), ("sent", "conditional"), ("head 304 ETag: \"1\"", "confirm"),
        ("end failed", "serve 0 validated, updated"),
      ]),
    CacheHistory(
      "if the confirmed response can't be read, the request is sent again without conditions",
      [
        ("files stale", "send or wait"), ("sent", "conditional"), ("head 304 ETag: \"1\"", "confirm"),
        ("end complete", "serve 0 validated, updated"), ("unreadable", "send"), ("sent", "plain"),
        ("head 200", "pass on"), ("end complete", "-"),
      ]),
    CacheHistory(
      "a 304 with an unknown entity tag leads to another request without conditions",
      [
        ("files stale", "send or wait"), ("sent", "conditional"), ("head 304 ETag: \"2\"", "withhold"),
        ("end complete", "send"), ("sent", "plain"), ("head 200", "pass on"), ("end complete", "-"),
      ]),
    CacheHistory(
      "a new response is passed on",
      [("files stale", "send or wait"), ("sent", "conditional"), ("head 200", "pass on"), ("end complete", "-")]),
    CacheHistory(
      "an untrusted 304 is passed on, and the stored response isn't served",
      [
        ("files stale", "send or wait"), ("sent", "conditional"), ("head 304 ETag: \"1\"", "confirm"), ("pass on", ""),
        ("end complete", "-"),
      ]),
    CacheHistory(
      "a response that may be served while it is revalidated is served at once",
      [("memory lenient", "serve 0 staleWhileRevalidate, revalidate")]),
    CacheHistory(
      "without requests in the background, such a response is validated before it is served, and the request doesn't wait",
      revalidation: .beforeServing,
      [
        ("files lenient", "send"), ("sent", "conditional"), ("head 304 ETag: \"1\"", "confirm"),
        ("end complete", "serve 0 validated, updated"),
      ]),
  ]

  private static let rest = "head 206 ETag: \"1\" | Content-Range: bytes 400-999/1000 | Cache-Control: max-age=60"

  static let completions = [
    CacheHistory(
      "the caller receives a stored beginning and the rest, which may arrive in pieces",
      [
        ("files beginning", "send or wait"), ("sent", "bytes=400-"), (rest, "complete 0 0..<400"),
        ("body 1", "true"), ("body 599", "true"), ("head 200", "-"), ("end complete", "-"), ("end complete", "-"),
      ]),
    CacheHistory(
      "a beginning in memory is completed if the files have no longer one",
      [
        ("memory beginning", "look up"), ("no files", "send or wait"), ("sent", "bytes=400-"),
        (rest, "complete 0 0..<400"),
      ]),
    CacheHistory(
      "a rest that is longer than announced isn't passed on",
      [
        ("files beginning", "send or wait"), ("sent", "bytes=400-"), (rest, "complete 0 0..<400"),
        ("body 600", "true"), ("body 1", "false"), ("end failed", "-"),
      ]),
    CacheHistory(
      "the caller gets an error if the rest is shorter than announced",
      [
        ("files beginning", "send or wait"), ("sent", "bytes=400-"), (rest, "complete 0 0..<400"),
        ("body 599", "true"), ("end complete", "abort"),
      ]),
    CacheHistory(
      "an outage in the middle of the rest is passed on",
      [
        ("files beginning", "send or wait"), ("sent", "bytes=400-"), (rest, "complete 0 0..<400"),
        ("body 599", "true"), ("end outage", "-"),
      ]),
    CacheHistory(
      "the length of a rest that the caller doesn't want doesn't matter",
      [
        ("files beginning", "send or wait"), ("sent", "bytes=400-"), (rest, "complete 0 0..<400"), ("discard", ""),
        ("body 601", "true"), ("end complete", "-"),
      ]),
    CacheHistory(
      "a rest with a Content-Length that contradicts its Content-Range leads to a request without a range",
      [
        ("files beginning", "send or wait"), ("sent", "bytes=400-"), (rest + " | Content-Length: 599", "withhold"),
        ("end complete", "send"), ("sent", "plain"), ("head 200", "pass on"), ("body 2000", "true"),
        ("end complete", "-"),
      ]),
    CacheHistory(
      "if the beginning can't be read, the request is sent without a range",
      [("files beginning", "send or wait"), ("unreadable", "send"), ("sent", "plain")]),
    CacheHistory(
      "a new version is passed on",
      [
        ("files beginning", "send or wait"), ("sent", "bytes=400-"), ("head 200 ETag: \"2\"", "pass on"),
        ("body 2000", "true"), ("end complete", "-"),
      ]),
    CacheHistory(
      "a request with credentials doesn't complete a part that was received without them",
      fields: ["Authorization: a"], [("files beginning", "send or wait"), ("sent", "plain")]),
  ]

  static let failures = [
    CacheHistory(
      "a stale response is served after an outage or a server error if it allows that",
      [("files tolerant", "send or wait"), ("sent", "conditional"), ("end outage", "serve 0 origin failed")]),
    CacheHistory(
      "a stale response that allows it is served after the end of a server's error",
      [
        ("files tolerant", "send or wait"), ("sent", "conditional"), ("head 503", "withhold"),
        ("end complete", "serve 0 origin failed"),
      ]),
    CacheHistory(
      "other failures, such as a refused certificate, are passed on",
      [("files tolerant", "send or wait"), ("sent", "conditional"), ("end failed", "-")]),
    CacheHistory(
      "a stale response that doesn't allow it isn't served after an outage",
      [("files stale", "send or wait"), ("sent", "conditional"), ("end outage", "-"), ("head 200", "-")]),
    CacheHistory(
      "an outage in the middle of a response is passed on",
      [
        ("files tolerant", "send or wait"), ("sent", "conditional"), ("head 200", "pass on"), ("end outage", "-"),
      ]),
  ]
}

@Suite("The decisions of a cache's machine after sequences of events")
struct CacheMachineTests {
  @Test(
    "a cache looks for stored responses in memory and in files, as the history expects", arguments: CacheHistory.lookups
  )
  func lookups(_ history: CacheHistory) throws { try history.run() }

  @Test("a request waits for the response to another one, as the history expects", arguments: CacheHistory.waits)
  func waits(_ history: CacheHistory) throws { try history.run() }

  @Test("a stored response is validated as the history expects", arguments: CacheHistory.validations)
  func validations(_ history: CacheHistory) throws { try history.run() }

  @Test("a stored beginning is completed as the history expects", arguments: CacheHistory.completions)
  func completions(_ history: CacheHistory) throws { try history.run() }

  @Test("a failure of the origin is answered as the history expects", arguments: CacheHistory.failures)
  func failures(_ history: CacheHistory) throws { try history.run() }
}
