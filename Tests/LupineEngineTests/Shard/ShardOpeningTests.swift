// ShardOpeningTests: the limit on connections that an iteration of the loop begins to open.

import LupineOrigin
import LupineReactor
import LupineWire
import Testing

@testable import LupineEngine

@Suite("An event loop that limits how many connections it begins to open at once", .timeLimit(.minutes(10)))
struct ShardOpeningTests {
  private static let ok = Array("HTTP/1.1 204 No Content\r\n\r\n".utf8)
  private let request: EngineRequest

  init() throws { request = EngineRequest(uri: try URI("http://127.0.0.1:80/")) }

  /// Connects all sockets, each of which then serves a request, and responds on each.
  private func connectAndRespond(_ stage: ShardStage) {
    for socket in stage.network.sockets { stage.turn(socket) }
    for socket in stage.network.sockets {
      socket.arrivals = [.bytes(Self.ok)]
      stage.turn(socket)
    }
  }

  @Test("an iteration begins to open connections up to its limit, and the next one follows at once")
  func limit() {
    let stage = ShardStage { $0.pool.openingsPerIterationMax = 2 }
    let sinks = (0..<5).map { _ in stage.submit(request).1 }
    for count in [2, 4, 5] {
      let next = stage.turn()
      #expect(stage.network.sockets.count == count)
      #expect((next == stage.network.now) == (count < 5))
    }
    connectAndRespond(stage)
    #expect(sinks.allSatisfy { $0.finished.isOpen && $0.error == nil })
  }

  @Test("postponed connections are opened in the order of their requests, also those of a later iteration")
  func order() throws {
    let stage = ShardStage { $0.pool.openingsPerIterationMax = 1 }
    func submit(to port: Int) throws { _ = stage.submit(EngineRequest(uri: try URI("http://127.0.0.1:\(port)/"))) }
    for port in 1...3 { try submit(to: port) }
    stage.turn()
    try submit(to: 4)
    for _ in 0..<3 { stage.turn() }
    #expect(stage.network.addresses.map(\.port) == [1, 2, 3, 4])
  }

  @Test("a connection isn't opened if its request is cancelled before, or is served by another connection")
  func needless() {
    let stage = ShardStage { $0.pool.openingsPerIterationMax = 1 }
    for _ in 0..<2 { _ = stage.submit(request) }
    let (cancelled, _) = stage.submit(request)
    stage.inbox.send(.cancel(cancelled))
    for _ in 0..<3 { stage.turn() }
    let sockets = stage.network.sockets
    #expect(sockets.count == 2)
    connectAndRespond(stage)
    // Two requests use the idle connections. Of the two connections for the others, only one is opened, because both requests get a
    // connection before the second.
    let sinks = (0..<4).map { _ in stage.submit(request).1 }
    stage.turn()
    #expect(stage.network.sockets.count == 3)
    for socket in sockets { socket.arrivals = [.bytes(Self.ok)] }
    stage.turn(sockets[0], sockets[1])
    for _ in 0..<2 { stage.turn() }
    #expect(stage.network.sockets.count == 3)
    for socket in sockets { socket.arrivals = [.bytes(Self.ok)] }
    stage.turn(sockets[0], sockets[1])
    #expect(sinks.allSatisfy { $0.finished.isOpen && $0.error == nil })
    #expect(stage.shard.pool.counters().total.openingsAbandoned == 2)
  }
}
