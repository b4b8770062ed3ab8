// ProducedBodyTests: request bodies produced while they are sent: lengths, backpressure, failures and compression.

import LupineEngine
import LupineOrigin
import Synchronization
import Testing

@Suite("A body from a producer", .timeLimit(.minutes(10)))
struct ProducedBodyTests {
  private struct Broken: Error {}

  private func put(_ body: RequestBody, to origin: OriginServer, path: String = "/") throws -> EngineRequest {
    EngineRequest(method: "PUT", uri: try URI("\(origin.url)\(path)"), body: body)
  }

  /// Creates a server whose response states how the request's body was framed, and contains the body.
  private func echo() throws -> OriginServer {
    try OriginServer.serving { request in
      let framing = request.fields.first("Content-Length") ?? request.fields.first("Transfer-Encoding") ?? "none"
      return .text("\(framing): \(String(decoding: request.body, as: UTF8.self))")
    }
  }

  @Test("the client sends a body from a producer with Content-Length if its length is known, else in chunks")
  func framing() async throws {
    let origin = try echo()
    defer { origin.stop() }
    let engine = try Engine()
    let pieces = AsyncStream<[UInt8]> { continuation in
      for piece in ["one ", "", "two ", "three"] { continuation.yield(Array(piece.utf8)) }
      continuation.finish()
    }
    #expect(await engine.record(try put(RequestBody(pieces), to: origin)).text == "chunked: one two three")
    let known = RequestBody(byteCount: 4) { writer in
      try await writer.write(Array("fo".utf8))
      try await writer.write(Array("ur".utf8))
    }
    #expect(await engine.record(try put(known, to: origin)).text == "4: four")
    let nothing = RequestBody { _ in }
    #expect(await engine.record(try put(nothing, to: origin)).text == "chunked: ")
  }

  @Test("a request body may combine segments from a producer with bytes and files")
  func mixed() async throws {
    let origin = try echo()
    defer { origin.stop() }
    var body = RequestBody("<")
    body.append(.bytes([]))
    for segment in RequestBody(producedBy: { try await $0.write(Array("middle".utf8)) }).segments {
      body.append(segment)
    }
    body.append(.bytes(Array(">".utf8)))
    #expect(body.byteCount == nil)
    #expect(try await Engine().record(try put(body, to: origin)).text == "chunked: <middle>")
  }

  @Test(
    "a request fails if its body's producer writes more or fewer bytes than declared", arguments: [3, 5] as [UInt64])
  func wrongLength(byteCount: UInt64) async throws {
    let origin = try OriginServer { peer in _ = try peer.awaitClose() }
    defer { origin.stop() }
    let body = RequestBody(byteCount: byteCount) { try await $0.write(Array("four".utf8)) }
    let error = try await Engine().record(try put(body, to: origin)).error
    #expect(error?.code == .bodyUnreadable)
    guard case .bodyLength(byteCount, 4) = error?.cause else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(error?.description.contains("was declared as \(byteCount) bytes") == true)
  }

  @Test("if a request body's producer throws, the exchange fails and the connection is closed")
  func failingProducer() async throws {
    let left = Gate()
    let origin = try OriginServer { peer in
      _ = try peer.awaitClose()
      left.open()
    }
    defer { origin.stop() }
    let body = RequestBody { writer in
      try await writer.write([1, 2, 3])
      throw Broken()
    }
    let engine = try Engine()
    let error = await engine.record(try put(body, to: origin)).error
    guard error?.code == .bodyUnreadable, case .producer(is Broken) = error?.cause else {
      Issue.record("\(String(describing: error))")
      return
    }
    await left.wait()
  }

  @Test("a request body's producer is suspended while the server doesn't read")
  func backpressure() async throws {
    let (full, go) = (Gate(), Gate())
    let origin = try OriginServer { peer in
      guard var request = try peer.readHead() else { return }
      try peer.wait(for: go)
      try peer.readBody(of: &request)
      try peer.respond(body: Array(String(request.body.count).utf8))
    }
    defer { origin.stop() }
    let written = Atomic<Int>(0)
    let total = 64 * 1024 * 1024
    let piece = [UInt8](repeating: 7, count: 64 * 1024)
    let body = RequestBody(byteCount: UInt64(total)) { [full] writer in
      for index in 1...(total / piece.count) {
        // On loopback, the kernel buffers a few MiB. Without backpressure, the engine would buffer the rest of the body.
        if index == 2 { full.open() }
        try await writer.write(piece)
        written.store(index * piece.count, ordering: .releasing)
      }
    }
    let engine = try Engine()
    let sink = RecordingSink()
    engine.submit(try put(body, to: origin), to: sink)
    await full.wait()
    // During each round trip on the same loop, an engine without backpressure would read more of the body.
    let other = try OriginServer.serving { _ in .text("x") }
    defer { other.stop() }
    for _ in 0..<200 { #expect(try await engine.record(other.url).text == "x") }
    #expect(written.load(ordering: .acquiring) < total / 2)
    go.open()
    #expect(await sink.outcome.text == String(total))
  }

  @Test("cancelling a request cancels the task that produces the body, and the task's pending write throws an error")
  func cancelled() async throws {
    let origin = try OriginServer { peer in _ = try peer.awaitClose() }
    defer { origin.stop() }
    let (began, ended) = (Gate(), Gate())
    let body = RequestBody { writer in
      defer { ended.open() }
      began.open()
      while true { try await writer.write([UInt8](repeating: 0, count: 1024 * 1024)) }
    }
    let engine = try Engine()
    let sink = RecordingSink()
    let handle = engine.submit(try put(body, to: origin), to: sink)
    await began.wait()
    handle.cancel()
    #expect(await sink.outcome.error?.code == .cancelled)
    await ended.wait()
  }

  @Test(
    "the client doesn't send a body again after a lost connection or a redirect if its producer can't be called again")
  func spent() async throws {
    let requests = Atomic<Int>(0)
    let origin = try OriginServer { peer in
      // The first request leaves an idle connection, which the server closes after reading the second request.
      while let request = try peer.readRequest() {
        if request.path == "/keep" {
          try peer.respond()
        } else if request.path == "/redirect" {
          try peer.respond(status: 307, fields: ["Location": "/target"])
        } else {
          requests.add(1, ordering: .relaxed)
          return peer.close()
        }
      }
    }
    defer { origin.stop() }
    let engine = try Engine()
    #expect(try await engine.record("\(origin.url)/keep").error == nil)
    let once = RequestBody { try await $0.write([1]) }
    let redirected = try put(once, to: origin, path: "/redirect")
    let lost = await engine.record(try put(once, to: origin))
    #expect(lost.error?.code == .connectionLost)
    #expect(lost.metrics?.replayCount == 0)
    #expect(requests.load(ordering: .relaxed) == 1)

    do throws(EngineError) {
      _ = try await engine.collect(redirected, redirects: RedirectRule())
      Issue.record("A body that isn't replayable was sent again.")
    } catch {
      #expect(error.code == .bodyNotReplayable)
    }
  }

  @Test("after a 307, the client sends a body again if its producer can be called again")
  func replayed() async throws {
    let origin = try OriginServer.serving { request in
      request.path == "/"
        ? Reply(status: 307, fields: ["Location": "/target"])
        : .text("\(request.path) \(String(decoding: request.body, as: UTF8.self))")
    }
    defer { origin.stop() }
    let runs = Atomic<Int>(0)
    let body = RequestBody(isReplayable: true) { writer in
      runs.add(1, ordering: .relaxed)
      try await writer.write(Array("again".utf8))
    }
    let response = try await Engine().collect(try put(body, to: origin), redirects: RedirectRule())
    #expect(String(decoding: response.body, as: UTF8.self) == "/target again")
    #expect(runs.load(ordering: .relaxed) == 2)
  }

  @Test("the client compresses a body while the body's producer is writing", arguments: ContentCoding.allCases)
  func compressed(coding: ContentCoding) async throws {
    let origin = try OriginServer.serving { request in
      // The server returns the coded body unchanged, and the client decodes it.
      Reply(fields: ["Content-Encoding": request.fields.first("Content-Encoding") ?? "missing"], .bytes(request.body))
    }
    defer { origin.stop() }
    let text = (0..<20_000).map { "line \($0)\n" }.joined()
    let pieces = RequestBody(isReplayable: true) { writer in
      for line in text.split(separator: "\n", omittingEmptySubsequences: true) {
        try await writer.write(Array("\(line)\n".utf8))
      }
    }
    let engine = try Engine()
    for body in [RequestBody(text), pieces] {
      var request = try put(body, to: origin)
      request.bodyCoding = coding
      let record = await engine.record(request)
      #expect(record.text == text)
      #expect(record.head?.fields.first("Content-Encoding") == coding.name)
      #expect((record.metrics?.requestBodyBytes ?? .max) < UInt64(text.utf8.count / 2))
    }
  }
}
