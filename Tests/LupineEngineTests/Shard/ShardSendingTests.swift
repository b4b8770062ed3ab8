// ShardSendingTests: a shard whose server accepts no bytes. Replies received earlier are delivered, and time limits
// apply.

import LupineOrigin
import LupineReactor
import LupineWire
import Testing

@testable import LupineEngine

@Suite("An event loop that sends requests", .timeLimit(.minutes(10)))
struct ShardSendingTests {
  private static let brokenPipe = SystemError(call: "send", code: 32)

  @Test(
    "if sending fails after the response has arrived, the client delivers all of it, even with a full receive window"
  )
  func answeredBeforeSendingFails() async throws {
    let stage = ShardStage()
    let (id, sink, socket) = try beginUpload(on: stage, windowBytes: 5)
    socket.arrivals = [
      .bytes(Array("HTTP/1.1 413 Content Too Large\r\nContent-Length: 15\r\n\r\nfirst".utf8)),
      .bytes(Array("again".utf8)), .bytes(Array("later".utf8)), .end,
    ]
    stage.turn(socket)
    #expect(sink.receivedCount == 5)
    socket.sendFailure = Self.brokenPipe
    socket.roomBytes = .max
    stage.turn(socket)
    // The poller no longer watches the socket for room to write.
    #expect(stage.network.event(of: socket).isEmpty && !sink.finished.isOpen)
    stage.inbox.send(.extendWindow(id, 100))
    stage.turn(socket)
    try #require(sink.finished.isOpen)
    let outcome = await sink.outcome
    #expect(outcome.error == nil && outcome.head?.status == 413 && outcome.text == "firstagainlater")
    #expect(outcome.metrics?.closeReason != nil)
  }

  @Test("while the receive window is full, an error of the socket doesn't make the client read more of the response")
  func errorWhileHeld() throws {
    let stage = ShardStage()
    let (_, sink, socket) = try beginUpload(on: stage, windowBytes: 5)
    socket.arrivals = [
      .bytes(Array("HTTP/1.1 413 Content Too Large\r\nContent-Length: 15\r\n\r\nfirst".utf8)),
      .bytes(Array("again".utf8)), .bytes(Array("later".utf8)),
    ]
    stage.turn(socket)
    try #require(sink.receivedCount == 5)
    let readCount = socket.reads.count
    // The poller still watches the socket, because the client has more to send.
    stage.turn(error: socket)
    #expect(socket.reads.count == readCount && sink.receivedCount == 5 && !sink.finished.isOpen)
  }

  @Test(
    "if sending a request fails after a long response has arrived, the response is read over several loop iterations")
  func longAnswerBeforeSendingFails() async throws {
    let stage = ShardStage()
    let (_, sink, socket) = try beginUpload(on: stage)
    let body = [UInt8](repeating: 7, count: 4 << 20)
    socket.arrivals = [
      .bytes(Array("HTTP/1.1 413 Content Too Large\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body)
    ]
    socket.sendFailure = Self.brokenPipe
    socket.roomBytes = .max
    stage.turn(socket)
    while !sink.finished.isOpen {
      let before = sink.receivedCount
      stage.turn(socket)
      try #require(sink.receivedCount > before)
    }
    #expect(await sink.outcome.error == nil)
    #expect(await sink.outcome.body == body)
  }

  @Test(
    "if sending a request fails before a complete response head has arrived, the request fails with that error",
    arguments: ["", "HTTP/1.1 4"])
  func unansweredWhenSendingFails(answer: String) async throws {
    let stage = ShardStage()
    let (_, sink, socket) = try beginUpload(on: stage)
    if !answer.isEmpty { socket.arrivals = [.bytes(Array(answer.utf8))] }
    socket.sendFailure = Self.brokenPipe
    socket.roomBytes = .max
    stage.turn(socket)
    try #require(sink.finished.isOpen)
    let error = await sink.outcome.error
    #expect(
      error?.code == .connectionLost && error?.description.contains("Broken pipe") == true,
      "\(String(describing: error))")
  }

  @Test("the client doesn't send a POST on another connection if it has already written a part to the first connection")
  func failsAfterPart() async throws {
    let stage = ShardStage()
    let (_, socket) = try stage.completeFirstRequest()
    (socket.arrivals, socket.sent, socket.roomBytes) = ([], [], 1_000)
    // Within one flush, the kernel accepts a part of the bytes and then reports an error.
    socket.onSend = { [unowned socket] in socket.sendFailure = Self.brokenPipe }
    let (_, sink) = stage.submit(try upload())
    stage.turn()
    #expect(socket.sent.count == 1_000)
    stage.turn()
    #expect(stage.network.sockets.count == 1)
    try #require(sink.finished.isOpen)
    let error = await sink.outcome.error
    #expect(error?.code == .connectionLost && error?.wasReused == true)
    #expect(error?.progress == .sent)
  }

  @Test("sending a request times out if the server accepts nothing, even if the body's producer has no more bytes yet")
  func producedAndNotTaken() async throws {
    let stage = ShardStage()
    let goOn = Gate()
    defer { goOn.open() }
    let body = RequestBody { writer in
      try await writer.write([1, 2, 3])
      await goOn.wait()
    }
    let (id, sink) = stage.submit(
      try upload(body) { $0.timeouts.send = .seconds(5) })
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    // Set before anything is sent, because the producer may already have written.
    socket.roomBytes = 0
    stage.turn(socket)
    while stage.shard.exchanges[id]?.metrics.requestBodyBytes == 0 {
      stage.turn(socket)
      await Task.yield()
    }
    stage.turn(after: .seconds(4), socket)
    #expect(!sink.finished.isOpen)
    stage.turn(after: .seconds(2), socket)
    try #require(sink.finished.isOpen)
    let error = await sink.outcome.error
    #expect(error?.code == .timedOut && error?.phase == .send)
  }

  @Test("a request body that compresses to almost nothing is read over several iterations of the event loop")
  func compressedUpload() async throws {
    let stage = ShardStage()
    let body = RequestBody([UInt8](repeating: 0, count: 16 << 20))
    let (id, sink) = stage.submit(try upload(body) { $0.bodyCoding = .gzip })
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    stage.turn(socket)
    var turnCount = 1
    while stage.shard.exchanges[id]?.metrics.requestEnd == nil {
      let before = socket.sent.count
      stage.turn(socket)
      turnCount += 1
      try #require(turnCount < 100 && socket.sent.count >= before)
    }
    #expect(turnCount > 8)
    socket.arrivals = [.bytes(Array("HTTP/1.1 204 No Content\r\n\r\n".utf8))]
    stage.turn(socket)
    #expect(await sink.outcome.head?.status == 204)
  }

  /// Starts an upload on a connection that accepts only 1,000 bytes at first.
  private func beginUpload(
    on stage: ShardStage, windowBytes: Int = .max
  ) throws -> (ExchangeID, RecordingSink, ScriptedSocket) {
    let (id, sink) = stage.submit(try upload(), windowBytes: windowBytes)
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    socket.roomBytes = 1_000
    stage.turn(socket)
    return (id, sink, socket)
  }

  private func upload(
    _ body: RequestBody = RequestBody([UInt8](repeating: 1, count: 100_000)),
    _ change: (inout EngineRequest) -> Void = { _ in }
  ) throws -> EngineRequest {
    var request = EngineRequest(method: "POST", uri: try URI("http://127.0.0.1:80/"), body: body)
    change(&request)
    return request
  }
}
