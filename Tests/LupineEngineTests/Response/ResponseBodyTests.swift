// ResponseBodyTests: responses as asynchronous sequences: pieces, receive windows, ends, and bodies that aren't read.

import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@Suite("A streamed response", .timeLimit(.minutes(10)))
struct ResponseBodyTests {
  @Test("a streamed response delivers the head first, then parts of the body, then the trailers and metrics")
  func pieces() async throws {
    let (first, second) = (Gate(), Gate())
    let origin = try OriginServer { peer in
      guard try peer.readRequest() != nil else { return }
      try peer.beginChunked()
      try peer.wait(for: first)
      try peer.chunk("one")
      try peer.wait(for: second)
      try peer.chunk("two")
      try peer.endChunked(trailers: ["Checksum": "6"])
    }
    defer { origin.stop() }
    let response = try await Engine().execute(EngineRequest(uri: try URI("\(origin.url)/")))
    #expect(response.head.status == 200)
    #expect(response.body.trailers == nil)
    first.open()
    let iterator = response.body.makeAsyncIterator()
    #expect(try await iterator.next() == Array("one".utf8))
    second.open()
    #expect(try await iterator.next() == Array("two".utf8))
    #expect(try await iterator.next() == nil)
    #expect(try await iterator.next() == nil)
    #expect(response.body.trailers?.first("Checksum") == "6")
    let metrics = await response.body.metrics()
    #expect(metrics.count == 1)
    #expect(metrics.first?.decodedBodyBytes == 6)
  }

  @Test(
    "while the caller doesn't read a streamed body, the client receives at most one receive window of bytes",
    arguments: [1, 1000, 256 * 1024])
  func window(windowBytes: Int) async throws {
    // Even a tenth, for sanitizers, is more than the largest window.
    let total = 3_000_000 / testsDivisor
    let origin = try OriginServer.serving { _ in Reply(.pattern(byteCount: UInt64(total))) }
    defer { origin.stop() }
    var configuration = EngineConfiguration()
    configuration.windowBytes = windowBytes
    let engine = try Engine(configuration: configuration)
    let response = try await engine.execute(EngineRequest(uri: try URI("\(origin.url)/")))
    var count = 0
    var largest = 0
    for try await piece in response.body {
      #expect(piece == Pattern.bytes(count..<count + piece.count))
      count += piece.count
      largest = max(largest, piece.count)
      if windowBytes == 1, count == 2000 { break }
    }
    #expect(largest <= windowBytes)
    #expect(count == (windowBytes == 1 ? 2000 : total))
  }

  @Test("the body of a streamed response can be collected up to a limit of bytes")
  func collecting() async throws {
    let origin = try OriginServer.serving { _ in Reply(.pattern(byteCount: 300_000)) }
    defer { origin.stop() }
    let engine = try Engine()
    let request = EngineRequest(uri: try URI("\(origin.url)/"))
    #expect(try await engine.execute(request).body.collect(upTo: 300_000).count == 300_000)
    let response = try await engine.execute(request)
    do {
      _ = try await response.body.collect(upTo: 299_999)
      Issue.record("The limit wasn't enforced.")
    } catch {
      #expect(error.code == .bodyTooLarge)
    }
  }

  @Test("reading a truncated streamed body returns the parts that have arrived, and then throws")
  func truncated() async throws {
    let origin = try OriginServer { peer in
      guard try peer.readRequest() != nil else { return }
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
    }
    defer { origin.stop() }
    let response = try await Engine().execute(EngineRequest(uri: try URI("\(origin.url)/")))
    let iterator = response.body.makeAsyncIterator()
    #expect(try await iterator.next() == Array("hello".utf8))
    await #expect(throws: EngineError.self) { try await iterator.next() }
    await #expect(throws: EngineError.self) { try await iterator.next() }
  }

  @Test("cancelling the task that reads a streamed body ends the request with .cancelled and closes the connection")
  func cancelled() async throws {
    let (began, left) = (Gate(), Gate())
    let origin = try OriginServer { peer in
      guard try peer.readRequest() != nil else { return }
      try peer.beginChunked()
      try peer.chunk("x")
      _ = try peer.awaitClose()
      left.open()
    }
    defer { origin.stop() }
    let engine = try Engine()
    let uri = try URI("\(origin.url)/")
    let task = Task { () -> EngineError? in
      do throws(EngineError) {
        let response = try await engine.execute(EngineRequest(uri: uri))
        for try await _ in response.body { began.open() }
        return nil
      } catch {
        return error
      }
    }
    await began.wait()
    task.cancel()
    #expect(await task.value?.code == .cancelled)
    await left.wait()
  }

  @Test(
    "when following a redirect, the client reads a short body to its end, but closes the connection of a long body",
    arguments: [0, 1000, 10_000_000] as [UInt64])
  func redirects(byteCount: UInt64) async throws {
    // A short body is sent with its head. If it arrived later, the redirected request could use another connection,
    // because the first one would still be busy.
    let content: Reply.Content =
      byteCount <= 1000 ? .bytes([UInt8](repeating: 0, count: Int(byteCount))) : .pattern(byteCount: byteCount)
    let origin = try OriginServer.serving { request in
      request.path == "/"
        ? Reply(status: 302, fields: ["Location": "/there"], content) : .text("there")
    }
    defer { origin.stop() }
    let engine = try Engine()
    let request = EngineRequest(uri: try URI("\(origin.url)/"))
    let response = try await engine.execute(request, redirects: RedirectRule())
    #expect(response.uri.target == "/there")
    #expect(try await response.body.collect() == Array("there".utf8))
    let metrics = await response.body.metrics()
    #expect(metrics.count == 2)
    let isKept = byteCount <= 64 * 1024
    #expect(metrics.last?.isReusedConnection == isKept)
  }

  /// Returns the error of a request. Its redirects are followed by `execute` if the response is streamed, and otherwise by
  /// `collect`.
  private func error(_ request: EngineRequest, isStreamed: Bool) async throws -> EngineError? {
    let engine = try Engine()
    do throws(EngineError) {
      if isStreamed {
        _ = try await engine.execute(request, redirects: RedirectRule())
      } else {
        _ = try await engine.collect(request, redirects: RedirectRule())
      }
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "a streamed response counts the redirects that the client followed, like a collected response",
    arguments: [true, false])
  func redirectCount(isStreamed: Bool) async throws {
    // The chain of redirects ends, so that the test also ends if the client doesn't count redirects.
    let origin = try OriginServer.serving { request in
      request.path.count > 40 ? .text("end") : Reply(status: 302, fields: ["Location": "\(request.path)x"])
    }
    defer { origin.stop() }
    let request = EngineRequest(uri: try URI("\(origin.url)/"))
    #expect(try await error(request, isStreamed: isStreamed)?.code == .tooManyRedirects)
    #expect(origin.requestCount == 21)
  }

  @Test(
    "all redirects of a streamed response share one total time limit, like the redirects of a collected response",
    arguments: [true, false])
  func redirectTotal(isStreamed: Bool) async throws {
    // The 20 redirects take at least 2 s in total, and each of them takes far less than the limit.
    let origin = try OriginServer { peer in
      while let request = try peer.readRequest() {
        try peer.pause(for: .milliseconds(100))
        try peer.respond(status: 302, fields: ["Location": "\(request.path)x"])
      }
    }
    defer { origin.stop() }
    var request = EngineRequest(uri: try URI("\(origin.url)/"))
    request.timeouts.total = .seconds(1)
    #expect(try await error(request, isStreamed: isStreamed)?.code == .timedOut)
  }

  @Test(
    "if the caller releases a response without reading it, its connection is reused if only a few bytes are left",
    arguments: [1000, 10_000_000] as [UInt64])
  func abandoned(byteCount: UInt64) async throws {
    // The server sends a short body together with its head, because the client waits at most 1 s for the rest of an unread body.
    let content: Reply.Content =
      byteCount <= 1000 ? .bytes([UInt8](repeating: 0, count: Int(byteCount))) : .pattern(byteCount: byteCount)
    let origin = try OriginServer.serving { _ in Reply(content) }
    defer { origin.stop() }
    var configuration = EngineConfiguration()
    configuration.windowBytes = 100
    configuration.pool.connectionsPerOriginMax = 1
    let engine = try Engine(configuration: configuration)
    let request = EngineRequest(uri: try URI("\(origin.url)/"))
    do {
      let response = try await engine.execute(request)
      #expect(response.head.status == 200)
    }
    // With a limit of one connection, the second request waits for the end of the first.
    let next = try await engine.collect(request)
    #expect(next.metrics.first?.isReusedConnection == (byteCount == 1000))
  }

  @Test("a response ends soon if the caller discards its body, even if the server never ends the body")
  func discarded() async throws {
    let go = Gate()
    let origin = try OriginServer { peer in
      guard try peer.readRequest() != nil else { return }
      try peer.beginChunked()
      try peer.chunk("never ends")
      try peer.wait(for: go)
    }
    defer { origin.stop() }
    defer { go.open() }
    let sink = RecordingSink(disposition: .discard)
    let engine = try Engine()
    engine.submit(EngineRequest(uri: try URI("\(origin.url)/")), to: sink)
    let outcome = await sink.outcome
    #expect(outcome.error == nil)
    #expect(outcome.body.isEmpty)
  }

  @Test("if a body that the caller discards is malformed, the client closes the connection")
  func brokenWhileDrained() async throws {
    let origin = try OriginServer { peer in
      while try peer.readRequest() != nil {
        try peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxBROKEN")
      }
    }
    defer { origin.stop() }
    let engine = try Engine()
    for _ in 0..<2 {
      let sink = RecordingSink(disposition: .discard)
      engine.submit(EngineRequest(uri: try URI("\(origin.url)/")), to: sink)
      let outcome = await sink.outcome
      #expect(outcome.error == nil)
      #expect(outcome.metrics?.isReusedConnection == false)
    }
  }

  @Test("cancelling a task that waits for a response's metrics ends the request")
  func cancelledMetrics() async throws {
    let origin = try OriginServer { peer in
      guard try peer.readRequest() != nil else { return }
      try peer.beginChunked()
      _ = try peer.awaitClose()
    }
    defer { origin.stop() }
    let engine = try Engine()
    let response = try await engine.execute(EngineRequest(uri: try URI("\(origin.url)/")))
    let task = Task { await response.body.metrics() }
    task.cancel()
    #expect(await task.value.count == 1)
  }
}
