// ShardBackpressureTests: a shard whose exchanges are paused or discarded. Tests bytes after the response, cancellation
// and time limits.

import LupineOrigin
import LupineReactor
import LupineWire
import Testing

@testable import LupineEngine

@Suite("An event loop with a paused response", .timeLimit(.minutes(10)))
struct ShardBackpressureTests {
  private static let evil = Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil".utf8)

  /// The reason why a response is paused: its receive window is full, or its caller has paused it.
  enum Cause: CaseIterable {
    case byWindow, byPause

    /// Resumes the response: extends its receive window, or ends the caller's pause.
    func end(_ id: ExchangeID, _ stage: ShardStage) {
      switch self {
      case .byWindow: stage.inbox.send(.extendWindow(id, 100))
      case .byPause: stage.inbox.send(.setPaused(id, false))
      }
    }
  }

  /// Sends a request whose response has a body of 9 bytes, and pauses the response after 5 of them. The rest of the body is ready
  /// to be received, followed by `bytes`.
  private func paused(
    _ cause: Cause, on stage: ShardStage, followedBy bytes: [UInt8] = [], _ change: (inout Timeouts) -> Void = { _ in }
  ) throws -> (ExchangeID, RecordingSink, ScriptedSocket) {
    var request = EngineRequest(uri: try URI("http://127.0.0.1:80/"))
    change(&request.timeouts)
    let (id, sink) = stage.submit(request, windowBytes: cause == .byWindow ? 5 : .max)
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    stage.turn(socket)
    socket.arrivals = [.bytes(Array("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfirst".utf8))]
    stage.turn(socket)
    if cause == .byPause {
      stage.inbox.send(.setPaused(id, true))
      stage.turn()
    }
    try #require(sink.receivedCount == 5)
    socket.arrivals = [.bytes(Array("rest".utf8) + bytes)]
    return (id, sink, socket)
  }

  /// Runs two iterations of the loop. Expects that the paused response ends complete, that the bytes after it close its connection,
  /// and that the waiting request gets another connection.
  private func expectSurplusRefused(
    _ stage: ShardStage, _ socket: ScriptedSocket, after sink: RecordingSink, _ waiting: RecordingSink
  ) async throws {
    stage.turn(socket)
    stage.turn(socket)
    try #require(sink.finished.isOpen)
    let outcome = await sink.outcome
    #expect(outcome.text == "firstrest" && outcome.metrics?.closeReason == .unsolicitedBytes)
    #expect(!waiting.finished.isOpen && waiting.receivedCount == 0)
    #expect(stage.network.sockets.count == 2)
  }

  @Test(
    "surplus bytes received together with the end of a paused response don't become part of the next response",
    arguments: Cause.allCases)
  func surplus(cause: Cause) async throws {
    let stage = ShardStage { $0.pool.connectionsPerOriginMax = 1 }
    let (id, sink, socket) = try paused(cause, on: stage, followedBy: Self.evil)
    let (_, waiting) = stage.submit(EngineRequest(uri: try URI("http://127.0.0.1:80/")))
    cause.end(id, stage)
    try await expectSurplusRefused(stage, socket, after: sink, waiting)
  }

  @Test("surplus bytes received after the end of a paused response don't become part of the next response")
  func surplusAfterRead() async throws {
    let stage = ShardStage { $0.pool.connectionsPerOriginMax = 1 }
    let (id, sink) = stage.submit(EngineRequest(uri: try URI("http://127.0.0.1:80/")), windowBytes: 5)
    let (_, waiting) = stage.submit(EngineRequest(uri: try URI("http://127.0.0.1:80/")))
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    stage.turn(socket)
    // The receive window permits only a part of the bytes read, and the connection keeps the rest.
    socket.arrivals = [.bytes(Array("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfirstrest".utf8))]
    stage.turn(socket)
    socket.arrivals = [.bytes(Self.evil)]
    stage.inbox.send(.extendWindow(id, 100))
    try await expectSurplusRefused(stage, socket, after: sink, waiting)
  }

  @Test("cancelling a request whose response is paused ends the request immediately", arguments: Cause.allCases)
  func cancellation(cause: Cause) async throws {
    let stage = ShardStage()
    let (id, sink, _) = try paused(cause, on: stage)
    stage.inbox.send(.cancel(id))
    stage.turn()
    try #require(sink.finished.isOpen)
    let outcome = await sink.outcome
    #expect(outcome.error?.code == .cancelled && outcome.error?.phase == .receive && outcome.finishCount == 1)
    #expect(stage.shard.connections.pooled.isEmpty && stage.shard.exchanges.isEmpty)
    #expect(stage.shard.pool.counters().total.closed == [.cancelled: 1])
  }

  @Test(
    "while the caller doesn't read a paused response, no time limit except the total limit applies",
    arguments: Cause.allCases)
  func time(cause: Cause) async throws {
    let stage = ShardStage()
    let (id, sink, socket) = try paused(cause, on: stage) { $0.idle = .seconds(5) }
    stage.turn(after: .seconds(3_600))
    #expect(!sink.finished.isOpen)
    // The idle limit starts again when the response continues.
    socket.arrivals = []
    cause.end(id, stage)
    stage.turn()
    stage.turn(after: .milliseconds(4_999))
    #expect(!sink.finished.isOpen)
    stage.turn(after: .milliseconds(1))
    try #require(sink.finished.isOpen)
    let error = await sink.outcome.error
    #expect(error?.code == .timedOut && error?.phase == .receive)
  }

  @Test("the total time limit ends a request even while its response is paused", arguments: Cause.allCases)
  func total(cause: Cause) async throws {
    let stage = ShardStage()
    let (_, sink, _) = try paused(cause, on: stage) { $0.total = .seconds(60) }
    stage.turn(after: .milliseconds(59_999))
    #expect(!sink.finished.isOpen)
    stage.turn(after: .milliseconds(1))
    try #require(sink.finished.isOpen)
    guard case .totalLimit(.seconds(60)) = await sink.outcome.error?.cause else {
      Issue.record("The request ended with \(String(describing: await sink.outcome.error))")
      return
    }
  }

  @Test(
    "the client reads a response body that the caller discards up to the drain limit, even if it arrives in small parts",
    arguments: [1, 100, 4_000], [true, false])
  func drainLimit(pieceBytes: Int, isChunked: Bool) async throws {
    let limit = 10_000
    let stage = ShardStage { $0.drainedBytesMax = limit }
    let (id, sink) = stage.submit(EngineRequest(uri: try URI("http://127.0.0.1:80/")))
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    stage.turn(socket)
    let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(limit)"
    socket.arrivals = [.bytes(Array("HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n".utf8))]
    stage.turn(socket)
    stage.inbox.send(.discardBody(id))
    stage.turn()
    try #require(!sink.finished.isOpen)
    let piece = [UInt8](repeating: 46, count: pieceBytes)
    let bytes = isChunked ? Array("\(String(pieceBytes, radix: 16))\r\n".utf8) + piece + [13, 10] : piece
    var byteCount = 0
    // No time passes, so that only the drain limit can end the request.
    while !sink.finished.isOpen, byteCount <= limit {
      socket.arrivals = [.bytes(bytes)]
      stage.turn(socket)
      byteCount += bytes.count
    }
    try #require(sink.finished.isOpen)
    #expect(await sink.outcome.error == nil)
    if isChunked {
      #expect(stage.shard.connections.pooled.isEmpty)
      #expect(stage.shard.pool.counters().total.closed == [.bodyUnwanted: 1])
    }
  }

  /// Sends a request, and discards the body of its response after the head with this field has arrived.
  private func discarded(_ field: String, on stage: ShardStage) throws -> (RecordingSink, ScriptedSocket) {
    let (id, sink) = stage.submit(EngineRequest(uri: try URI("http://127.0.0.1:80/")))
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    stage.turn(socket)
    socket.arrivals = [.bytes(Array("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n".utf8))]
    stage.turn(socket)
    stage.inbox.send(.discardBody(id))
    stage.turn()
    return (sink, socket)
  }

  @Test("the client reads an unwanted body only if its declared length is at most the drain limit")
  func declaredLength() throws {
    // In the last two cases, 5 bytes of the body arrive with the head: x and two line ends.
    for (length, isRead) in [("10000", true), ("10001", false), ("10005\r\n\r\nx", true), ("10006\r\n\r\nx", false)] {
      let stage = ShardStage { $0.drainedBytesMax = 10_000 }
      let (sink, _) = try discarded("Content-Length: \(length)", on: stage)
      #expect(sink.finished.isOpen != isRead)
    }
  }

  @Test("the client stops reading an unwanted body after 1 s, even if bytes of it still arrive")
  func drainTime() throws {
    let stage = ShardStage { $0.drainedBytesMax = 10_000 }
    let (sink, socket) = try discarded("Content-Length: 10", on: stage)
    socket.arrivals = [.bytes([46])]
    stage.turn(after: .milliseconds(500), socket)
    stage.turn(after: .milliseconds(499))
    #expect(!sink.finished.isOpen)
    stage.turn(after: .milliseconds(1))
    #expect(sink.finished.isOpen)
  }

  @Test("the client reads exactly as many bytes of an unwanted chunked body as the drain limit permits")
  func exactDrainLimit() throws {
    let stage = ShardStage { $0.drainedBytesMax = 10_000 }
    let (sink, socket) = try discarded("Transfer-Encoding: chunked", on: stage)
    let size = Array("ffff\r\n".utf8)
    socket.arrivals = [.bytes(size + [UInt8](repeating: 46, count: 10_000 - size.count))]
    stage.turn(socket)
    #expect(!sink.finished.isOpen)
    socket.arrivals = [.bytes([46])]
    stage.turn(socket)
    #expect(sink.finished.isOpen)
  }
}
