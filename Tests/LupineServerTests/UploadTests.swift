// UploadTests: request bodies to real servers: from memory, producers and files, large, expected and refused.

import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@Suite("Uploads to real servers", .timeLimit(.minutes(10)))
struct UploadTests {
  private static let largeByteCount = 100_000_000

  /// Returns a body of `Pattern` whose producer writes it while it is sent. Its length is declared only if `declared` is true.
  private func pattern(_ byteCount: Int, declared: Bool) -> RequestBody {
    RequestBody(byteCount: declared ? UInt64(byteCount) : nil, isReplayable: true) { writer in
      // The size of a piece is a multiple of the pattern's period, so that all pieces are equal.
      let piece = PatternBytes.make(PatternBytes.period * 1024)
      var left = byteCount
      while left > 0 {
        try await writer.write(left >= piece.count ? piece : Array(piece[..<left]))
        left -= piece.count
      }
    }
  }

  @Test(
    "servers receive all bytes of an uploaded body, with Content-Length or in chunks",
    arguments: [0, 1, 1000, 1_000_000])
  func framings(byteCount: Int) async throws {
    let engine = try Engine.forServers()
    let fixed = try await engine.collect(
      .apache, "/count", method: "POST", body: RequestBody(PatternBytes.make(byteCount)))
    #expect(fixed.text == "POST \(byteCount) length=\(byteCount) coding=\n")
    let chunked = try await engine.collect(
      .apache, "/count", method: "PUT", body: pattern(byteCount, declared: false))
    #expect(chunked.text.hasPrefix("PUT \(byteCount) "))
    #expect(try chunked.metric.requestBodyBytes == UInt64(byteCount))
    #expect(try chunked.metric.isReusedConnection)
    let behindProxy = try await engine.collect(
      .nginx, "/expect", method: "POST", body: pattern(byteCount, declared: false))
    #expect(behindProxy.text.hasPrefix("POST \(byteCount) length=\(byteCount) "))
  }

  @Test("httpbin receives a chunked body with unchanged content")
  func chunkedContent() async throws {
    let lines = AsyncStream<[UInt8]> { continuation in
      for line in 0..<100 { continuation.yield(Array("line \(line);".utf8)) }
      continuation.finish()
    }
    let response = try await Engine.forServers().collect(
      .httpbin, "/anything", method: "POST", fields: ["Content-Type": "text/plain"], body: RequestBody(lines))
    #expect(response.text.contains("\"Transfer-Encoding\": \"chunked\""))
    #expect(response.text.contains("\"data\": \"\((0..<100).map { "line \($0);" }.joined())\""))
  }

  @Test("Apache receives a body of 100 MB with Content-Length completely")
  func largeToApache() async throws {
    let body = RequestBody(PatternBytes.make(Self.largeByteCount))
    let response = try await Engine.forServers().collect(.apache, "/count", method: "POST", body: body)
    #expect(response.text == "POST \(Self.largeByteCount) length=\(Self.largeByteCount) coding=\n")
    #expect(try response.metric.requestBodyBytes == UInt64(Self.largeByteCount))
  }

  @Test("nginx stores 100 MB that a body's producer sends in chunks, and returns the bytes unchanged")
  func largeThereAndBack() async throws {
    let engine = try Engine.forServers()
    let path = "/uploads/large-chunked"
    let put = try await engine.collect(
      .nginx, path, method: "PUT", body: pattern(Self.largeByteCount, declared: false))
    #expect([201, 204].contains(put.status))
    try await expectPattern(Self.largeByteCount, engine, path)
    #expect(try await engine.collect(.nginx, path, method: "DELETE").status == 204)
  }

  @Test("nginx stores an uploaded large file, and returns the file unchanged", arguments: [Server.nginx, .nginxTLS])
  func largeFile(server: Server) async throws {
    let byteCount = 4_000_000
    let engine = try Engine.forServers()
    let file = try TemporaryFile(PatternBytes.make(byteCount))
    var body = RequestBody()
    body.append(.file(path: file.path, byteCount: UInt64(byteCount)))
    let path = "/uploads/file-\(server.rawValue)"
    let put = try await engine.collect(server, path, method: "PUT", body: body)
    #expect([201, 204].contains(put.status))
    #expect(try put.metric.requestBodyBytes == UInt64(byteCount))
    try await expectPattern(byteCount, engine, path)
    #expect(try await engine.collect(server, path, method: "DELETE").status == 204)
  }

  private func expectPattern(_ byteCount: Int, _ engine: Engine, _ path: String) async throws {
    let sink = CountingSink(.pattern)
    engine.submit(EngineRequest(uri: try await Server.nginx.uri(path)), to: sink)
    await sink.finished.wait()
    #expect(sink.error == nil)
    #expect(sink.receivedCount == byteCount)
    #expect(sink.isRight)
  }

  @Test("one request body can consist of bytes, a file and a producer's output")
  func segments() async throws {
    let file = try TemporaryFile(Array("from a file, ".utf8))
    var body = RequestBody("from memory, ")
    body.append(.file(path: file.path, byteCount: 13))
    for segment in RequestBody(byteCount: 15, producedBy: { try await $0.write(Array("from a producer".utf8)) })
      .segments
    {
      body.append(segment)
    }
    let engine = try Engine.forServers()
    let response = try await engine.collect(
      .httpbin, "/anything", method: "PUT", fields: ["Content-Type": "text/plain"], body: body)
    #expect(response.text.contains("\"data\": \"from memory, from a file, from a producer\""))
    #expect(response.text.contains("\"Content-Length\": \"41\""))
  }

  @Test("if a request body's file is missing or too short, the request fails with an error that contains the path")
  func badFiles() async throws {
    let engine = try Engine.forServers()
    let short = try TemporaryFile([1, 2, 3])
    for (path, count) in [("/nowhere/file", 3), (short.path, 1000)] as [(String, UInt64)] {
      var body = RequestBody()
      body.append(.file(path: path, byteCount: count))
      let error = try await engine.failure(.nginx, "/uploads/bad", method: "PUT", body: body)
      #expect(error.code == .bodyUnreadable)
      #expect(error.phase == .send)
      #expect(error.description.contains(path))
    }
    #expect(try await engine.collect(.nginx, "/uploads/bad").status == 404)
  }

  // MARK: Expect: 100-continue, and refusals

  @Test(
    "with Expect: 100-continue, the server sends 100 (Continue) before it receives the body",
    arguments: [(Server.apache, "/count"), (.nginx, "/expect")])
  func granted(server: Server, path: String) async throws {
    let engine = try Engine.forServers()
    let body = PatternBytes.make(200_000)
    let sink = InformationalSink()
    var request = EngineRequest(
      method: "POST", uri: try await server.uri(path), fields: ["Expect": "100-continue"], body: RequestBody(body))
    // If no 100 arrived, the test would fail after this limit.
    request.timeouts.awaitContinue = .seconds(60)
    engine.submit(request, to: sink)
    await sink.finished.wait()
    #expect(sink.statuses == [100])
    #expect(sink.text.hasPrefix("POST 200000 "))
  }

  @Test(
    "with Expect: 100-continue, the client doesn't send the body if the server responds with an error",
    arguments: ["/denied", "/limited"])
  func refused(path: String) async throws {
    let engine = try Engine.forServers()
    let status = path == "/denied" ? 403 : 413
    let response = try await engine.collect(
      .apache, path, method: "POST", fields: ["Expect": "100-continue"],
      body: RequestBody(PatternBytes.make(200_000))
    ) { $0.timeouts.awaitContinue = .seconds(60) }
    #expect(response.status == status)
    #expect(try response.metric.requestBodyBytes == 0)
    // The server may take the next bytes for the body, so the connection isn't reused.
    #expect(try await engine.collect(.apache, "/small.txt").metric.isReusedConnection == false)
  }

  @Test(
    "if the server refuses a body during the upload, the client delivers the response instead of a broken pipe error")
  func earlyRefusal() async throws {
    let engine = try Engine.forServers()
    let byteCount = 50_000_000
    let body = RequestBody([UInt8](repeating: 7, count: byteCount))
    let response = try await engine.collect(.apache, "/limited", method: "POST", body: body)
    #expect(response.status == 413)
    #expect(try response.metric.requestBodyBytes < UInt64(byteCount))
    #expect(try await engine.collect(.apache, "/small.txt").metric.isReusedConnection == false)
    // A refusal after the server has read the entire body leaves the connection usable.
    let read = try await engine.collect(.apache, "/denied", method: "POST", body: RequestBody(PatternBytes.make(1000)))
    #expect(read.status == 403)
    #expect(
      try await engine.collect(.apache, "/limited", method: "POST", body: RequestBody(PatternBytes.make(1024)))
        .text.hasPrefix("POST 1024 "))
  }

  @Test("a server's response ends the upload of an endless body, and the body's producer ends too")
  func endlessRefused() async throws {
    let engine = try Engine.forServers()
    let ended = Gate()
    let body = RequestBody { writer in
      defer { ended.open() }
      while true { try await writer.write([UInt8](repeating: 7, count: 64 * 1024)) }
    }
    let response = try await engine.collect(.apache, "/limited", method: "POST", body: body)
    #expect(response.status == 413)
    await ended.wait()
  }

  @Test("cancelling an upload ends the transfer at the client and at the server")
  func cancelled() async throws {
    let engine = try Engine.forServers()
    let (flowing, ended) = (Gate(), Gate())
    let body = RequestBody { writer in
      defer { ended.open() }
      var count = 0
      while true {
        try await writer.write([UInt8](repeating: 7, count: 64 * 1024))
        count += 1
        if count == 100 { flowing.open() }
      }
    }
    let sink = CountingSink()
    let handle = engine.submit(
      EngineRequest(method: "POST", uri: try await Server.apache.uri("/count"), body: body), to: sink)
    await flowing.wait()
    handle.cancel()
    await sink.finished.wait()
    await ended.wait()
    #expect(sink.error?.code == .cancelled)
    #expect(sink.error?.phase == .send)
    #expect(sink.error?.progress == .sent)
    let port = try #require(sink.metrics?.localAddress?.port)
    #expect(try await KernelConnection.closes(from: port, to: .apache))
    #expect(try await engine.collect(.apache, "/small.txt").text == "small\n")
  }
}

/// A sink that records the status of interim responses, and collects the body of the final response.
private final class InformationalSink: ResponseSink {
  let finished = Gate()
  private let state = Mutex<(statuses: [Int], body: [UInt8])>(([], []))

  var statuses: [Int] { state.withLock { $0.statuses } }
  var text: String { state.withLock { String(decoding: $0.body, as: UTF8.self) } }

  func receive(informational head: ResponseHead) { state.withLock { $0.statuses.append(head.status) } }
  func receive(head: ResponseHead) -> BodyDisposition { .deliver }
  func receive(body bytes: borrowing Span<UInt8>) {
    state.withLock { $0.body.append(copying: bytes, 0..<bytes.count) }
  }
  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) { finished.open() }
}
