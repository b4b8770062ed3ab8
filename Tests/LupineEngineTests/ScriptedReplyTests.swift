// ScriptedReplyTests: interim responses, trailers, and requests refused before sending. Misbehaviour+*.swift covers
// malformed replies.

import LupineEngine
import LupineOrigin
import Testing

@Suite struct ScriptedReplyTests {
  @Test("the engine delivers interim responses separately from the final response")
  func informational() async throws {
    let origin = try OriginServer { peer in
      guard try peer.readRequest() != nil else { return }
      try peer.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    }
    defer { origin.stop() }
    let record = try await Engine().record("\(origin.url)/")
    #expect(record.informational == [100, 103])
    #expect(record.head?.status == 200)
    #expect(record.text == "ok")
  }

  @Test("the engine delivers the response's trailer section")
  func trailers() async throws {
    let origin = try OriginServer { peer in
      guard try peer.readRequest() != nil else { return }
      try peer.beginChunked()
      try peer.chunk("body")
      try peer.endChunked(trailers: ["Checksum": "42"])
    }
    defer { origin.stop() }
    let record = try await Engine().record("\(origin.url)/")
    #expect(record.text == "body")
    #expect(record.trailers?.first("checksum") == "42")
  }

  @Test("the engine refuses a request that can't be serialized before anything is sent")
  func invalidRequests() async throws {
    let origin = try OriginServer.serving { _ in .text("never") }
    defer { origin.stop() }
    let engine = try Engine()
    var requests: [EngineRequest] = []
    for (method, name, value) in [
      ("GE T", "A", "b"), ("GET", "A:", "b"), ("GET", "A", "b\r\nEvil: 1"), ("GET", "A", "\0"),
    ] {
      requests.append(EngineRequest(method: method, uri: try URI("\(origin.url)/"), fields: [name: value]))
    }
    for request in requests {
      let record = await engine.record(request)
      #expect(record.error?.code == .invalidRequest)
      #expect(record.error?.progress == .nothingSent)
    }
    #expect(origin.connectionCount == 0)
  }
}
