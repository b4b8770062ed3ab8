// PrewarmingTests: connections that are opened before requests need them, with and without TLS.

import LupineOrigin
import LupineReactor
import LupineWire
import Synchronization
import Testing

@testable import LupineEngine

@Suite("Opening connections in advance", .timeLimit(.minutes(10)))
struct PrewarmingTests {
  private func engine(_ change: (inout EngineConfiguration) -> Void = { _ in }) throws -> Engine {
    var configuration = EngineConfiguration()
    configuration.tls.verification = .none
    change(&configuration)
    return try Engine(configuration: configuration)
  }

  @Test("prewarmed connections have completed TLS before the first request, and requests use them")
  func tls() async throws {
    let server = try OriginServer.serving(tls: try ServerIdentity.throwaway()) { _ in .text("hello") }
    defer { server.stop() }
    let engine = try engine()
    let uri = try URI("\(server.url)/")
    #expect(await engine.prewarm(uri.origin, count: 3) == 3)
    #expect(await engine.counters().total.idle == 3)
    for _ in 0..<3 {
      let response = try await engine.collect(EngineRequest(uri: uri))
      #expect(response.metrics.first?.isReusedConnection == true && response.metrics.first?.tls != nil)
    }
    #expect(server.connectionCount == 3)
    #expect(await engine.prewarm(uri.origin, count: 2) == 2, "idle connections count")
    #expect(server.connectionCount == 3)
  }

  @Test("no more connections are prewarmed than the pool permits, and none to a server that refuses them")
  func limits() async throws {
    let server = try OriginServer.serving { _ in .text("hello") }
    let origin = try URI("\(server.url)/").origin
    #expect(await (try engine { $0.pool.connectionsPerOriginMax = 2 }).prewarm(origin, count: 5) == 2)
    #expect(await (try engine()).prewarm(origin, count: 0) == 0)
    server.stop()
    let engine = try engine()
    #expect(await engine.prewarm(origin, count: 5) == 0)
    let total = await engine.counters().total
    #expect(total.openingsFailed == 5 && total.opening == 0)
  }

  @Test("each of an origin's loops opens its share")
  func loops() async throws {
    let server = try OriginServer.serving { _ in .text("hello") }
    defer { server.stop() }
    let engine = try engine { ($0.loopCount, $0.loopsPerOrigin) = (2, 2) }
    #expect(await engine.prewarm(try URI("\(server.url)/").origin, count: 3) == 4)
    #expect(await engine.counters().origins.map(\.connections.idle) == [2, 2])
  }

  @Test("prewarming ends without connections if the engine shuts down or the proxy's settings are malformed")
  func ending() async throws {
    let origin = Origin(scheme: .http, host: "127.0.0.1", port: 1)
    let engine = try engine()
    await engine.shutdown()
    #expect(await engine.prewarm(origin, count: 1) == 0)
    let stage = ShardStage(resolver: NameService(ResolverConfiguration()) { _, _, _ in {} })
    let ready = Results()
    stage.inbox.send(.prewarm(EngineRequest(uri: try URI("http://silent.example/")), count: 2) { ready.add($0) })
    stage.turn()
    #expect(ready.all.isEmpty && stage.shard.pool.counters().total.opening == 2)
    stage.inbox.send(.shutDown(isGraceful: false, completion: nil))
    stage.turn()
    #expect(ready.all == [0])
  }

  @Test("a connection that is opened in advance has the time limits of the call")
  func timeouts() throws {
    let stage = ShardStage()
    var request = EngineRequest(uri: try URI("http://10.0.0.1/"))
    request.timeouts.connect = .seconds(3)
    let ready = Results()
    stage.inbox.send(.prewarm(request, count: 1) { ready.add($0) })
    stage.turn()
    stage.turn(after: .milliseconds(2_999))
    #expect(ready.all.isEmpty)
    stage.turn(after: .milliseconds(1))
    #expect(ready.all == [0] && stage.shard.pool.counters().total.openingsFailed == 1)
  }

  @Test(
    "with a minimum of ready connections, each request's origin gets others in advance, and an unused one keeps none")
  func minimum() throws {
    let stage = ShardStage { $0.pool.readyPerOriginMin = 2 }
    let (_, socket) = try stage.completeFirstRequest()
    #expect(stage.network.sockets.count == 3)
    for other in stage.network.sockets[1...] { stage.turn(other) }
    #expect(stage.shard.pool.counters().total.idle == 3)
    for _ in 0..<2 { _ = stage.submit(EngineRequest(uri: try URI("http://127.0.0.1:80/"))) }
    stage.turn()
    // One is idle, and another is being opened.
    #expect(stage.network.sockets.count == 4 && stage.shard.pool.counters().total.active == 2)
    socket.arrivals = []
    stage.turn(stage.network.sockets[3])
    stage.turn(after: .seconds(60))
    #expect(stage.shard.pool.counters().total.idle == 0 && stage.network.sockets.count == 4)
  }

  @Test("requests on dedicated connections get none in advance")
  func dedicated() throws {
    let stage = ShardStage { $0.pool.readyPerOriginMin = 2 }
    var request = EngineRequest(uri: try URI("http://127.0.0.1:80/"))
    request.rawBytes = [1]
    _ = stage.submit(request)
    stage.turn()
    #expect(stage.network.sockets.count == 1)
  }
}

/// The results of calls.
private final class Results: Sendable {
  private let counts = Mutex<[Int]>([])
  var all: [Int] { counts.withLock { $0 } }
  func add(_ count: Int) { counts.withLock { $0.append(count) } }
}
