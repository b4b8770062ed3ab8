// 101: a connection that leaves HTTP, and servers that switch without being asked.

import LupineEngine
import LupineOrigin
import Testing

@Suite("Upgrade", .timeLimit(.minutes(10)))
struct UpgradeTests {
  private func request(_ origin: OriginServer, _ body: RequestBody) throws -> EngineRequest {
    EngineRequest(
      uri: try URI("\(origin.url)/"), fields: ["Connection": "Upgrade", "Upgrade": "echo"], body: body)
  }

  @Test("behind a 101 the body goes out as it is, and what the server says comes in, both at once")
  func switched() async throws {
    let origin = try OriginServer { peer in
      guard let head = try peer.readHead() else { return }
      #expect(head.fields.first("Content-Length") == nil)
      #expect(head.fields.first("Transfer-Encoding") == nil)
      // Bytes of the new protocol right behind the head, in one piece with it.
      try peer.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\nhello ")
      var heard: [UInt8] = []
      while heard.count < 6 { heard += try peer.receive() }
      try peer.send(heard.reversed())
      peer.close()
    }
    defer { origin.stop() }
    let (switched, said) = (Gate(), Gate())
    let body = RequestBody { writer in
      // Also if the server has closed by the time that this is told of the last piece's being taken.
      defer { said.open() }
      await switched.wait()
      try await writer.write(Array("abc".utf8))
      try await writer.write(Array("def".utf8))
    }
    let engine = try Engine()
    let response = try await engine.execute(try request(origin, body))
    #expect(response.head.status == 101)
    #expect(response.head.fields.first("Upgrade") == "echo")
    switched.open()
    #expect(try await response.body.collect() == Array("hello fedcba".utf8))
    await said.wait()
    #expect(await response.body.metrics().last?.closeReason == .upgraded)
    withExtendedLifetime(engine) {}
  }

  @Test("a server that doesn't switch answers as usual, and nothing of the other protocol is sent")
  func declined() async throws {
    let origin = try OriginServer { peer in
      while let request = try peer.readRequest() {
        try peer.respond(body: Array("no, \(request.body.count)".utf8))
      }
    }
    defer { origin.stop() }
    let engine = try Engine()
    let record = await engine.record(try request(origin, RequestBody("frames")))
    #expect(record.head?.status == 200)
    #expect(record.text == "no, 0")
    #expect(try await engine.record(origin.url).metrics?.isReusedConnection == true)
  }

  @Test("a 101 that nobody asked for is an error")
  func unasked() async throws {
    let origin = try OriginServer { peer in
      guard try peer.readRequest() != nil else { return }
      try peer.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n\r\n")
      _ = try peer.awaitClose()
    }
    defer { origin.stop() }
    #expect(try await Engine().record(origin.url).error?.code == .malformedResponse)
  }

  @Test("letting go of the stream closes the connection")
  func abandoned() async throws {
    let left = Gate()
    let origin = try OriginServer { peer in
      guard try peer.readHead() != nil else { return }
      try peer.send("HTTP/1.1 101 Switching Protocols\r\n\r\n")
      _ = try peer.awaitClose()
      left.open()
    }
    defer { origin.stop() }
    let engine = try Engine()
    do {
      let response = try await engine.execute(try request(origin, RequestBody()))
      #expect(response.head.status == 101)
    }
    await left.wait()
  }
}
