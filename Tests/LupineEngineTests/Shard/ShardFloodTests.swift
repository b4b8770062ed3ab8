// ShardFloodTests: a shard whose server sends more than one iteration of the loop may process.

import LupineCoding
import LupineOrigin
import LupineReactor
import LupineWire
import Synchronization
import Testing

@testable import LupineEngine

@Suite("An event loop flooded with data", .timeLimit(.minutes(10)))
struct ShardFloodTests {
  @Test("after reading 1 MiB from one connection, the event loop serves the other connections before it continues")
  func flood() async throws {
    let stage = ShardStage()
    let (_, sink) = stage.submit(EngineRequest(uri: try URI("http://127.0.0.1:80/")))
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    stage.turn(socket)
    let body = [UInt8](repeating: 7, count: 6 << 20)
    socket.arrivals = [.bytes(Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body)]
    // The last read may exceed the limit. An iteration serves a connection up to twice: for its event, and again after other
    // events.
    let bytesMax = Shard.bytesPerTurnMax + Buffers.bulkByteCount
    stage.turn(socket)
    #expect(sink.receivedCount > 0 && sink.receivedCount <= 2 * bytesMax)
    // The connection continues without another event, and without waiting.
    while !sink.finished.isOpen {
      let before = sink.receivedCount
      #expect(before > 0 && stage.network.now == Instant(nanoseconds: 0))
      stage.turn()
      try #require(sink.receivedCount > before && sink.receivedCount <= before + bytesMax)
    }
    #expect(await sink.outcome.body == body)
  }

  @Test(
    "the client decodes a compressed response even if it begins in the loop iteration in which another response ended")
  func codedOneAfterAnother() async throws {
    let stage = ShardStage { $0.pool.connectionsPerOriginMax = 1 }
    let sinks = try (0..<2).map { _ in stage.submit(EngineRequest(uri: try URI("http://127.0.0.1:80/"))).1 }
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    stage.turn(socket)
    var random = SystemRandomNumberGenerator()
    let body = (0..<(2 * Buffers.byteCount - 2_000)).map { _ in UInt8.random(in: 0...255, using: &random) }
    let coded = try ContentEncoder.encode(body, as: .gzip)
    // Two reads that both fill the buffer, so that the loop reads on.
    let fields = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(coded.count)\r\nX: "
    let padding = 2 * Buffers.byteCount - fields.utf8.count - 4 - coded.count
    let response = Array("\(fields)\(String(repeating: "x", count: padding))\r\n\r\n".utf8) + coded
    socket.arrivals = [.bytes(response)]
    socket.onSend = { [weak socket] in socket?.arrivals.append(.bytes(Array(response[..<9_000]))) }
    stage.turn(socket)
    #expect(await sinks[0].outcome.body == body)
    #expect(sinks[1].receivedCount > 0 && !sinks[1].finished.isOpen)
    socket.arrivals = [.bytes(Array(response[9_000...]))]
    stage.turn(socket)
    #expect(await sinks[1].outcome.body == body)
  }

  @Test("decompressing a body to a thousand times its size doesn't delay other connections")
  func codedFlood() throws {
    final class Counting: ResponseSink {
      let count = Atomic(0)
      let finishCount = Atomic(0)
      var isFinished: Bool { finishCount.load(ordering: .relaxed) > 0 }
      func receive(head: ResponseHead) -> BodyDisposition { .deliver }
      func receive(body bytes: borrowing Span<UInt8>) { count.add(bytes.count, ordering: .relaxed) }
      func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
        finishCount.add(1, ordering: .relaxed)
      }
    }
    let stage = ShardStage { $0.codings.expansionRatioMax = nil }
    let piece: [UInt8] = Array(repeating: 0, count: 1 << 20)
    var (coded, room) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 20))
    var encoder = try ContentEncoder(.gzip)
    for _ in 0..<800 { coded += room[..<(try encoder.encode(piece.span.bytes, into: &room).produced)] }
    coded += room[..<(try encoder.finish(into: &room).produced)]
    let sink = Counting()
    stage.inbox.send(
      .submit(
        Submission(
          stage.inbox.nextExchangeID(), EngineRequest(uri: try URI("http://127.0.0.1:80/")), to: sink, windowBytes: .max
        )))
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    stage.turn(socket)
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(coded.count)\r\n\r\n"
    socket.arrivals = [.bytes(Array(head.utf8) + coded)]
    stage.turn(socket)
    #expect(!sink.isFinished)
    // The limit applies to each iteration, even if the socket has an event in each of them.
    var shares: [Int] = []
    while !sink.isFinished {
      let before = sink.count.load(ordering: .relaxed)
      stage.turn(socket)
      shares.append(sink.count.load(ordering: .relaxed) - before)
    }
    #expect(shares.count > 2 && shares.allSatisfy { $0 > 0 && $0 <= 140 << 20 }, "\(shares)")
    #expect(sink.count.load(ordering: .relaxed) == 800 << 20)
  }
}
