// What the engine makes of replies that no well-behaved server sends.

import LupineEngine
import LupineOrigin
import Testing

@Suite struct ScriptedReplyTests {
  /// A reply, whether the origin closes behind it, and the error that it has to lead to.
  struct Broken: Sendable, CustomTestStringConvertible {
    let name: String
    let reply: String
    let code: EngineError.Code
    var testDescription: String { name }
  }

  static let broken = [
    Broken(name: "nothing", reply: "", code: .connectionLost),
    Broken(name: "half a head", reply: "HTTP/1.1 200 OK\r\nContent-", code: .connectionLost),
    Broken(name: "another protocol", reply: "SSH-2.0-OpenSSH_9.2\r\n", code: .malformedResponse),
    Broken(name: "HTTP/2", reply: "HTTP/2 200\r\n\r\n", code: .malformedResponse),
    Broken(name: "a body cut short", reply: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", code: .connectionLost),
    Broken(
      name: "chunks cut short", reply: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
      code: .connectionLost),
    Broken(
      name: "two lengths", reply: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
      code: .malformedResponse),
    Broken(
      name: "a chunk size that overflows",
      reply: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n", code: .malformedResponse),
    Broken(
      name: "an unknown coding", reply: "HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\nContent-Length: 1\r\n\r\nx",
      code: .decodingFailed),
    Broken(
      name: "gzip that isn't", reply: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd",
      code: .decodingFailed),
    Broken(name: "101 unasked", reply: "HTTP/1.1 101 Switching Protocols\r\n\r\n", code: .malformedResponse),
    Broken(
      name: "endless interim responses",
      reply: String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 17), code: .malformedResponse),
    Broken(
      name: "an endless head", reply: "HTTP/1.1 200 OK\r\nA: " + String(repeating: "a", count: 70_000),
      code: .malformedResponse),
  ]

  @Test("a broken reply is one error, and the connection is given up", arguments: broken)
  func refuses(_ broken: Broken) async throws {
    let origin = try OriginServer { peer in
      guard try peer.readRequest() != nil else { return }
      try peer.send(broken.reply)
    }
    defer { origin.stop() }
    let record = try await Engine().record("\(origin.url)/")
    #expect(record.error?.code == broken.code)
    #expect(record.finishCount == 1)
    #expect(record.error?.description.contains(origin.url) == true)
  }

  @Test("interim responses are told apart from the final one")
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

  @Test("trailers are handed over")
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

  @Test("bytes behind a response never reach the next request")
  func poisonedConnection() async throws {
    let origin = try OriginServer { peer in
      guard try peer.readRequest() != nil else { return }
      if peer.connectionIndex == 0 {
        try peer.send(
          "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngoodHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
        _ = try peer.awaitClose()
      } else {
        try peer.respond(body: Array("fine".utf8))
      }
    }
    defer { origin.stop() }
    let engine = try Engine()
    let first = try await engine.record("\(origin.url)/1")
    let second = try await engine.record("\(origin.url)/2")
    #expect(first.text == "good")
    #expect(second.text == "fine")
    #expect(second.metrics?.isReusedConnection == false)
    #expect(origin.connectionCount == 2)
  }

  @Test("a body until the connection closes is complete, and the connection isn't kept")
  func closeDelimited() async throws {
    let origin = try OriginServer { peer in
      guard try peer.readRequest() != nil else { return }
      try peer.send("HTTP/1.1 200 OK\r\n\r\nall of it")
    }
    defer { origin.stop() }
    let record = try await Engine().record("\(origin.url)/")
    #expect(record.text == "all of it")
    #expect(record.error == nil)
  }

  @Test("a close-delimited body over TLS needs close_notify")
  func truncationAttack() async throws {
    let identity = try TLSIdentity.throwaway()
    let origin = try OriginServer(tls: identity) { peer in
      guard let request = try peer.readRequest() else { return }
      try peer.send("HTTP/1.1 200 OK\r\n\r\nall of it")
      if request.path == "/cut" { peer.closeWithoutNotify() } else { peer.close() }
    }
    defer { origin.stop() }
    var configuration = EngineConfiguration()
    configuration.tls.trustRoots = .pem(identity.authorityPEM)
    let engine = try Engine(configuration: configuration)
    #expect(try await engine.record("\(origin.url)/whole").error == nil)
    #expect(try await engine.record("\(origin.url)/cut").error?.code == .connectionLost)
  }

  @Test("a request that can't be written is refused before anything is sent")
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
      #expect(record.error?.delivery == .nothingSent)
    }
    #expect(origin.connectionCount == 0)
  }
}
