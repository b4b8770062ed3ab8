// StreamingConformanceTests: the cases of the conformance module of Swift's HTTP API proposal, as tests of the scoped streaming call.
// Cookies and entity tags belong to a session: CookieSessionTests and SessionCacheTests cover these two cases.

import LupineEngine
import LupineOrigin
import LupineWire
import Synchronization
import Testing

@Suite("Conformance of the scoped streaming call", .timeLimit(.minutes(10)))
struct StreamingConformanceTests {
  private let engine: Engine

  init() throws { engine = try Engine() }

  private func errorCode(_ server: OriginServer) async -> EngineError.Code? {
    do {
      _ = try await engine.answer(server)
      return nil
    } catch {
      return (error as? EngineError)?.code
    }
  }

  // MARK: Messages

  @Test(
    "a response that isn't HTTP, has an unknown version, conflicting lengths, or an incomplete body is an error",
    arguments: [
      ("not HTTP\r\n\r\n", .malformedResponse), ("HTTP/9.9 200 OK\r\n\r\n", .malformedResponse),
      ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", .malformedResponse),
      ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", .connectionLost),
    ] as [(String, EngineError.Code)])
  func malformed(response: String, code: EngineError.Code) async throws {
    let server = try rawServer(response)
    defer { server.stop() }
    #expect(await errorCode(server) == code)
  }

  @Test(
    "a response without a reason phrase or a length, and a 204 or 304 with a length, are complete",
    arguments: [
      ("HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", 200, "ok"), ("HTTP/1.1 200 OK\r\n\r\nhello", 200, "hello"),
      ("HTTP/1.1 204 No Content\r\nContent-Length: 1000\r\n\r\n", 204, ""),
      ("HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n", 304, ""),
    ])
  func complete(response: String, status: Int, text: String) async throws {
    let server = try rawServer(response)
    defer { server.stop() }
    let answer = try await engine.answer(server)
    #expect(answer.head.status == status && answer.text == text)
  }

  @Test("each method gets its response", arguments: ["HEAD", "GET", "PUT", "POST", "DELETE"])
  func methods(method: String) async throws {
    let server = try OriginServer.serving { .text($0.method) }
    defer { server.stop() }
    let answer = try await engine.answer(server, method: method)
    #expect(answer.head.status == 200 && answer.text == (method == "HEAD" ? "" : method))
  }

  @Test("a response to HEAD has no body, whatever its Content-Length")
  func head() async throws {
    let server = try rawServer("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    defer { server.stop() }
    let answer = try await engine.answer(server, method: "HEAD")
    #expect(answer.head.fields.first("Content-Length") == "1000" && answer.text.isEmpty)
  }

  @Test("unusual and failed statuses are successes", arguments: [404, 999, 599])
  func statuses(status: Int) async throws {
    let server = try OriginServer.serving { _ in Reply(status: status) }
    defer { server.stop() }
    let answer = try await engine.answer(server)
    #expect(answer.head.status == status && answer.text.isEmpty)
  }

  @Test("custom, empty and repeated fields arrive unchanged, in both directions")
  func fields() async throws {
    let server = try OriginServer.serving { request in
      var fields = Fields()
      for name in ["X-Custom", "X-Empty", "X-Many"] {
        for value in request.fields.all(name) { fields.append(name: name, value: value) }
      }
      return Reply(fields: fields)
    }
    defer { server.stop() }
    var fields = Fields()
    for (name, value) in [("X-Custom", "BARbaz"), ("X-Empty", ""), ("X-Many", "a"), ("X-Many", "b")] {
      fields.append(name: name, value: value)
    }
    let head = try await engine.answer(server, fields: fields).head
    #expect(head.fields.all("X-Custom") == ["BARbaz"] && head.fields.all("X-Empty") == [""])
    #expect(head.fields.all("X-Many") == ["a", "b"])
  }

  @Test("the parameters of the URL reach the server")
  func parameters() async throws {
    let server = try OriginServer.serving { request in
      .text(request.query.map { "\($0.name)=\($0.value)" }.joined(separator: ";"))
    }
    defer { server.stop() }
    #expect(try await engine.answer(server, "/p?a=1&b=%C3%A9&c").text == "a=1;b=é;c=")
  }

  @Test("coded bodies are decoded, and uncoded ones delivered", arguments: ["gzip", "deflate", "br", "identity"])
  func codings(name: String) async throws {
    let text = Array("TEST\n".utf8)
    let server = try OriginServer.serving { _ in
      switch name {
      case "gzip": Reply(.coded(text, .gzip))
      case "deflate": Reply(.coded(text, .deflate))
      case "br": Reply(.coded(text, .brotli))
      default: Reply(fields: ["Content-Encoding": "identity"], .bytes(text))
      }
    }
    defer { server.stop() }
    let answer = try await engine.answer(server)
    #expect(answer.text == "TEST\n" && answer.head.fields.first("Content-Encoding") == name)
  }

  @Test("redirects are followed to their target, and endless ones are an error")
  func redirects() async throws {
    let server = try OriginServer.serving { request in
      switch request.path {
      case "/301", "/308": Reply(status: Int(request.path.dropFirst()) ?? 0, fields: ["Location": "/target"])
      case "/ping": Reply(status: 302, fields: ["Location": "/pong"])
      case "/pong": Reply(status: 302, fields: ["Location": "/ping"])
      default: .text("\(request.method) \(request.path) \(request.body.count)")
      }
    }
    defer { server.stop() }
    for path in ["/301", "/308"] { #expect(try await engine.answer(server, path).text == "GET /target 0") }
    #expect(try await engine.answer(server, "/301", redirects: nil).head.status == 301)
    await #expect(throws: EngineError.self) { try await engine.answer(server, "/ping") }
    let request = EngineRequest(method: "POST", uri: try URI("\(server.url)/308"))
    let uri = try await engine.execute(request, body: textBody("again"), redirects: RedirectRule()) { _, reader in
      reader.uri
    }
    #expect(uri.target == "/target")
  }

  // MARK: Bodies

  @Test("the body's text comes back, with and without a known length", arguments: [nil, 11] as [UInt64?])
  func echo(byteCount: UInt64?) async throws {
    let server = try OriginServer.serving { request in
      .text("\(request.fields.first("Content-Length") ?? "none"): \(String(decoding: request.body, as: UTF8.self))")
    }
    defer { server.stop() }
    let text = try await engine.answer(server, method: "POST", body: textBody("Hello World", byteCount: byteCount)).text
    #expect(text == "\(byteCount.map { "\($0)" } ?? "none"): Hello World")
  }

  @Test("an empty body ends, with and without a known length", arguments: [nil, 0] as [UInt64?])
  func empty(byteCount: UInt64?) async throws {
    let server = try OriginServer.serving { .text("\($0.body.count)") }
    defer { server.stop() }
    #expect(try await engine.answer(server, method: "POST", body: textBody("", byteCount: byteCount)).text == "0")
  }

  @Test("a body of 1 MiB comes back while it is being sent")
  func megabyte() async throws {
    let server = try streamingServer { peer, _ in try peer.echoChunks() }
    defer { server.stop() }
    let piece = (0..<4_096).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let request = EngineRequest(method: "POST", uri: try URI("\(server.url)/"))
    let received = try await engine.execute(
      request,
      body: .restartable { writer in
        var writer = writer
        for _ in 0..<256 { try await writer.write(piece) }
      }
    ) { _, reader in try await reader.collect().body }
    #expect(received == Array((0..<256).map { _ in piece }.joined()))
  }

  @Test("the conveniences for GET and POST need only a request")
  func conveniences() async throws {
    let server = try OriginServer.serving { .text("\($0.method) \(String(decoding: $0.body, as: UTF8.self))") }
    defer { server.stop() }
    let uri = try URI("\(server.url)/")
    let get = try await engine.execute(EngineRequest(uri: uri)) { _, reader in try await reader.collect(upTo: 100).body
    }
    let post = try await engine.execute(EngineRequest(method: "POST", uri: uri, body: RequestBody("hi"))) { _, reader in
      try await reader.collect(upTo: 100).body
    }
    #expect(String(decoding: get + post, as: UTF8.self) == "GET POST hi")
  }

  @Test("a body that arrives byte by byte is complete")
  func drip() async throws {
    let server = try streamingServer { peer, _ in
      try peer.beginChunked()
      for _ in 0..<1_000 { try peer.chunk("x") }
      try peer.endChunked()
    }
    defer { server.stop() }
    #expect(try await engine.answer(server).text == String(repeating: "x", count: 1_000))
  }

  @Test("a handler may read less than the whole body, and the engine goes on")
  func underRead() async throws {
    let server = try OriginServer.serving { _ in Reply(.pattern(byteCount: 10_000_000)) }
    defer { server.stop() }
    let uri = try URI("\(server.url)/")
    for _ in 0..<3 {
      let count = try await engine.execute(EngineRequest(uri: uri)) { _, reader in
        var reader = reader
        return try await reader.read()?.count ?? 0
      }
      #expect(count > 0)
    }
    #expect(try await engine.execute(EngineRequest(uri: uri)) { head, _ in head.status } == 200)
  }

  @Test("100 calls at once all get their responses")
  func stress() async throws {
    let server = try OriginServer.serving { .text($0.path) }
    defer { server.stop() }
    let texts = try await withThrowingTaskGroup { group in
      for number in 0..<100 {
        group.addTask { [engine] in try await engine.answer(server, "/\(number)").text }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(texts == Set((0..<100).map { "/\($0)" }))
  }

  // MARK: Both directions

  @Test("the body and its echo alternate byte by byte")
  func echoInterleaved() async throws {
    let server = try streamingServer { peer, _ in try peer.echoChunks() }
    defer { server.stop() }
    let (echoes, continuation) = AsyncStream<Void>.makeStream()
    let request = EngineRequest(method: "POST", uri: try URI("\(server.url)/"))
    let count = try await engine.execute(
      request,
      body: .nonrestartable { writer in
        var writer = writer
        var echo = echoes.makeAsyncIterator()
        for _ in 0..<500 {
          try await writer.write([0x41])
          await echo.next()
        }
      }
    ) { _, reader in
      var count = 0
      try await reader.forEach { piece in
        #expect(piece == [0x41])
        count += piece.count
        continuation.yield()
      }
      return count
    }
    #expect(count == 500)
  }

  @Test("the server speaks first, and each of its bytes is answered in the body")
  func speakInterleaved() async throws {
    let answers = Mutex(0)
    let server = try streamingServer { peer, _ in
      try peer.beginChunked()
      var unread = 0
      for _ in 0..<200 {
        try peer.chunk("S")
        // A chunk of one byte: 1 CRLF, the byte, CRLF.
        while unread < 6 {
          let count = try peer.receive().count
          guard count > 0 else { return }
          unread += count
        }
        unread -= 6
        answers.withLock { $0 += 1 }
      }
      try peer.endChunked()
    }
    defer { server.stop() }
    let (spoken, continuation) = AsyncStream<Void>.makeStream()
    let request = EngineRequest(method: "POST", uri: try URI("\(server.url)/"))
    let count = try await engine.execute(
      request,
      body: .nonrestartable { writer in
        var writer = writer
        for await _ in spoken { try await writer.write([0x41]) }
      }
    ) { _, reader in
      var count = 0
      try await reader.forEach { piece in
        for _ in piece { continuation.yield() }
        count += piece.count
      }
      continuation.finish()
      return count
    }
    #expect(count == 200 && answers.withLock { $0 } == 200)
  }

  @Test("trailers are written and read")
  func trailers() async throws {
    let server = try streamingServer { peer, _ in try peer.echoChunks() }
    defer { server.stop() }
    let body = StreamingBody.restartable(trailerNames: ["X-Sum"]) { writer in
      var writer = writer
      try await writer.write(Array("text".utf8))
      try writer.finish(["X-Sum": "4"])
    }
    let answer = try await engine.answer(server, method: "POST", body: body)
    #expect(answer.text == "text" && answer.trailers == ["X-Sum": "4"])
  }

  // MARK: Cancellation

  @Test("a call that is cancelled before the head or before the body ends", arguments: [false, true])
  func cancelled(afterHead: Bool) async throws {
    let (hasArrived, hasClosed) = (Gate(), Gate())
    let server = try streamingServer { peer, _ in
      if afterHead { try peer.beginChunked() }
      hasArrived.open()
      _ = try peer.awaitClose()
      hasClosed.open()
    }
    defer { server.stop() }
    let hasHead = Gate()
    let task = Task { [engine] in
      try await engine.execute(EngineRequest(uri: try URI("\(server.url)/"))) { _, reader in
        hasHead.open()
        return try await reader.collect().body
      }
    }
    await (afterHead ? hasHead : hasArrived).wait()
    task.cancel()
    let error = await #expect(throws: EngineError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    await hasClosed.wait()
  }
}
