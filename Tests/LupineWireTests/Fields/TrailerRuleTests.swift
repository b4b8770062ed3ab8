// TrailerRuleTests: the fields that a request may send after its body.

import LupineWire
import Testing

@Suite("TrailerRule")
struct TrailerRuleTests {
  @Test(
    "fields for framing, routing, modifiers, credentials and the content's interpretation aren't sent after the body",
    arguments: [
      "Connection", "content-length", "Keep-Alive", "Proxy-Connection", "TE", "Trailer", "TRANSFER-ENCODING", "Upgrade",
      "Host",
      "Max-Forwards", "Via", "Cache-Control", "Expect", "If-Match", "If-Modified-Since", "If-None-Match", "If-Range",
      "If-Unmodified-Since", "Pragma", "Range", "Authorization", "Cookie", "Cookie2", "Proxy-Authenticate",
      "Proxy-Authorization", "Set-Cookie", "WWW-Authenticate", "Content-Disposition", "Content-Encoding",
      "Content-Language",
      "Content-Location", "Content-Range", "Content-Type", "", "a b", "a:", "é", "a\r\nb",
    ])
  func refused(name: String) {
    #expect(!TrailerRule.permits(name))
  }

  @Test(
    "fields that describe the sent bytes may follow the body",
    arguments: ["Content-Digest", "Repr-Digest", "Digest", "ETag", "Server-Timing", "X-Checksum", "grpc-status"])
  func permitted(name: String) {
    #expect(TrailerRule.permits(name))
  }

  @Test("only announced fields follow the body, in any case, and their values can't end a line")
  func lines() throws {
    let lines = try TrailerRule.lines(of: ["X-Sum": "1", "x-other": "2"], announced: ["x-sum", "X-OTHER"])
    #expect(String(decoding: lines, as: UTF8.self) == "X-Sum: 1\r\nx-other: 2\r\n")
    #expect(try TrailerRule.lines(of: Fields(), announced: []).isEmpty)
    #expect(throws: WireError.trailerNotAnnounced("X-Sum")) {
      try TrailerRule.lines(of: ["X-Sum": "1"], announced: ["X"])
    }
    #expect(throws: WireError.trailerNotPermitted("Cookie")) {
      try TrailerRule.lines(of: ["Cookie": "1"], announced: ["Cookie"])
    }
    #expect(throws: WireError.invalidRequestFieldValue(name: "X", byte: 0x0A)) {
      try TrailerRule.lines(of: ["X": "1\nHost: a"], announced: ["X"])
    }
  }
}
