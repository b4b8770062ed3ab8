// ShutdownTests: graceful and abrupt shutdown of the engine, and its counters.

import LupineOrigin
import LupineWire
import Synchronization
import Testing

@testable import LupineEngine

@Suite("Shutdown and counters", .timeLimit(.minutes(10)))
struct ShutdownTests {
  @Test("a graceful shutdown of the engine completes the exchanges in flight, and refuses waiting and new requests")
  func graceful() async throws {
    let (arrived, go) = (Gate(), Gate())
    let origin = try OriginServer { peer in
      while let request = try peer.readRequest() {
        arrived.open()
        try peer.wait(for: go)
        try peer.respond(body: Array(request.path.utf8))
      }
    }
    defer { origin.stop() }
    var configuration = EngineConfiguration()
    configuration.pool.connectionsPerOriginMax = 1
    let engine = try Engine(configuration: configuration)
    let (first, second, late) = (RecordingSink(), RecordingSink(), RecordingSink())
    engine.submit(EngineRequest(uri: try URI("\(origin.url)/first")), to: first)
    await arrived.wait()
    engine.submit(EngineRequest(uri: try URI("\(origin.url)/second")), to: second)
    let end = Task { await engine.shutdown() }
    let waiting = await second.outcome.error
    #expect(waiting?.code == .shutDown)
    engine.submit(EngineRequest(uri: try URI("\(origin.url)/late")), to: late)
    #expect(await late.outcome.error?.code == .shutDown)
    go.open()
    #expect(await first.outcome.text == "/first")
    await end.value
    #expect(origin.connectionCount == 1)
  }

  @Test("a graceful shutdown becomes abrupt after its time limit, or after the earlier of two limits")
  func limited() throws {
    for (limits, end) in [([5, nil], 5), ([nil, 5], 5), ([7, 5], 5), ([5, 7], 5)] as [([Int?], Int)] {
      let stage = ShardStage()
      let (_, sink) = stage.submit(EngineRequest(uri: try URI("http://10.0.0.1/")))
      stage.turn()
      let socket = stage.network.sockets[0]
      stage.turn(socket)
      let ended = Mutex(0)
      for limit in limits {
        stage.inbox.send(
          .shutDown(isGraceful: true, limit: limit.map { .seconds($0) }) { ended.withLock { $0 += 1 } })
      }
      stage.turn()
      stage.turn(after: .milliseconds(end * 1_000 - 1))
      #expect(sink.recorded.finishCount == 0 && ended.withLock { $0 } == 0)
      stage.turn(after: .milliseconds(1))
      #expect(sink.error?.code == .shutDown && sink.error?.progress == .sent)
      #expect(ended.withLock { $0 } == 2 && stage.network.isStopped)
    }
  }

  @Test("a graceful shutdown of the engine ends with the last exchange, even before the time limit")
  func early() throws {
    let stage = ShardStage()
    let (_, sink) = stage.submit(EngineRequest(uri: try URI("http://10.0.0.1/")))
    stage.turn()
    let socket = stage.network.sockets[0]
    stage.turn(socket)
    stage.inbox.send(.shutDown(isGraceful: true, limit: .seconds(5), completion: nil))
    stage.turn()
    socket.arrivals = [.bytes(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))]
    stage.turn(socket)
    #expect(sink.error == nil && sink.recorded.finishCount == 1 && stage.network.isStopped)
  }

  @Test("a retired engine that nobody retains completes its exchanges, and then closes its connections")
  func retired() async throws {
    let (arrived, go, isClosed) = (Gate(), Gate(), Gate())
    let origin = try OriginServer { peer in
      while let request = try peer.readRequest() {
        arrived.open()
        try peer.wait(for: go)
        try peer.respond(body: Array(request.path.utf8))
      }
      isClosed.open()
    }
    defer { origin.stop() }
    var configuration = EngineConfiguration()
    configuration.pool.connectionsPerOriginMax = 1
    configuration.pool.idleTimeout = .seconds(1_000)
    let (first, second) = (RecordingSink(), RecordingSink())
    do {
      let engine = try Engine(configuration: configuration)
      engine.submit(EngineRequest(uri: try URI("\(origin.url)/first")), to: first)
      await arrived.wait()
      engine.submit(EngineRequest(uri: try URI("\(origin.url)/second")), to: second)
      engine.retire()
    }
    go.open()
    #expect(await first.outcome.text == "/first")
    #expect(await second.outcome.text == "/second")
    await isClosed.wait()
  }

  @Test("a retired engine that is released directly after a submission completes the exchange")
  func submittedAfterRetirement() async throws {
    let origin = try OriginServer.serving { _ in .text("late") }
    defer { origin.stop() }
    let sink = RecordingSink()
    do {
      let engine = try Engine()
      engine.retire()
      // The second answer comes in a later iteration than the retirement, after which the loops don't retain the engine.
      for _ in 0..<2 { _ = await engine.counters() }
      engine.submit(EngineRequest(uri: try URI("\(origin.url)/")), to: sink)
    }
    #expect(await sink.outcome.text == "late")
  }

  @Test("an engine that has shut down answers every call at once")
  func afterwards() async throws {
    let engine = try Engine()
    await engine.shutdown()
    await engine.shutdown(isGraceful: false)
    #expect(try await engine.record("http://127.0.0.1:1/").error?.code == .shutDown)
    #expect(await engine.counters() == PoolCounters())
  }

  @Test("an abrupt shutdown of the engine ends all exchanges with an error")
  func abrupt() async throws {
    let arrived = Gate()
    let origin = try OriginServer.silent(opening: arrived)
    defer { origin.stop() }
    let engine = try Engine()
    let sink = RecordingSink()
    engine.submit(EngineRequest(uri: try URI("\(origin.url)/")), to: sink)
    await arrived.wait()
    await engine.shutdown(isGraceful: false)
    let outcome = await sink.outcome
    #expect(outcome.error?.code == .shutDown)
    #expect(outcome.error?.progress == .sent)
    #expect(outcome.finishCount == 1)
  }

  /// A sink that performs an action when its exchange has ended, and ignores everything else.
  private final class EndSink: ResponseSink {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }

    func receive(head: ResponseHead) -> BodyDisposition { .deliver }
    func receive(body bytes: borrowing Span<UInt8>) {}
    func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) { action() }
  }

  @Test("a request that a callback submits while an abrupt shutdown ends the exchanges fails too")
  func submittedByCallback() throws {
    let stage = ShardStage()
    let request = EngineRequest(uri: try URI("http://10.0.0.1/"))
    let next = RecordingSink()
    let sink = EndSink { [inbox = stage.inbox] in
      inbox.send(.submit(Submission(inbox.nextExchangeID(), request, to: next, windowBytes: .max)))
    }
    stage.inbox.send(.submit(Submission(stage.inbox.nextExchangeID(), request, to: sink, windowBytes: .max)))
    stage.turn()
    stage.turn(stage.network.sockets[0])
    stage.inbox.send(.shutDown(isGraceful: false, completion: nil))
    stage.turn()
    #expect(next.error?.code == .shutDown && next.recorded.finishCount == 1)
    #expect(stage.network.sockets.count == 1)
  }

  @Test("the engine's counters report the current connections, and how the earlier ones were closed")
  func counters() async throws {
    let origin = try OriginServer { peer in
      while let request = try peer.readRequest() {
        try peer.respond(fields: request.path == "/last" ? ["Connection": "close"] : [:])
      }
    }
    defer { origin.stop() }
    let engine = try Engine()
    for path in ["first", "second"] { _ = try await engine.record("\(origin.url)/\(path)") }
    var counters = await engine.counters()
    #expect(counters.total.idle == 1)
    #expect(counters.total.created == 1)
    #expect(counters.total.reused == 1)
    _ = try await engine.record("\(origin.url)/last")
    counters = await engine.counters()
    #expect(counters.total.idle == 0)
    #expect(counters.total.closed == [.serverAskedForClose: 1])
    #expect(counters.origins.map(\.origin) == [try URI(origin.url).origin])
    #expect(counters.origins.first?.connections == counters.total)
  }

  @Test("the engine refuses a request beyond the limit of waiting requests with an error that contains the limit")
  func tooManyWaiting() async throws {
    let arrived = Gate()
    let origin = try OriginServer.silent(opening: arrived)
    defer { origin.stop() }
    var configuration = EngineConfiguration()
    configuration.pool.connectionsPerOriginMax = 1
    configuration.pool.waitersMax = 1
    let engine = try Engine(configuration: configuration)
    let sinks = (0..<3).map { _ in RecordingSink() }
    engine.submit(EngineRequest(uri: try URI("\(origin.url)/")), to: sinks[0])
    // The first request is in flight now, and no longer counts as a waiter.
    await arrived.wait()
    for sink in sinks[1...] { engine.submit(EngineRequest(uri: try URI("\(origin.url)/")), to: sink) }
    let refused = await sinks[2].outcome.error
    #expect(refused?.code == .tooManyWaiting)
    #expect(refused?.description.contains("1 requests are already waiting") == true)
    await engine.shutdown(isGraceful: false)
  }

  @Test("the pool closes an idle connection if the limit of connections leaves no room for another origin's connection")
  func totalLimit() async throws {
    let (first, second) = (try OriginServer.serving { _ in .text("1") }, try OriginServer.serving { _ in .text("2") })
    defer {
      first.stop()
      second.stop()
    }
    var configuration = EngineConfiguration()
    configuration.pool.connectionsMax = 1
    let engine = try Engine(configuration: configuration)
    for _ in 0..<3 {
      #expect(try await engine.record(first.url).text == "1")
      #expect(try await engine.record(second.url).text == "2")
    }
    #expect(await engine.counters().total.closed == [.totalLimit: 5])
  }

  @Test(
    "a graceful shutdown starts on all event loops at the same time, even if one of the loops takes long",
    arguments: [0, 1])
  func allLoops(busy: Int) async throws {
    let arrived = Gate()
    let origins = try (0..<32).map { _ in
      try OriginServer { peer in
        guard let request = try peer.readRequest() else { return }
        guard request.path == "/hold" else { return try peer.respond() }
        arrived.open()
        _ = try peer.awaitClose()
      }
    }
    defer { for origin in origins { origin.stop() } }
    var configuration = EngineConfiguration()
    configuration.loopCount = 2
    let engine = try Engine(configuration: configuration)
    // The test can't know which loop is shut down first, so it runs once with each of them busy.
    let loops = try origins.map { ObjectIdentifier(engine.executor(for: try URI($0.url).origin) as AnyObject) }
    let own = try #require(Set(loops).sorted().dropFirst(busy).first)
    let held = try #require(loops.firstIndex(of: own))
    let other = try #require(loops.firstIndex { $0 != own })
    let sink = RecordingSink()
    let handle = engine.submit(EngineRequest(uri: try URI("\(origins[held].url)/hold")), to: sink)
    await arrived.wait()
    async let end: Void = engine.shutdown()
    while try await engine.record("\(origins[other].url)/").error?.code != .shutDown {}
    handle.cancel()
    await end
  }
}
