// ShardTests: a shard in situations that are rare on a real network.

import LupineOrigin
import LupineReactor
import LupineWire
import Synchronization
import Testing

@testable import LupineEngine

@Suite("An event loop in rare situations", .timeLimit(.minutes(10)))
struct ShardTests {
  private static let brokenPipe = SystemError(call: "send", code: 32)

  private func request(_ change: (inout EngineRequest) throws -> Void = { _ in }) throws -> EngineRequest {
    var request = EngineRequest(uri: try URI("http://127.0.0.1:80/"))
    try change(&request)
    return request
  }

  /// Returns a response whose size is exactly that of the loop's read buffer, so that the loop reads again.
  private func fillingResponse(_ fields: String = "") -> [UInt8] {
    let head = "HTTP/1.1 200 OK\r\n\(fields)Content-Length: "
    let bodyCount = Buffers.byteCount - head.utf8.count - 5 - 4
    return Array("\(head)\(bodyCount)\r\n\r\n".utf8) + [UInt8](repeating: 7, count: bodyCount)
  }

  @Test(
    "bytes after a response don't become part of the next response, and the next request gets another connection",
    arguments: [[], [ScriptedSocket.Arrival.end]])
  func surplus(ending: [ScriptedSocket.Arrival]) async throws {
    let stage = ShardStage { $0.pool.connectionsPerOriginMax = 1 }
    let sinks = try (0..<2).map { _ in stage.submit(try request()).1 }
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    stage.turn(socket)
    socket.arrivals = [.bytes(fillingResponse()), .bytes(fillingResponse())] + ending
    stage.turn(socket)
    let first = await sinks[0].outcome
    #expect(first.head?.status == 200)
    #expect(first.metrics?.closeReason == .unsolicitedBytes)
    #expect(!sinks[1].finished.isOpen)
    let fresh = try #require(stage.network.sockets.last)
    #expect(fresh !== socket)
    stage.turn(fresh)
    fresh.arrivals = [.bytes(Array("HTTP/1.1 204 No Content\r\n\r\n".utf8))]
    stage.turn(fresh)
    #expect(await sinks[1].outcome.head?.status == 204)
  }

  @Test("the client reads a long response body in parts as large as the receive window, up to 256 KiB")
  func pieces() throws {
    for (windowBytes, reads) in [(Int.max, [65_536, 262_144, 262_144, 177]), (200_000, [65_536, 134_541])] {
      let stage = ShardStage()
      let (_, sink) = stage.submit(try request(), windowBytes: windowBytes)
      stage.turn()
      let socket = try #require(stage.network.sockets.first)
      stage.turn(socket)
      // The first read includes the head of 77 bytes, when the body's length is still unknown.
      let head = "HTTP/1.1 200 OK\r\nContent-Type: application/binary\r\nContent-Length: 589924\r\n\r\n"
      socket.arrivals = [.bytes(Array(head.utf8) + [UInt8](repeating: 7, count: 589_924))]
      stage.turn(socket)
      #expect(socket.reads == reads)
      #expect(sink.receivedCount == reads.reduce(-77, +))
    }
  }

  @Test(
    "the client doesn't reuse a connection that the server closed together with the response",
    arguments: [true, false])
  func endBehindResponse(fillsBuffer: Bool) async throws {
    let stage = ShardStage { $0.pool.connectionsPerOriginMax = 1 }
    let sinks = try (0..<2).map { _ in stage.submit(try request()).1 }
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    stage.turn(socket)
    let response = fillsBuffer ? fillingResponse() : Array("HTTP/1.1 204 No Content\r\n\r\n".utf8)
    socket.arrivals = [.bytes(response), .end]
    stage.turn(socket)
    #expect(await sinks[0].outcome.metrics?.closeReason == .closedByPeer)
    #expect(stage.network.sockets.last !== socket)
  }

  @Test("a request that is submitted just after an abrupt shutdown of the engine fails with an error")
  func submittedBehindShutdown() async throws {
    let stage = ShardStage()
    stage.inbox.send(.shutDown(isGraceful: false, completion: nil))
    let (_, sink) = stage.submit(try request())
    stage.turn()
    #expect(stage.network.isStopped)
    #expect(stage.network.sockets.isEmpty)
    try #require(sink.finished.isOpen)
    #expect(await sink.outcome.error?.code == .shutDown)
  }

  @Test("deadlines that are due in the loop iteration of an abrupt shutdown have no effect")
  func dueBehindShutdown() async throws {
    let stage = ShardStage()
    stage.network.connectFailure = SystemError(call: "socket", code: 24)
    let (_, sink) = stage.submit(try request())
    stage.turn()
    stage.inbox.send(.shutDown(isGraceful: false, completion: nil))
    // After one second, another attempt to get a descriptor is due.
    stage.turn(after: .seconds(1))
    try #require(sink.finished.isOpen)
    #expect(await sink.outcome.error?.code == .shutDown)
    #expect(stage.network.sockets.isEmpty)
  }

  @Test("with a receive window of 0 bytes, a response delivers only the head, and the body once the window is extended")
  func noWindow() async throws {
    let stage = ShardStage()
    let (id, sink) = stage.submit(try request(), windowBytes: 0)
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    stage.turn(socket)
    socket.arrivals = [.bytes(Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe".utf8)), .bytes(Array("llo".utf8))]
    stage.turn(socket)
    try #require(sink.sawHead.isOpen)
    stage.turn(socket)
    #expect(sink.receivedCount == 0)
    stage.inbox.send(.extendWindow(id, 1))
    stage.turn()
    #expect(sink.receivedCount == 1)
    stage.inbox.send(.extendWindow(id, 4))
    stage.turn()
    try #require(sink.finished.isOpen)
    #expect(await sink.outcome.text == "hello")
  }

  @Test("once the receive window is exactly full, the event loop no longer polls the connection for reading")
  func windowUsedUp() throws {
    let stage = ShardStage()
    let (id, sink) = stage.submit(try request(), windowBytes: 5)
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    stage.turn(socket)
    socket.arrivals = [.bytes(Array("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello".utf8))]
    stage.turn(socket)
    #expect(sink.receivedCount == 5)
    #expect(stage.network.event(of: socket).isEmpty)
    socket.arrivals = [.bytes(Array("!".utf8))]
    stage.inbox.send(.extendWindow(id, 1))
    stage.turn()
    #expect(sink.finished.isOpen)
  }

  @Test("a silent server causes a timeout even if the receive window is 0 bytes")
  func noWindowNoReply() async throws {
    let stage = ShardStage()
    let (_, sink) = stage.submit(try request(), windowBytes: 0)
    stage.turn()
    stage.turn(try #require(stage.network.sockets.first))
    stage.turn(after: .seconds(60))
    try #require(sink.finished.isOpen)
    #expect(await sink.outcome.error?.phase == .firstByte)
  }

  @Test("if the process was suspended, the client processes data received meanwhile before timeouts")
  func stopped() async throws {
    let stage = ShardStage()
    let (_, sink) = stage.submit(try request { $0.timeouts.firstByte = .seconds(1) })
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    stage.turn(socket)
    stage.turn(stoppedFor: .seconds(60))
    #expect(!sink.finished.isOpen)
    socket.arrivals = [.bytes(Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".utf8))]
    stage.turn(socket)
    try #require(sink.finished.isOpen)
    #expect(await sink.outcome.text == "hello")
  }

  @Test("after a protocol upgrade, the client delivers received bytes in order, even if sending to the server fails")
  func handedOverInOrder() async throws {
    let stage = ShardStage()
    let (_, sink) = stage.submit(
      try request {
        $0.fields = ["Connection": "Upgrade", "Upgrade": "echo"]
        $0.body = RequestBody("frames")
      })
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    stage.turn(socket)
    socket.sendFailure = Self.brokenPipe
    socket.arrivals = [
      .bytes(Array("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n\r\nfirst".utf8)),
      .bytes(Array("second".utf8)), .end,
    ]
    stage.turn(socket)
    #expect(await sink.outcome.text == "firstsecond")
  }

  @Test("bytes received after a discarded response don't become part of the next response")
  func surplusBehindDiscarded() async throws {
    let stage = ShardStage { $0.pool.connectionsPerOriginMax = 1 }
    let (id, held) = stage.submit(try request(), windowBytes: 5)
    let (_, waiting) = stage.submit(try request())
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    stage.turn(socket)
    socket.arrivals = [.bytes(Array("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfirstrest".utf8))]
    stage.turn(socket)
    #expect(held.receivedCount == 5)
    socket.arrivals = [.bytes(Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil".utf8))]
    stage.inbox.send(.discardBody(id))
    stage.turn(socket)
    try #require(held.finished.isOpen)
    #expect(await held.outcome.error == nil)
    let fresh = try #require(stage.network.sockets.last)
    #expect(fresh !== socket)
    stage.turn(fresh)
    fresh.arrivals = [.bytes(Array("HTTP/1.1 204 No Content\r\n\r\n".utf8))]
    stage.turn(fresh)
    #expect(await waiting.outcome.head?.status == 204)
  }

  @Test(
    "if the drain limit is 0 bytes, a response whose body the caller discards ends immediately, whatever its framing",
    arguments: [
      "Content-Length: 1", "Transfer-Encoding: chunked", "X: a body until the connection closes",
    ])
  func nothingDrained(framing: String) async throws {
    let stage = ShardStage { $0.drainedBytesMax = 0 }
    let (id, discarded) = stage.submit(try request())
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    stage.turn(socket)
    socket.arrivals = [.bytes(Array("HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n".utf8))]
    stage.turn(socket)
    stage.inbox.send(.discardBody(id))
    stage.turn()
    try #require(discarded.finished.isOpen)
    #expect(await discarded.outcome.error == nil)
    #expect(stage.shard.connections.pooled.isEmpty && stage.shard.pool.counters().total.closed == [.bodyUnwanted: 1])
  }

  @Test("the client closes a connection that epoll can't watch for events when the connection becomes idle")
  func unwatchable() async throws {
    let stage = ShardStage()
    let (id, held) = stage.submit(try request(), windowBytes: 5)
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    stage.turn(socket)
    socket.arrivals = [.bytes(Array("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfirstrest".utf8))]
    stage.turn(socket)
    stage.network.watchFailure = SystemError(call: "epoll_ctl", code: 28)
    stage.inbox.send(.extendWindow(id, 100))
    stage.turn()
    #expect(await held.outcome.text == "firstrest")
    #expect(stage.shard.connections.pooled.isEmpty && stage.shard.pool.connectionCount == 0)
  }

  @Test(
    "the client retries connecting to a Unix socket whose backlog is full until the connect timeout",
    arguments: [true, false])
  func queueFull(isFreed: Bool) async throws {
    let stage = ShardStage { $0.socketPath = "/run/full" }
    stage.network.connectFailure = SystemError(call: "connect", code: 11)
    let (_, sink) = stage.submit(try request { $0.timeouts.connect = .seconds(1) })
    stage.turn()
    stage.turn(after: .milliseconds(10))
    #expect(!sink.finished.isOpen)
    if isFreed {
      stage.network.connectFailure = nil
      stage.turn(after: .milliseconds(10))
      let socket = try #require(stage.network.sockets.first)
      stage.turn(socket)
      #expect(!socket.sent.isEmpty)
    } else {
      stage.turn(after: .seconds(1))
      try #require(sink.finished.isOpen)
      let error = await sink.outcome.error
      #expect(error?.code == .timedOut && error?.phase == .connect)
    }
  }

  @Test("a command sent to an event loop that has ended is answered immediately, without waking the loop's thread")
  func commandsBehindTheEnd() {
    let wakeCount = Atomic(0)
    let answerCount = Atomic(0)
    let inbox = Inbox { wakeCount.add(1, ordering: .relaxed) }
    for _ in 0..<2 {
      inbox.send(.count { _ in answerCount.add(1, ordering: .relaxed) })
      inbox.stopAccepting()
    }
    #expect(wakeCount.load(ordering: .relaxed) == 1 && answerCount.load(ordering: .relaxed) == 2)
  }

  @Test(
    "the client replays a request if its connection is lost, even if no earlier request had used the idle connection")
  func idleAndUnused() async throws {
    let stage = ShardStage()
    let sinks = try (0..<2).map { _ in stage.submit(try request()).1 }
    stage.turn()
    let (first, second) = (stage.network.sockets[0], stage.network.sockets[1])
    stage.turn(first)
    first.arrivals = [.bytes(Array("HTTP/1.1 204 No Content\r\n\r\n".utf8))]
    stage.turn(first)
    try #require(sinks[0].finished.isOpen)
    // The second request uses the first connection now; the second connection opens without a waiter.
    first.arrivals = []
    stage.turn(second)
    let (_, sink) = stage.submit(try request())
    stage.turn()
    #expect(!second.sent.isEmpty)
    second.arrivals = [.end]
    stage.turn(second)
    stage.turn()
    let third = try #require(stage.network.sockets.last)
    #expect(third !== second && !sink.finished.isOpen)
    stage.turn(third)
    third.arrivals = [.bytes(Array("HTTP/1.1 204 No Content\r\n\r\n".utf8))]
    stage.turn(third)
    try #require(sink.finished.isOpen)
    #expect(await sink.outcome.head?.status == 204)
  }

  @Test("a name lookup without a time limit takes at most one minute")
  func silentResolver() async throws {
    struct Silent: HostResolver {
      let goOn: Gate

      func addresses(of name: String) async throws(ResolveError) -> [SocketAddress] {
        await goOn.wait()
        return []
      }
    }
    let goOn = Gate()
    defer { goOn.open() }
    let stage = ShardStage { $0.resolver.resolver = Silent(goOn: goOn) }
    let (_, sink) = stage.submit(
      try request { request in
        request.uri = try URI("http://silent.example/")
        request.timeouts = Timeouts(everyPhase: nil, total: nil)
      })
    stage.turn()
    stage.turn(after: .seconds(59))
    #expect(!sink.finished.isOpen)
    stage.turn(after: .seconds(1))
    try #require(sink.finished.isOpen)
    let error = await sink.outcome.error
    #expect(error?.code == .timedOut && error?.phase == .resolve)
  }

  @Test("the time limit poolWait includes the time spent waiting for a file descriptor, even over several attempts")
  func descriptors() async throws {
    let stage = ShardStage()
    stage.network.connectFailure = SystemError(call: "socket", code: 24)
    let (_, sink) = stage.submit(try request { $0.timeouts.poolWait = .seconds(5) })
    for _ in 0..<100 { stage.turn(after: .milliseconds(100)) }
    try #require(sink.finished.isOpen)
    let error = await sink.outcome.error
    #expect(error?.code == .timedOut)
    #expect(error?.phase == .poolWait)
    let time = await sink.outcome.metrics.flatMap { metrics in metrics.end.map { $0 - metrics.start } }
    #expect(time == .seconds(5))
  }

  @Test("extending the receive window of a response that isn't paused doesn't restart the server's time limit")
  func extensionIsNoProgress() async throws {
    let stage = ShardStage()
    let (id, sink) = stage.submit(try request { $0.timeouts.firstByte = .seconds(1) }, windowBytes: 100)
    stage.turn()
    stage.turn(try #require(stage.network.sockets.first))
    for _ in 0..<3 {
      stage.inbox.send(.extendWindow(id, 1))
      stage.turn(after: .milliseconds(400))
    }
    try #require(sink.finished.isOpen)
    #expect(await sink.outcome.error?.phase == .firstByte)
  }

  @Test("the connection pool counts connections of raw requests in its totals, but not per origin")
  func rawRequestsAreForgotten() async throws {
    let stage = ShardStage()
    for _ in 0..<3 {
      let (_, sink) = stage.submit(try request { $0.rawBytes = Array("GET / HTTP/1.1\r\n\r\n".utf8) })
      stage.turn()
      let socket = try #require(stage.network.sockets.last)
      stage.turn(socket)
      socket.arrivals = [.bytes(Array("HTTP/1.1 204 No Content\r\n\r\n".utf8))]
      stage.turn(socket)
      try #require(sink.finished.isOpen)
    }
    #expect(stage.shard.pool.counters().origins.isEmpty)
    #expect(stage.shard.pool.counters().total.created == 3)
  }
}
