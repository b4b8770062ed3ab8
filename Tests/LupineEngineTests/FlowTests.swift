// FlowTests: backpressure, cancellation, shutdown and limits. Misbehaviour+Stalls.swift covers peers that stall.

import LupineEngine
import LupineOrigin
import Testing

@Suite struct FlowTests {
  @Test(
    "the receiver of a response gets as many bytes as its receive window permits, and the rest once it extends the window",
    arguments: ["identity", "gzip"])
  func window(coding: String) async throws {
    let body = Pattern.bytes(0..<1_000_000)
    let origin = try OriginServer.serving { _ in
      coding == "gzip" ? Reply(.coded(body, .gzip)) : Reply(.bytes(body))
    }
    defer { origin.stop() }
    let reached = Gate()
    let sink = RecordingSink { if $0 >= 100_000 { reached.open() } }
    let handle = try Engine().submitKept(EngineRequest(uri: try URI("\(origin.url)/")), to: sink, windowBytes: 100_000)
    await reached.wait()
    #expect(sink.receivedCount == 100_000)
    #expect(!sink.finished.isOpen)
    handle.exchange.extendWindow(by: 50_000)
    handle.exchange.extendWindow(by: .max)
    let outcome = await sink.outcome
    #expect(outcome.error == nil)
    #expect(outcome.body == body)
  }

  @Test("a paused exchange delivers none of its response until the caller resumes the exchange")
  func pause() async throws {
    let origin = try OriginServer.serving { _ in Reply(.pattern(byteCount: 20_000_000)) }
    defer { origin.stop() }
    let started = Gate()
    let sink = RecordingSink { _ in started.open() }
    let handle = try Engine().submitKept(EngineRequest(uri: try URI("\(origin.url)/")), to: sink)
    await started.wait()
    handle.exchange.pause()
    handle.exchange.resume()
    let outcome = await sink.outcome
    #expect(outcome.body.count == 20_000_000)
    let period = Pattern.bytes(0..<251)
    var expected: [UInt8] = []
    while expected.count < outcome.body.count { expected += period }
    #expect(outcome.body == Array(expected.prefix(outcome.body.count)))
  }

  @Test("a request fails if the response's body is larger than the caller's limit", arguments: [true, false])
  func bodyLimit(isChunked: Bool) async throws {
    let origin = try OriginServer.serving { _ in
      isChunked
        ? Reply(.chunks([[UInt8](repeating: 46, count: 1_000_001)], pause: .zero))
        : Reply(.pattern(byteCount: 1_000_001))
    }
    defer { origin.stop() }
    var request = EngineRequest(uri: try URI("\(origin.url)/"))
    request.bodyBytesMax = 1_000_000
    let record = try await Engine().record(request)
    #expect(record.error?.code == .bodyTooLarge)
    #expect(record.body.count <= 1_000_000)
  }

  @Test("a request whose response declares a longer body than the caller's limit fails before the body arrives")
  func declaredLength() async throws {
    let origin = try OriginServer { peer in
      guard let request = try peer.readRequest() else { return }
      let fields = request.path == "/coded" ? "Content-Encoding: gzip\r\n" : ""
      try peer.send("HTTP/1.1 200 OK\r\n\(fields)Content-Length: 1001\r\n\r\n")
      _ = try peer.awaitClose()
    }
    defer { origin.stop() }
    let engine = try Engine()
    for (path, decodes) in [("/", true), ("/", false), ("/coded", false)] {
      var request = EngineRequest(uri: try URI("\(origin.url)\(path)"))
      request.bodyBytesMax = 1_000
      request.decodesContent = decodes
      // Without the check of the declared length, the request would wait for the body.
      request.timeouts.idle = .seconds(30)
      let record = await engine.record(request)
      #expect(record.error?.code == .bodyTooLarge && record.error?.phase == .receive, "\(path)")
      #expect(record.head?.status == 200 && record.body.isEmpty, "\(path)")
      #expect(record.error?.description.contains("1000 bytes") == true, "\(path)")
    }
  }

  @Test(
    "a Content-Length beyond the caller's limit isn't an error if there is no body or the decoded body is short enough"
  )
  func harmlessLength() async throws {
    // Gzip makes these bytes longer.
    let body = (0..<100).map { UInt8($0) }
    let coded = try ContentEncoder.encode(body, as: .gzip)
    try #require(coded.count > body.count)
    let origin = try OriginServer { peer in
      while let request = try peer.readRequest() {
        switch request.path {
        case "/204", "/304": try peer.send("HTTP/1.1 \(request.path.dropFirst()) X\r\nContent-Length: 1001\r\n\r\n")
        case "/coded": try peer.respond(fields: ["Content-Encoding": "gzip"], body: coded)
        default: try peer.respond(fields: ["Content-Length": "100"], body: body)
        }
      }
    }
    defer { origin.stop() }
    let engine = try Engine()
    for (method, path, count) in [
      ("HEAD", "/", 0), ("GET", "/204", 0), ("GET", "/304", 0), ("GET", "/coded", 100), ("GET", "/", 100),
    ] {
      var request = EngineRequest(method: method, uri: try URI("\(origin.url)\(path)"))
      request.bodyBytesMax = method == "HEAD" ? 99 : 100
      let record = await engine.record(request)
      #expect(record.error == nil && record.body.count == count, "\(method) \(path)")
    }
    // A discarded body is never too long.
    var request = EngineRequest(uri: try URI("\(origin.url)/"))
    request.bodyBytesMax = 99
    let sink = RecordingSink(disposition: .discard)
    engine.submit(request, to: sink)
    #expect(await sink.outcome.error == nil)
  }

  @Test("the engine's settings limit the decoding of a response body with a content coding")
  func codingLimits() async throws {
    let text = [UInt8](repeating: 46, count: 100_000)
    let once = try ContentEncoder.encode(text, as: .gzip)
    let twice = try ContentEncoder.encode(once, as: .gzip)
    let origin = try OriginServer.serving { request in
      Reply(
        fields: ["Content-Encoding": request.path == "/1" ? "gzip" : "gzip, gzip"],
        .bytes(request.path == "/1" ? once : twice))
    }
    defer { origin.stop() }
    var configuration = EngineConfiguration()
    configuration.codings.layersMax = 1
    configuration.codings.decodedBytesMax = 99_999
    let engine = try Engine(configuration: configuration)
    let large = try await engine.record("\(origin.url)/1").error
    #expect(large?.code == .bodyTooLarge)
    #expect(large?.description.contains("99999") == true)
    #expect(try await engine.record("\(origin.url)/2").error?.code == .decodingFailed)
  }

  @Test("the engine uploads a large body completely and without changes")
  func upload() async throws {
    let origin = try OriginServer.serving { request in
      Reply(.bytes(request.body))
    }
    defer { origin.stop() }
    let block = (0..<10_007).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    var body: [UInt8] = []
    for _ in 0..<500 { body += block }
    let request = EngineRequest(method: "PUT", uri: try URI("\(origin.url)/"), body: RequestBody(body))
    let record = try await Engine().record(request)
    #expect(record.body == body)
    #expect(record.metrics?.requestBodyBytes == UInt64(body.count))
  }

  @Test("a request whose body's file is unreadable fails before anything is sent, and later requests succeed")
  func missingFile() async throws {
    let origin = try OriginServer.serving { _ in .text("here") }
    defer { origin.stop() }
    let engine = try Engine()
    var request = EngineRequest(method: "PUT", uri: try URI("\(origin.url)/"))
    request.body.append(.file(path: "/nowhere/file", byteCount: 3))
    let error = await engine.record(request).error
    #expect(error?.code == .bodyUnreadable)
    #expect(error?.progress == .nothingSent)
    #expect(error?.description.contains("/nowhere/file") == true)
    #expect(origin.requestCount == 0)
    #expect(try await engine.record(origin.url).text == "here")
  }

  @Test("cancelling a request in progress closes its connection at once")
  func cancelOnTheWire() async throws {
    let (arrived, left) = (Gate(), Gate())
    let origin = try OriginServer { peer in
      guard try peer.readRequest() != nil else { return }
      arrived.open()
      _ = try peer.awaitClose()
      left.open()
    }
    defer { origin.stop() }
    let sink = RecordingSink()
    let handle = try Engine().submitKept(EngineRequest(uri: try URI("\(origin.url)/")), to: sink)
    await arrived.wait()
    handle.exchange.cancel()
    handle.exchange.cancel()
    let outcome = await sink.outcome
    #expect(outcome.error?.code == .cancelled)
    #expect(outcome.error?.phase == .firstByte)
    #expect(outcome.finishCount == 1)
    await left.wait()
  }

  @Test("cancelling a request that waits for a connection doesn't change the order of the other waiting requests")
  func cancelWaiting() async throws {
    let go = Gate()
    let origin = try OriginServer { peer in
      while let request = try peer.readRequest() {
        if request.path == "/first" { try peer.wait(for: go) }
        try peer.respond(body: Array(request.path.utf8))
      }
    }
    defer { origin.stop() }
    var configuration = EngineConfiguration()
    configuration.pool.connectionsPerOriginMax = 1
    let engine = try Engine(configuration: configuration)
    let sinks = [RecordingSink(), RecordingSink(), RecordingSink()]
    let handles = try zip(["first", "second", "third"], sinks).map { path, sink in
      engine.submit(EngineRequest(uri: try URI("\(origin.url)/\(path)")), to: sink)
    }
    handles[1].cancel()
    #expect(await sinks[1].outcome.error?.phase == .poolWait)
    go.open()
    #expect(await sinks[0].outcome.text == "/first")
    #expect(await sinks[2].outcome.text == "/third")
    #expect(origin.connectionCount == 1)
  }

  @Test("bytes that arrive while the receive window is full stay in order, even if the connection is then reset")
  func resetWhileHeld() async throws {
    let (full, reset) = (Gate(), Gate())
    let body = Pattern.bytes(0..<200_000)
    let origin = try OriginServer { peer in
      guard try peer.readRequest() != nil else { return }
      try peer.beginChunked()
      for start in stride(from: 0, to: body.count, by: 1000) { try peer.chunk(Array(body[start..<start + 1000])) }
      // Earlier, the client could receive the reset before the bytes that fill its window.
      try peer.wait(for: full)
      peer.reset()
      reset.open()
    }
    defer { origin.stop() }
    let sink = RecordingSink { if $0 == 5_500 { full.open() } }
    let handle = try Engine().submitKept(EngineRequest(uri: try URI("\(origin.url)/")), to: sink, windowBytes: 5_500)
    await full.wait()
    await reset.wait()
    handle.exchange.extendWindow(by: .max)
    let outcome = await sink.outcome
    #expect(outcome.error?.code == .connectionLost)
    #expect(outcome.body == Array(body.prefix(outcome.body.count)))
  }

  @Test("pausing and resuming a request before its response doesn't stop the time limit for the first byte")
  func pauseBeforeReply() async throws {
    let arrived = Gate()
    let origin = try OriginServer.silent(opening: arrived)
    defer { origin.stop() }
    var request = EngineRequest(uri: try URI("\(origin.url)/"))
    request.timeouts.firstByte = .milliseconds(150)
    let sink = RecordingSink()
    let handle = try Engine().submitKept(request, to: sink)
    await arrived.wait()
    handle.exchange.pause()
    handle.exchange.resume()
    let outcome = await sink.outcome
    #expect(outcome.error?.phase == .firstByte)
    #expect(outcome.error?.progress == .sent)
    #expect(outcome.metrics?.responseStart == nil)
  }

  @Test("if a connection can't be opened, each of the thousands of requests that wait for the connection fails once")
  func refusedWaiters() async throws {
    // Port 1 is never assigned to a test's server; another unused port could be in use by the time of the request.
    let url = "http://127.0.0.1:1"
    var configuration = EngineConfiguration()
    configuration.pool.connectionsPerOriginMax = 1
    let engine = try Engine(configuration: configuration)
    let sinks = try (0..<5_000).map { _ in
      let sink = RecordingSink()
      engine.submit(EngineRequest(uri: try URI("\(url)/")), to: sink)
      return sink
    }
    for sink in sinks {
      let outcome = await sink.outcome
      #expect(outcome.error?.code == .connectionRefused)
      #expect(outcome.finishCount == 1)
    }
  }

  @Test("if one address of a host refuses the connection and another is unreachable, the refusal is reported")
  func refusalTakesPrecedence() async throws {
    // TCP can't connect to a multicast address. Port 1 is never assigned to a test's server.
    let refusing = try #require(SocketAddress(numeric: "127.0.0.1", port: 0))
    let unreachable = try #require(SocketAddress(numeric: "224.0.0.1", port: 0))
    for addresses in [[refusing, unreachable], [unreachable, refusing]] {
      var configuration = EngineConfiguration()
      configuration.resolver.overrides = [HostOverride(host: "name.example", addresses: addresses)]
      let record = try await Engine(configuration: configuration).record("http://name.example:1/")
      #expect(record.error?.code == .connectionRefused)
    }
  }

  @Test("releasing the engine ends each request that waits for a connection exactly once")
  func shutDownWaiters() async throws {
    let arrived = Gate()
    let origin = try OriginServer.silent(opening: arrived)
    defer { origin.stop() }
    let sinks = (0..<20).map { _ in RecordingSink() }
    do {
      var configuration = EngineConfiguration()
      configuration.pool.connectionsPerOriginMax = 2
      let engine = try Engine(configuration: configuration)
      for sink in sinks { engine.submit(EngineRequest(uri: try URI("\(origin.url)/")), to: sink) }
      await arrived.wait()
    }
    for sink in sinks {
      let outcome = await sink.outcome
      #expect(outcome.error?.code == .shutDown)
      #expect(outcome.finishCount == 1)
    }
    #expect(origin.connectionCount <= 2)
  }

  @Test("releasing the engine ends the requests in progress")
  func shutDown() async throws {
    let arrived = Gate()
    let origin = try OriginServer.silent(opening: arrived)
    defer { origin.stop() }
    let sink = RecordingSink()
    do {
      let engine = try Engine()
      engine.submit(EngineRequest(uri: try URI("\(origin.url)/")), to: sink)
      await arrived.wait()
    }
    #expect(await sink.outcome.error?.code == .shutDown)
  }

  private struct SilentResolver: HostResolver {
    func addresses(of host: String) async throws(ResolveError) -> [SocketAddress] {
      // Waits until the task is cancelled.
      for await _ in AsyncStream<Never>.makeStream().stream {}
      return []
    }
  }

  @Test("a name lookup that the resolver doesn't answer ends at its time limit")
  func resolveTimeout() async throws {
    var request = EngineRequest(uri: try URI("http://silent.example/"))
    request.timeouts.resolve = .milliseconds(150)
    var configuration = EngineConfiguration()
    configuration.resolver.resolver = SilentResolver()
    let engine = try Engine(configuration: configuration)
    let record = await engine.record(request)
    #expect(record.error?.code == .timedOut)
    #expect(record.error?.phase == .resolve)
    #expect(record.finishCount == 1)
  }

  @Test("a request fails if its wait for a busy connection reaches the time limit")
  func poolWaitTimeout() async throws {
    let arrived = Gate()
    let origin = try OriginServer.silent(opening: arrived)
    defer { origin.stop() }
    var configuration = EngineConfiguration()
    configuration.pool.connectionsPerOriginMax = 1
    let engine = try Engine(configuration: configuration)
    engine.submit(EngineRequest(uri: try URI("\(origin.url)/")), to: RecordingSink())
    await arrived.wait()
    var second = EngineRequest(uri: try URI("\(origin.url)/"))
    second.timeouts.poolWait = .milliseconds(150)
    let record = await engine.record(second)
    #expect(record.error?.code == .timedOut)
    #expect(record.error?.phase == .poolWait)
  }
}

/// A submitted exchange, and the engine that performs it. The exchange ends if the engine is released.
struct KeptExchange {
  let engine: Engine
  let exchange: ExchangeHandle
}

extension Engine {
  func submitKept(_ request: EngineRequest, to sink: any ResponseSink, windowBytes: Int = .max) -> KeptExchange {
    KeptExchange(engine: self, exchange: submit(request, to: sink, windowBytes: windowBytes))
  }
}
