// ShardRestartTests: a shard that sends requests again after connections were lost.

import LupineOrigin
import LupineReactor
import LupineWire
import Testing

@testable import LupineEngine

@Suite("An event loop that replays requests", .timeLimit(.minutes(10)))
struct ShardRestartTests {
  private static let reset = SystemError(call: "send", code: 104)
  private static let ok = Array("HTTP/1.1 204 No Content\r\n\r\n".utf8)

  private func request(_ change: (inout EngineRequest) throws -> Void = { _ in }) throws -> EngineRequest {
    var request = EngineRequest(uri: try URI("http://127.0.0.1:80/"))
    try change(&request)
    return request
  }

  /// Opens `count` connections. Each has served a request and is idle.
  private func openIdle(_ count: Int, _ stage: ShardStage) throws -> [ScriptedSocket] {
    for _ in 0..<count { _ = stage.submit(try request()) }
    stage.turn()
    let sockets = stage.network.sockets
    for socket in sockets { stage.turn(socket) }
    for socket in sockets {
      socket.arrivals = [.bytes(Self.ok)]
      stage.turn(socket)
      socket.arrivals = []
    }
    try #require(sockets.count == count && stage.shard.pool.counters().total.idle == count)
    return sockets
  }

  @Test(
    "with proxy credentials that can be used only once, one tunnel opens, and a second tunnel's request fails unsent")
  func singleUse() throws {
    let stage = ShardStage(proxy: .fixed(try Proxy(.http, host: "127.0.0.1", port: 1)))
    var tunneled = EngineRequest(uri: try URI("https://127.0.0.1/"))
    tunneled.connectionDemand = ConnectionDemand(
      group: 1, proxyAuthorization: ProxyAuthorization("X 0", isSingleUse: true))
    let first = stage.submit(tunneled).1
    let second = stage.submit(tunneled).1
    stage.turn()
    #expect(stage.network.sockets.count == 1 && !first.finished.isOpen && second.finished.isOpen)
    #expect(second.error?.code == .connectionLost && second.error?.phase == .poolWait)
  }

  @Test(
    "the client doesn't replay a request on a connection that the server has closed or on which data has arrived",
    arguments: [true, false])
  func endedConnection(isSameTurn: Bool) async throws {
    let stage = ShardStage { $0.pool.connectionsPerOriginMax = 2 }
    let sockets = try openIdle(2, stage)
    let (_, sink) = stage.submit(try request())
    for socket in sockets { socket.sent = [] }
    stage.turn()
    let (busy, idle) = sockets[0].sent.isEmpty ? (sockets[1], sockets[0]) : (sockets[0], sockets[1])
    try #require(!busy.sent.isEmpty && idle.sent.isEmpty)
    busy.arrivals = [.end]
    idle.arrivals = [.bytes(Array("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n".utf8)), .end]
    if isSameTurn {
      stage.turn(busy, idle)
      stage.turn()
    } else {
      stage.turn(busy)
      // The request is replayed in this iteration, after its events.
      stage.turn(idle)
    }
    #expect(idle.sent.isEmpty)
    let fresh = try #require(stage.network.sockets.last)
    #expect(fresh !== busy && fresh !== idle)
    stage.turn(fresh)
    fresh.arrivals = [.bytes(Self.ok)]
    stage.turn(fresh)
    try #require(sink.finished.isOpen)
    #expect(await sink.outcome.head?.status == 204)
  }

  @Test("if a server has closed thousands of idle connections, the client replays a request until it succeeds")
  func manyEnded() async throws {
    let count = 5_000
    let stage = ShardStage {
      $0.pool.connectionsPerOriginMax = count
      $0.pool.idlePerOriginMax = count
      $0.pool.idleMax = count
      $0.pool.connectionsMax = count
    }
    for socket in try openIdle(count, stage) {
      socket.sendFailure = Self.reset
      socket.arrivals = [.end]
    }
    // The shard hasn't received events for the closed connections yet.
    let (_, sink) = stage.submit(try request())
    // Each iteration replays the request once, without a delay.
    for _ in 0...count { #expect(stage.turn() == stage.network.now || stage.network.sockets.count > count) }
    let fresh = try #require(stage.network.sockets.last)
    #expect(stage.network.sockets.count == count + 1)
    stage.turn(fresh)
    fresh.arrivals = [.bytes(Self.ok)]
    stage.turn(fresh)
    try #require(sink.finished.isOpen)
    #expect(await sink.outcome.head?.status == 204)
    #expect(await sink.outcome.metrics?.replayCount == count)
  }

  @Test(
    "the client doesn't replay a request on a connection that closed in the loop iteration in which its last response ended"
  )
  func endBehindResponse() async throws {
    let stage = ShardStage { $0.pool.connectionsPerOriginMax = 2 }
    let sockets = try openIdle(2, stage)
    let sinks = try (0..<2).map { _ in stage.submit(try request()).1 }
    for socket in sockets { socket.sent = [] }
    stage.turn()
    sockets[0].arrivals = [.end]
    sockets[1].arrivals = [.bytes(Self.ok), .end]
    sockets[1].sent = []
    stage.turn(sockets[0], sockets[1])
    stage.turn(sockets[1])
    #expect(sockets[1].sent.isEmpty)
    let fresh = try #require(stage.network.sockets.last)
    stage.turn(fresh)
    fresh.arrivals = [.bytes(Self.ok)]
    stage.turn(fresh)
    for sink in sinks { #expect(await sink.outcome.head?.status == 204) }
  }

  @Test(
    "a request that waits to be replayed ends when the engine shuts down, or at the request's time limit",
    arguments: [true, false, nil])
  func ended(isGraceful: Bool?) async throws {
    let stage = ShardStage()
    let socket = try #require(try openIdle(1, stage).first)
    let (_, sink) = stage.submit(try request { $0.timeouts.total = .seconds(1) })
    stage.turn()
    socket.arrivals = [.end]
    if let isGraceful { stage.inbox.send(.shutDown(isGraceful: isGraceful, completion: nil)) }
    stage.turn(socket)
    if isGraceful == nil { stage.network.connectFailure = SystemError(call: "socket", code: 24) }
    stage.turn(after: .seconds(2))
    try #require(sink.finished.isOpen)
    #expect(await sink.outcome.error?.code == (isGraceful == nil ? .timedOut : .shutDown))
  }

  @Test("a request that waits to be replayed can be cancelled in the same iteration of the event loop")
  func cancelled() async throws {
    let stage = ShardStage()
    let socket = try #require(try openIdle(1, stage).first)
    let (id, sink) = stage.submit(try request())
    stage.turn()
    socket.arrivals = [.end]
    stage.inbox.send(.cancel(id))
    stage.turn(socket)
    try #require(sink.finished.isOpen)
    #expect(await sink.outcome.error?.code == .cancelled)
    #expect(stage.network.sockets.count == 1)
  }

  @Test(
    "a POST isn't sent on a connection whose Keep-Alive timeout is about to end",
    arguments: [(5, .milliseconds(4_000)), (2, .milliseconds(1_000)), (1, .milliseconds(500))] as [(Int, Duration)])
  func keepAlive(seconds: Int, idleTime: Duration) throws {
    for (pause, isReused) in [(idleTime - .milliseconds(1), true), (idleTime, false)] {
      let stage = ShardStage()
      _ = stage.submit(try request())
      stage.turn()
      let socket = try #require(stage.network.sockets.first)
      stage.turn(socket)
      socket.arrivals = [.bytes(Array("HTTP/1.1 204 No Content\r\nKeep-Alive: timeout=\(seconds)\r\n\r\n".utf8))]
      // The loop wakes up to close the connection, whether or not there is another request.
      let deadline = try #require(stage.turn(socket))
      #expect(deadline <= stage.network.now + idleTime)
      (socket.arrivals, socket.sent) = ([], [])
      _ = stage.submit(try request { ($0.method, $0.body) = ("POST", RequestBody("pay")) })
      stage.turn(after: pause)
      #expect(socket.sent.isEmpty != isReused)
      #expect(stage.network.sockets.count == (isReused ? 1 : 2))
      let closed: [CloseReason: Int] = isReused ? [:] : [.keepAliveLimit: 1]
      #expect(stage.shard.pool.counters().total.closed == closed)
    }
  }

  @Test(
    "a connection that was opening for a cancelled request uses the time limits of the next waiting request",
    arguments: [1, 60, nil])
  func reassigned(limitBefore: Int?) async throws {
    let stage = ShardStage { $0.pool.connectionsPerOriginMax = 1 }
    let (id, first) = stage.submit(try request { $0.timeouts.connect = limitBefore.map { .seconds($0) } })
    let (_, second) = stage.submit(try request { $0.timeouts.connect = .seconds(30) })
    stage.turn()
    stage.inbox.send(.cancel(id))
    stage.turn(after: .milliseconds(500))
    #expect(first.finished.isOpen)
    stage.turn(after: .milliseconds(29_999))
    #expect(!second.finished.isOpen)
    stage.turn(after: .milliseconds(1))
    try #require(second.finished.isOpen)
    let error = await second.outcome.error
    guard case .limit(.seconds(30)) = error?.cause else {
      Issue.record("The request ended with \(String(describing: error))")
      return
    }
    #expect(error?.code == .timedOut && error?.phase == .connect)
    #expect(stage.network.sockets.count == 1)
  }
}
