// EarlyResponseTests: servers that respond before they have received the request's whole body.

import LupineEngine
import LupineOrigin
import Synchronization
import Testing

@Suite("A response before the end of the request's body", .timeLimit(.minutes(10)))
struct EarlyResponseTests {
  private struct Broken: Error {}

  private func put(_ body: RequestBody, to origin: OriginServer) throws -> EngineRequest {
    EngineRequest(method: "PUT", uri: try URI("\(origin.url)/"), body: body)
  }

  @Test(
    "if a response ends before the request's body, the body's producer is cancelled and the connection isn't reused")
  func producerCancelled() async throws {
    let (closed, ended) = (Gate(), Gate())
    let origin = try OriginServer { peer in
      guard let request = try peer.readHead() else { return }
      try peer.respond(body: Array("\(peer.connectionIndex)".utf8))
      guard request.method == "PUT" else { return }
      _ = try peer.awaitClose()
      closed.open()
    }
    defer { origin.stop() }
    let body = RequestBody { writer in
      defer { ended.open() }
      try await writer.write([1])
      // Waits until the task is cancelled.
      await Gate().wait()
    }
    let engine = try Engine()
    let early = await engine.record(try put(body, to: origin))
    #expect(early.error == nil && early.text == "0")
    #expect(early.metrics?.closeReason == .requestUnfinished)
    await ended.wait()
    await closed.wait()
    #expect(try await engine.record("\(origin.url)/").text == "1")
  }

  @Test("after the response's head, the client sends the rest of the request's body, and then reuses the connection")
  func bothDirections() async throws {
    let origin = try OriginServer { peer in
      while var request = try peer.readHead() {
        try peer.beginChunked()
        try peer.readBody(of: &request)
        try peer.chunk(request.body)
        try peer.endChunked()
      }
    }
    defer { origin.stop() }
    let sink = RecordingSink()
    let body = RequestBody { [sawHead = sink.sawHead] writer in
      try await writer.write(Array("before".utf8))
      await sawHead.wait()
      try await writer.write(Array(" and after".utf8))
    }
    let engine = try Engine()
    engine.submit(try put(body, to: origin), to: sink)
    let outcome = await sink.outcome
    #expect(outcome.error == nil && outcome.text == "before and after")
    #expect(outcome.metrics?.closeReason == nil)
    #expect(try await engine.record("\(origin.url)/").error == nil)
    #expect(origin.connectionCount == 1)
  }

  @Test(
    "a request fails if its body's producer throws or writes a wrong number of bytes after the response's head",
    arguments: [nil, 2, 4] as [UInt64?])
  func producerFails(byteCount: UInt64?) async throws {
    let left = Gate()
    let origin = try OriginServer { peer in
      guard try peer.readHead() != nil else { return }
      try peer.beginChunked()
      _ = try peer.awaitClose()
      left.open()
    }
    defer { origin.stop() }
    let sink = RecordingSink()
    let body = RequestBody(byteCount: byteCount) { [sawHead = sink.sawHead] writer in
      await sawHead.wait()
      try await writer.write([1, 2, 3])
      if byteCount == nil { throw Broken() }
    }
    let engine = try Engine()
    engine.submit(try put(body, to: origin), to: sink)
    let outcome = await sink.outcome
    #expect(outcome.head?.status == 200)
    #expect(outcome.error?.code == .bodyUnreadable)
    await left.wait()
    #expect(await engine.counters().total.idle == 0)
  }

  @Test("if a 307 arrives before the end of the request's body, the next request sends the body from its start")
  func redirected() async throws {
    let origin = try OriginServer { peer in
      while var request = try peer.readHead() {
        guard request.path == "/" else {
          try peer.readBody(of: &request)
          try peer.respond(body: request.body)
          continue
        }
        // The producer has started, so the next request starts it for the second time.
        _ = try peer.receive()
        try peer.respond(status: 307, fields: ["Location": "/target"])
        _ = try peer.awaitClose()
        return
      }
    }
    defer { origin.stop() }
    let runs = Atomic<Int>(0)
    let body = RequestBody(isReplayable: true) { writer in
      let run = runs.add(1, ordering: .relaxed).newValue
      try await writer.write(Array("run \(run)".utf8))
      // The first run waits until its task is cancelled.
      if run == 1 { await Gate().wait() }
    }
    let response = try await Engine().collect(try put(body, to: origin), redirects: RedirectRule())
    #expect(String(decoding: response.body, as: UTF8.self) == "run 2")
  }
}
