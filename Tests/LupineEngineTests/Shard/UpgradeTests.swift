// UpgradeTests: connections that switch protocols with 101, and servers that switch without a request to do so.

import LupineEngine
import LupineOrigin
import Testing

@Suite("Upgrade to another protocol", .timeLimit(.minutes(10)))
struct UpgradeTests {
  private func request(_ origin: OriginServer, _ body: RequestBody) throws -> EngineRequest {
    EngineRequest(
      uri: try URI("\(origin.url)/"), fields: ["Connection": "Upgrade", "Upgrade": "echo"], body: body)
  }

  @Test("after a 101 (Switching Protocols) response, both sides can send bytes unchanged at the same time")
  func switched() async throws {
    let origin = try OriginServer { peer in
      guard let head = try peer.readHead() else { return }
      #expect(head.fields.first("Content-Length") == nil)
      #expect(head.fields.first("Transfer-Encoding") == nil)
      // Bytes of the new protocol, sent together with the head.
      try peer.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\nhello ")
      var heard: [UInt8] = []
      while heard.count < 6 { heard += try peer.receive() }
      try peer.send(heard.reversed())
      peer.close()
    }
    defer { origin.stop() }
    let (switched, said) = (Gate(), Gate())
    let body = RequestBody { writer in
      // The gate opens even if the write throws because the server has already closed the connection.
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

  @Test("a connection upgraded to another protocol continues to work, and frees its place in the pool")
  func amongOthers() async throws {
    let (arrived, queued) = (Gate(), Gate())
    let origin = try OriginServer { peer in
      while let head = try peer.readHead() {
        guard head.fields.contains("Upgrade") else {
          try peer.respond(body: Array("plain".utf8))
          continue
        }
        arrived.open()
        queued.waitBlocking()
        try peer.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n")
        while true {
          let heard = try peer.receive()
          if heard.isEmpty { return }
          try peer.send(heard)
        }
      }
    }
    defer {
      queued.open()
      origin.stop()
    }
    var configuration = EngineConfiguration()
    configuration.pool.connectionsMax = 1
    configuration.tracer = { if case .exchangeWaits = $0.kind { queued.open() } }
    let engine = try Engine(configuration: configuration)
    let mayWrite = Gate()
    let body = RequestBody { writer in
      await mayWrite.wait()
      try await writer.write(Array("abc".utf8))
    }
    async let switched = engine.execute(try request(origin, body))
    await arrived.wait()
    // This request waits for the only place, which is free once the other connection has left HTTP.
    async let waiting = engine.record(origin.url)
    let response = try await switched
    #expect(response.head.status == 101)
    #expect(try await waiting.text == "plain")
    #expect(try await engine.record(origin.url).text == "plain")
    mayWrite.open()
    var heard: [UInt8] = []
    for try await piece in response.body {
      heard += piece
      if heard.count == 3 { break }
    }
    #expect(heard == Array("abc".utf8))
  }

  @Test(
    "if the server declines a protocol upgrade, its response is delivered, and no bytes of the new protocol are sent")
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

  @Test("a 101 (Switching Protocols) response that the request didn't ask for is an error")
  func unasked() async throws {
    let origin = try OriginServer { peer in
      guard try peer.readRequest() != nil else { return }
      try peer.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n\r\n")
      _ = try peer.awaitClose()
    }
    defer { origin.stop() }
    #expect(try await Engine().record(origin.url).error?.code == .malformedResponse)
  }

  @Test("releasing the stream of an upgraded connection closes the connection")
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
