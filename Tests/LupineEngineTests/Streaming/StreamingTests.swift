// StreamingTests: what the scoped streaming call promises beyond the proposal's conformance: backpressure, errors and its end.

import LupineEngine
import LupineOrigin
import LupineWire
import Testing

@Suite("The scoped streaming call", .timeLimit(.minutes(10)))
struct StreamingTests {
  private struct Broken: Error {}

  private func post(_ server: OriginServer, _ path: String = "/") throws -> EngineRequest {
    EngineRequest(method: "POST", uri: try URI("\(server.url)\(path)"))
  }

  @Test("a body without end is written while the handler runs, and ends with the call")
  func endlessBody() async throws {
    let server = try streamingServer { peer, _ in
      try peer.beginChunked()
      _ = try peer.awaitClose()
    }
    defer { server.stop() }
    let (isRunning, hasEnded) = (Gate(), Gate())
    try await Engine().execute(
      try post(server),
      body: .nonrestartable { writer in
        defer { hasEnded.open() }
        var writer = writer
        let piece = [UInt8](repeating: 1, count: 64 * 1024)
        for count in 1... {
          try await writer.write(piece)
          if count == 100 { isRunning.open() }
        }
      }
    ) { _, _ in await isRunning.wait() }
    #expect(hasEnded.isOpen)
  }

  @Test("a response whose reader waits is received no further than the window")
  func receivingBackpressure() async throws {
    let total = 50_000_000 as UInt64
    let hasSent = Gate()
    let server = try streamingServer { peer, request in
      try peer.send(Reply(.pattern(byteCount: total)), to: request)
      hasSent.open()
    }
    defer { server.stop() }
    var configuration = EngineConfiguration()
    configuration.windowBytes = 100_000
    configuration.socket.receiveBufferBytes = 64 * 1024
    let engine = try Engine(configuration: configuration)
    let request = EngineRequest(uri: try URI("\(server.url)/"))
    let count = try await engine.execute(request) { _, reader in
      var reader = reader
      var count: UInt64 = 0
      while let piece = try await reader.read() {
        // Until half of the response was read, the server can't have sent it all.
        if count < total / 2 { #expect(!hasSent.isOpen) }
        #expect(piece.count <= 100_000)
        count += UInt64(piece.count)
      }
      return count
    }
    #expect(count == total)
  }

  @Test(
    "when the handler returns or throws, the exchange ends, and the body's closure has ended", arguments: [false, true])
  func handlerEnds(throwing: Bool) async throws {
    let hasClosed = Gate()
    let server = try streamingServer { peer, _ in
      try peer.beginChunked()
      _ = try peer.awaitClose()
      hasClosed.open()
    }
    defer { server.stop() }
    let engine = try Engine()
    let hasEnded = Gate()
    let body = StreamingBody.restartable { _ in
      await Gate().wait()
      hasEnded.open()
    }
    do {
      try await engine.execute(try post(server), body: body) { head, _ in
        #expect(head.status == 200)
        if throwing { throw Broken() }
      }
      #expect(!throwing)
    } catch {
      #expect(throwing && error is Broken)
    }
    #expect(hasEnded.isOpen)
    await hasClosed.wait()
  }

  @Test("when the response is complete, the body's closure is cancelled, even if it waits for something else")
  func responseFirst() async throws {
    let server = try streamingServer { peer, _ in
      try peer.respond(status: 413)
      _ = try peer.awaitClose()
    }
    defer { server.stop() }
    let hasEnded = Gate()
    let body = StreamingBody.restartable { _ in
      await Gate().wait()
      hasEnded.open()
    }
    let answer = try await Engine().answer(server, method: "POST", body: body)
    #expect(answer.head.status == 413 && hasEnded.isOpen)
  }

  @Test("cancelling a call cancels the body's closure, also before there is a connection")
  func cancelledBody() async throws {
    let server = try streamingServer { peer, _ in _ = try peer.awaitClose() }
    defer { server.stop() }
    let engine = try Engine()
    let (hasBegun, hasEnded) = (Gate(), Gate())
    let body = StreamingBody.restartable { _ in
      hasBegun.open()
      await Gate().wait()
      hasEnded.open()
    }
    let task = Task { try await engine.answer(server, method: "POST", body: body) }
    await hasBegun.wait()
    task.cancel()
    let error = await #expect(throws: EngineError.self) { try await task.value }
    #expect(error?.code == .cancelled && hasEnded.isOpen)
    let early = Task { try await engine.answer(server, method: "POST", body: body) }
    early.cancel()
    await #expect(throws: EngineError.self) { try await early.value }
  }

  /// Returns a body whose closure finishes it, waits until it is cancelled, and then opens the gate.
  private func bodyFinishedAtOnce(opening hasEnded: Gate) -> StreamingBody {
    .restartable { writer in
      try writer.finish()
      await Gate().wait()
      hasEnded.open()
    }
  }

  @Test(
    "a body's closure that has finished the body is cancelled when the handler has returned or thrown",
    arguments: [false, true])
  func finishedBody(throwing: Bool) async throws {
    let server = try OriginServer.serving { _ in .text("hello") }
    defer { server.stop() }
    let engine = try Engine()
    let hasEnded = Gate()
    let body = bodyFinishedAtOnce(opening: hasEnded)
    do {
      try await engine.execute(try post(server), body: body) { head, reader in
        _ = try await reader.collect()
        // The exchange has ended, but the handler may still wait for the closure.
        #expect(!hasEnded.isOpen)
        if throwing { throw Broken() }
      }
      #expect(!throwing)
    } catch {
      #expect(throwing && error is Broken)
    }
    #expect(hasEnded.isOpen)
  }

  @Test("cancelling a call cancels the body's closure, also if it has finished the body")
  func cancelledFinishedBody() async throws {
    let isSent = Gate()
    let server = try OriginServer { peer in
      _ = try peer.readRequest()
      isSent.open()
      _ = try peer.awaitClose()
    }
    defer { server.stop() }
    let engine = try Engine()
    let hasEnded = Gate()
    let body = bodyFinishedAtOnce(opening: hasEnded)
    let task = Task { try await engine.answer(server, method: "POST", body: body) }
    await isSent.wait()
    task.cancel()
    let error = await #expect(throws: EngineError.self) { try await task.value }
    #expect(error?.code == .cancelled && hasEnded.isOpen)
  }

  @Test("an error of the body's closure is the cause of the call's error")
  func failingBody() async throws {
    let server = try streamingServer { peer, _ in _ = try peer.awaitClose() }
    defer { server.stop() }
    let body = StreamingBody.restartable { _ in throw Broken() }
    let error = await #expect(throws: EngineError.self) {
      try await Engine().answer(server, method: "POST", body: body)
    }
    guard case .producer(let cause) = error?.cause else {
      Issue.record("the cause is \(String(describing: error))")
      return
    }
    #expect(error?.code == .bodyUnreadable && cause is Broken)
  }

  @Test("a redirect sends a restartable or seekable body again, and fails with one that isn't")
  func redirected() async throws {
    let server = try OriginServer.serving { request in
      request.path == "/" ? Reply(status: 307, fields: ["Location": "/next"]) : .text("\(request.body.count)")
    }
    defer { server.stop() }
    let engine = try Engine()
    #expect(try await engine.answer(server, method: "POST", body: textBody("12345")).text == "5")
    let seekable = StreamingBody.seekable(byteCount: 3) { offset, writer in
      var writer = writer
      #expect(offset == 0)
      try await writer.write([1, 2, 3])
    }
    #expect(try await engine.answer(server, method: "POST", body: seekable).text == "3")
    let once = StreamingBody.nonrestartable { writer in
      var writer = writer
      try await writer.write([1])
    }
    let error = await #expect(throws: EngineError.self) { try await engine.answer(server, method: "POST", body: once) }
    #expect(error?.code == .bodyNotReplayable)
  }

  @Test("a call runs its handler on the caller's actor, and may return a value that can't be copied")
  @MainActor func isolation() async throws {
    struct Handle: ~Copyable { let status: Int }
    let server = try OriginServer.serving { _ in .text("hello") }
    defer { server.stop() }
    var count = 0
    let handle: Handle = try await Engine().execute(EngineRequest(uri: try URI("\(server.url)/"))) { head, reader in
      MainActor.assertIsolated()
      try await reader.forEach { piece in
        MainActor.assertIsolated()
        count += piece.count
      }
      return Handle(status: head.status)
    }
    #expect(handle.status == 200 && count == 5)
  }

  @Test("collecting more than the limit is an error")
  func tooLarge() async throws {
    let server = try OriginServer.serving { _ in Reply(.pattern(byteCount: 1_001)) }
    defer { server.stop() }
    let request = EngineRequest(uri: try URI("\(server.url)/"))
    let error = await #expect(throws: EngineError.self) {
      try await Engine().execute(request) { _, reader in try await reader.collect(upTo: 1_000).body }
    }
    #expect(error?.code == .bodyTooLarge)
  }
}
