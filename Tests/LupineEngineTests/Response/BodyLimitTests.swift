// BodyLimitTests: which response heads declare a body that is longer than a request's limit, and the engine's limits.

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

  @Test(
    "a request's own limit lowers the engine's limit of decoded bytes, but doesn't raise it",
    arguments: [
      (nil, 5, 5), (9, 5, 5), (5, 9, 5), (5, .max, 5), (nil, .max, nil), (9, 0, 0), (9, -1, 0),
    ] as [(UInt64?, Int, UInt64?)])
  func combined(engine: UInt64?, request: Int, expected: UInt64?) {
    #expect(CodingLimits(decodedBytesMax: engine).within(bodyBytesMax: request).decodedBytesMax == expected)
  }

  @Test("a response whose body is collected has at most 64 MiB, unless the request sets another limit")
  func collected() async throws {
    let origin = try OriginServer { peer in
      guard let request = try peer.readRequest() else { return }
      // The body is cut off, because only the declared length matters.
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(request.path.dropFirst())\r\n\r\nx")
    }
    defer { origin.stop() }
    let engine = try Engine()
    let limit = 64 << 20
    for (byteCount, own, isTooLong) in [
      (limit, nil, false), (limit + 1, nil, true), (limit + 1, limit + 1, false),
    ] as [(Int, Int?, Bool)] {
      var request = EngineRequest(uri: try URI("\(origin.url)/\(byteCount)"))
      if let own { request.bodyBytesMax = own }
      do throws(EngineError) {
        _ = try await engine.collect(request)
        Issue.record("A body that was cut off counted as complete.")
      } catch {
        #expect((error.code == .bodyTooLarge) == isTooLong, "\(byteCount)")
      }
    }
  }
}
