// BodyLimitTests: which response heads declare a body that is longer than a request's limit, and the limit of `collect`.

import LupineOrigin
import LupineWire
import Testing

@testable import LupineEngine

@Suite("The limit of a response's body")
struct BodyLimitTests {
  private func declares(_ framing: BodyFraming, longerThan bytesMax: Int, status: Int = 200) -> Bool {
    ResponseHead(status: status, fields: Fields(), isContentDecoded: false).declaresBody(longerThan: bytesMax, framing)
  }

  @Test("a response head declares too long a body only if it has a length that exceeds the limit")
  func lengths() {
    #expect(declares(.length(101), longerThan: 100))
    #expect(!declares(.length(100), longerThan: 100))
    #expect(declares(.length(1), longerThan: 0))
    #expect(!declares(.length(0), longerThan: 0))
    #expect(declares(.length(1), longerThan: -1))
    #expect(declares(.length(.max), longerThan: Int.max - 1))
    for framing in [.none, .chunked, .untilClose] as [BodyFraming] { #expect(!declares(framing, longerThan: 0)) }
  }

  @Test(
    "the declared length of a redirect, a challenge or a refused range isn't compared with the limit")
  func statuses() {
    for status in [300, 302, 399, 401, 407, 416] {
      #expect(!declares(.length(9), longerThan: 1, status: status), "\(status)")
    }
    for status in [200, 206, 299, 400, 403, 404, 415, 417, 500] {
      #expect(declares(.length(9), longerThan: 1, status: status), "\(status)")
    }
  }

  @Test("by default, the body of a collected response has at most 64 MiB", .timeLimit(.minutes(10)))
  func collected() async throws {
    let limit = 64 * 1024 * 1024
    // The server closes the connection after the head, so a body of a permitted length is incomplete.
    for (length, code) in [(limit, EngineError.Code.connectionLost), (limit + 1, .bodyTooLarge)] {
      let origin = try OriginServer { peer in
        guard try peer.readRequest() != nil else { return }
        try peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n")
      }
      defer { origin.stop() }
      let request = EngineRequest(uri: try URI("\(origin.url)/"))
      let error = await #expect(throws: EngineError.self) { try await Engine().collect(request) }
      #expect(error?.code == code)
    }
  }
}
