// ExpectationTests: Expect: 100-continue with servers that grant, ignore, refuse or don't support it.

import LupineEngine
import LupineOrigin
import Synchronization
import Testing

@Suite("Expect: 100-continue", .timeLimit(.minutes(10)))
struct ExpectationTests {
  private func request(_ origin: OriginServer, wait: Duration = .seconds(60)) throws -> EngineRequest {
    var request = EngineRequest(
      method: "PUT", uri: try URI("\(origin.url)/"), fields: ["Expect": "100-continue"], body: RequestBody("content"))
    request.timeouts.awaitContinue = wait
    return request
  }

  @Test("with Expect: 100-continue, the client sends the body only after the server's 100 (Continue) response")
  func granted() async throws {
    let origin = try OriginServer { peer in
      guard var request = try peer.readHead() else { return }
      #expect(request.fields.first("Expect") == "100-continue")
      #expect(request.fields.first("Content-Length") == "7")
      try peer.send("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
      try peer.readBody(of: &request)
      try peer.respond(body: request.body)
    }
    defer { origin.stop() }
    let record = try await Engine().record(try request(origin))
    #expect(record.text == "content")
    #expect(record.informational == [103, 100])
  }

  @Test("if the server ignores Expect: 100-continue, the client sends the body after the timeout")
  func ignored() async throws {
    let origin = try OriginServer.serving { .text("\(String(decoding: $0.body, as: UTF8.self))!") }
    defer { origin.stop() }
    let record = try await Engine().record(try request(origin, wait: .milliseconds(20)))
    #expect(record.text == "content!")
    #expect(record.metrics?.replayCount == 0)
  }

  @Test(
    "with Expect: 100-continue, a final response instead of a 100 means that no body is sent and the connection is closed"
  )
  func refused() async throws {
    let bytes = Mutex<Int?>(nil)
    let left = Gate()
    let origin = try OriginServer { peer in
      guard try peer.readHead() != nil else { return }
      try peer.respond(status: 413, body: Array("too large".utf8))
      let ending = try peer.awaitClose()
      bytes.withLock { $0 = ending.byteCount }
      left.open()
    }
    defer { origin.stop() }
    let engine = try Engine()
    let record = await engine.record(try request(origin))
    #expect(record.head?.status == 413)
    #expect(record.text == "too large")
    await left.wait()
    #expect(bytes.withLock { $0 } == 0)
    #expect(record.metrics?.requestBodyBytes == 0)
  }

  @Test("with Expect: 100-continue, a body's producer isn't started if the server refuses the request")
  func producerNotStarted() async throws {
    let isStarted = Atomic<Bool>(false)
    let left = Gate()
    let origin = try OriginServer { peer in
      guard try peer.readHead() != nil else { return }
      try peer.respond(status: 413)
      _ = try peer.awaitClose()
      left.open()
    }
    defer { origin.stop() }
    var request = try request(origin)
    request.body = RequestBody { _ in isStarted.store(true, ordering: .relaxed) }
    #expect(try await Engine().record(request).head?.status == 413)
    await left.wait()
    #expect(isStarted.load(ordering: .relaxed) == false)
  }

  @Test("after a 417 response, the engine sends the request again without Expect: 100-continue")
  func failed() async throws {
    let expectations = Mutex<[String]>([])
    let origin = try OriginServer { peer in
      while var request = try peer.readHead() {
        expectations.withLock { $0.append(request.fields.first("Expect") ?? "-") }
        if request.fields.contains("Expect") {
          try peer.respond(status: 417)
        } else {
          try peer.readBody(of: &request)
          try peer.respond(body: request.body)
        }
      }
    }
    defer { origin.stop() }
    let record = try await Engine().record(try request(origin))
    #expect(record.head?.status == 200)
    #expect(record.text == "content")
    #expect(expectations.withLock { $0 } == ["100-continue", "-"])
    #expect(record.metrics?.replayCount == 1)
    #expect(record.finishCount == 1)
  }

  @Test("the client delivers a 417 response to a request without Expect like any other response")
  func unrelated() async throws {
    let origin = try OriginServer.serving { _ in Reply(status: 417) }
    defer { origin.stop() }
    let request = EngineRequest(method: "PUT", uri: try URI("\(origin.url)/"), body: RequestBody("content"))
    #expect(try await Engine().record(request).head?.status == 417)
  }

  @Test("if the connection closes before the awaited 100 (Continue), the error names the phase awaitContinue")
  func lost() async throws {
    let origin = try OriginServer { peer in
      guard try peer.readHead() != nil else { return }
      peer.close()
    }
    defer { origin.stop() }
    let error = try await Engine().record(try request(origin)).error
    #expect(error?.code == .connectionLost)
    #expect(error?.phase == .awaitContinue)
  }

  @Test("the total time limit also applies while the engine waits for the 100 (Continue) response")
  func total() async throws {
    let origin = try OriginServer { peer in _ = try peer.awaitClose() }
    defer { origin.stop() }
    var request = try request(origin)
    // On a slow machine, a short limit may end before the engine waits for the 100 (Continue).
    for limit in [Duration.milliseconds(30), .seconds(1), .seconds(10)] {
      request.timeouts.total = limit
      let error = try await Engine().record(request).error
      #expect(error?.code == .timedOut)
      if error?.phase == .awaitContinue { return }
    }
    Issue.record("the total limit didn't end the phase awaitContinue")
  }

  @Test("the engine doesn't send the caller's Expect field with a request without a body")
  func noBody() async throws {
    let origin = try OriginServer.serving { .text($0.fields.first("Expect") ?? "none") }
    defer { origin.stop() }
    let request = EngineRequest(uri: try URI("\(origin.url)/"), fields: ["Expect": "100-continue"])
    #expect(try await Engine().record(request).text == "none")
  }
}
