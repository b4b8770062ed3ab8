// ReplayRuleTests: the complete table of failures after which a request is replayed.

import LupineWire
import Testing

@testable import LupineEngine

@Suite("ReplayRule")
struct ReplayRuleTests {
  private let origin = Origin(scheme: .http, host: "a", port: 80)

  @Test(
    "if a reused connection is lost, the client replays unsent requests, and idempotent requests without a response")
  func table() {
    let table: [(EngineError.Progress, isIdempotent: Bool, isAllowed: Bool)] = [
      (.nothingSent, true, true), (.nothingSent, false, true), (.sent, true, true), (.sent, false, false),
      (.responseBegan, true, false), (.responseBegan, false, false),
    ]
    for (progress, isIdempotent, isAllowed) in table {
      for phase in Phase.allCases {
        let reused = EngineError(.connectionLost, phase, origin, progress: progress, wasReused: true)
        #expect(
          ReplayRule.allows(reused, isIdempotent: isIdempotent, hasReplayableBody: true) == isAllowed,
          "\(progress) \(isIdempotent)")
        #expect(!ReplayRule.allows(reused, isIdempotent: isIdempotent, hasReplayableBody: false))
        let fresh = EngineError(.connectionLost, phase, origin, progress: progress, wasReused: false)
        #expect(
          !ReplayRule.allows(fresh, isIdempotent: isIdempotent, hasReplayableBody: true), "\(progress) \(isIdempotent)")
      }
    }
  }

  @Test(
    "the client doesn't replay a request after any failure other than a lost connection",
    arguments: EngineError.Code.allCases.filter { $0 != .connectionLost })
  func otherCodes(code: EngineError.Code) {
    let error = EngineError(code, .send, origin, progress: .nothingSent, wasReused: true)
    #expect(!ReplayRule.allows(error, isIdempotent: true, hasReplayableBody: true))
  }

  @Test(
    "for replays, the client considers only the methods of RFC 9110 §9.2.2 and RFC 10008, in exactly their spelling, as idempotent",
    arguments: [
      ("GET", true), ("HEAD", true), ("OPTIONS", true), ("TRACE", true), ("PUT", true), ("DELETE", true),
      ("QUERY", true), ("query", false), ("POST", false), ("PATCH", false), ("CONNECT", false), ("PURGE", false),
      ("get", false), ("", false),
    ])
  func methods(method: String, isIdempotent: Bool) throws {
    #expect(EngineRequest(method: method, uri: try URI("http://a/")).isIdempotent == isIdempotent)
  }
}
