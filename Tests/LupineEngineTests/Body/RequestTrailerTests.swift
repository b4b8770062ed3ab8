// RequestTrailerTests: fields that a request sends after its body.

import LupineEngine
import LupineOrigin
import LupineWire
import Synchronization
import Testing

@Suite("The trailers of a request", .timeLimit(.minutes(10)))
struct RequestTrailerTests {
  /// Creates a server whose response contains the framing of the request's body, the body and its trailers.
  private func echo(_ answer: @escaping @Sendable (ReceivedRequest) -> Reply? = { _ in nil }) throws -> OriginServer {
    try OriginServer.serving { request in
      if let reply = answer(request) { return reply }
      let framing = request.fields.first("Content-Length") ?? request.fields.first("Transfer-Encoding") ?? "none"
      let trailers = request.trailers.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
      let announced = request.fields.list("Trailer") ?? "none"
      return .text("\(framing) [\(announced)] \(String(decoding: request.body, as: UTF8.self)) \(trailers)")
    }
  }

  private func body(byteCount: UInt64? = nil, isReplayable: Bool = true) -> RequestBody {
    RequestBody(byteCount: byteCount, isReplayable: isReplayable, trailerNames: ["X-Sum", "Content-Digest"]) { writer in
      try await writer.write(Array("text".utf8))
      try writer.setTrailers(["X-Sum": "0", "content-digest": "x"])
      try writer.setTrailers(["X-Sum": "4"])
    }
  }

  private func put(_ body: RequestBody, to server: OriginServer, _ path: String = "/") throws -> EngineRequest {
    EngineRequest(method: "PUT", uri: try URI("\(server.url)\(path)"), body: body)
  }

  @Test("a producer's trailers are announced, and sent after the last chunk, even if the body's length is known")
  func sent() async throws {
    let server = try echo()
    defer { server.stop() }
    let engine = try Engine()
    let expected = "chunked [X-Sum, Content-Digest] text X-Sum=4"
    #expect(await engine.record(try put(body(), to: server)).text == expected)
    #expect(await engine.record(try put(body(byteCount: 4), to: server)).text == expected)
    let pieces = AsyncStream<[UInt8]> { continuation in
      continuation.yield(Array("text".utf8))
      continuation.finish()
    }
    let sequence = RequestBody(pieces, trailerNames: ["X-Sum"], trailers: { ["x-sum": "4"] })
    #expect(await engine.record(try put(sequence, to: server)).text == "chunked [X-Sum] text x-sum=4")
    let none = RequestBody(trailerNames: ["X-Sum"]) { try await $0.write(Array("text".utf8)) }
    #expect(await engine.record(try put(none, to: server)).text == "chunked [X-Sum] text ")
  }

  @Test("a compressed body, and one of several parts, end with the trailers of their producers")
  func combined() async throws {
    let server = try echo()
    defer { server.stop() }
    var parts = RequestBody("<")
    for segment in body(byteCount: 4).segments { parts.append(segment) }
    parts.append(.bytes(Array(">".utf8)))
    var request = try put(parts, to: server)
    let engine = try Engine()
    #expect(await engine.record(request).text == "chunked [X-Sum, Content-Digest] <text> X-Sum=4")
    request.bodyCoding = .gzip
    #expect(await engine.record(request).text.hasSuffix(" X-Sum=4"))
  }

  @Test("a declared length is still checked", arguments: [3, 5] as [UInt64])
  func wrongLength(byteCount: UInt64) async throws {
    let server = try OriginServer { peer in _ = try peer.awaitClose() }
    defer { server.stop() }
    let record = await (try Engine()).record(try put(body(byteCount: byteCount), to: server))
    #expect(record.error?.code == .bodyUnreadable)
  }

  @Test(
    "a request that announces a field that isn't permitted after the body isn't sent",
    arguments: ["Content-Length", "transfer-encoding", "Host", "Authorization", "Cookie", "Content-Type", "a\r\nb"])
  func notPermitted(name: String) async throws {
    let server = try echo()
    defer { server.stop() }
    let record = await (try Engine()).record(try put(RequestBody(trailerNames: [name]) { _ in }, to: server))
    guard case .wire(.trailerNotPermitted(name)) = record.error?.cause else {
      Issue.record("\(String(describing: record.error))")
      return
    }
    #expect(record.error?.code == .invalidRequest && server.requestCount == 0)
  }

  @Test("a producer that sets a field that wasn't announced fails, and its request with it")
  func notAnnounced() async throws {
    let server = try OriginServer { peer in _ = try peer.awaitClose() }
    defer { server.stop() }
    let body = RequestBody(trailerNames: ["X-Sum"]) { try $0.setTrailers(["X-Other": "1"]) }
    let record = await (try Engine()).record(try put(body, to: server))
    guard case .producer(let error) = record.error?.cause else {
      Issue.record("\(String(describing: record.error))")
      return
    }
    #expect(error as? WireError == .trailerNotAnnounced("X-Other"))
  }

  @Test("a redirect that keeps the body sends the trailers again, and one that drops it announces none")
  func redirected() async throws {
    let server = try echo { request in
      switch request.path {
      case "/307", "/303": Reply(status: Int(request.path.dropFirst()) ?? 0, fields: ["Location": "/"])
      default: nil
      }
    }
    defer { server.stop() }
    let engine = try Engine()
    let kept = try await engine.collect(try put(body(), to: server, "/307"), redirects: RedirectRule())
    #expect(String(decoding: kept.body, as: UTF8.self) == "chunked [X-Sum, Content-Digest] text X-Sum=4")
    let dropped = try await engine.collect(try put(body(), to: server, "/303"), redirects: RedirectRule())
    #expect(String(decoding: dropped.body, as: UTF8.self) == "none [none]  ")
    let error = await #expect(throws: EngineError.self) {
      try await engine.collect(try put(body(isReplayable: false), to: server, "/307"), redirects: RedirectRule())
    }
    #expect(error?.code == .bodyNotReplayable)
  }

  @Test("a replay on another connection sends the trailers again")
  func replayed() async throws {
    let attempts = Mutex(0)
    let server = try OriginServer { peer in
      while let request = try peer.readRequest() {
        // The first PUT arrives on a reused connection, which is lost.
        if request.method == "PUT",
          attempts.withLock({
            $0 += 1; return $0 == 1
          })
        {
          return
        }
        try peer.respond(body: Array(request.trailers.map { "\($0.name)=\($0.value)" }.joined().utf8))
      }
    }
    defer { server.stop() }
    let engine = try Engine()
    _ = try await engine.record("\(server.url)/")
    let record = await engine.record(try put(body(), to: server))
    #expect(record.text == "X-Sum=4" && record.metrics?.replayCount == 1)
  }

  @Test("a body for another protocol, after a 101, can't have trailers")
  func upgraded() async throws {
    let server = try OriginServer { peer in
      guard try peer.readHead() != nil else { return }
      try peer.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")
      _ = try peer.awaitClose()
    }
    defer { server.stop() }
    var request = try put(body(), to: server)
    request.fields = ["Upgrade": "x", "Connection": "upgrade"]
    let record = await (try Engine()).record(request)
    guard case .producer(let error) = record.error?.cause else {
      Issue.record("\(String(describing: record.error))")
      return
    }
    #expect(error as? WireError == .trailerNotAnnounced("X-Sum"))
  }
}
