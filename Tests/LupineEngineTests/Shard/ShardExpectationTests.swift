// ShardExpectationTests: a shard whose requests wait for 100 (Continue) before they send their bodies. Each reply
// arrives in a separate iteration of the loop.

import LupineOrigin
import LupineReactor
import LupineWire
import Testing

@testable import LupineEngine

@Suite("An event loop that waits for 100 (Continue)", .timeLimit(.minutes(10)))
struct ShardExpectationTests {
  private let stage = ShardStage()

  /// Sends the head of a request with `Expect: 100-continue`. Returns the socket on which the request waits for 100 (Continue).
  private func begin(_ body: RequestBody) throws -> (ExchangeID, RecordingSink, ScriptedSocket) {
    var request = EngineRequest(
      method: "PUT", uri: try URI("http://127.0.0.1:80/"), fields: ["Expect": "100-continue"], body: body)
    request.timeouts.awaitContinue = .seconds(5)
    let (id, sink) = stage.submit(request)
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    stage.turn(socket)
    try #require(socket.text.hasSuffix("\r\n\r\n"))
    return (id, sink, socket)
  }

  private func reply(_ text: String, on socket: ScriptedSocket) {
    socket.arrivals = [.bytes(Array(text.utf8))]
    stage.turn(socket)
    socket.arrivals = []
  }

  @Test(
    "after an interim response other than 100 (Continue), the client still waits with a body announced by Expect",
    arguments: [102, 103, 104, 199])
  func otherInterim(status: Int) async throws {
    let (_, sink, socket) = try begin(RequestBody("content"))
    let head = socket.text
    reply("HTTP/1.1 \(status) Interim\r\n\r\n", on: socket)
    stage.turn(after: .seconds(4), socket)
    #expect(socket.text == head)
    reply("HTTP/1.1 100 Continue\r\n\r\n", on: socket)
    #expect(socket.text == head + "content")
    reply("HTTP/1.1 204 No Content\r\n\r\n", on: socket)
    try #require(sink.finished.isOpen)
    let outcome = await sink.outcome
    #expect(outcome.head?.status == 204 && outcome.informational == [status, 100])
  }

  @Test(
    "if a final response follows an interim response other than 100, the client doesn't send a body announced by Expect"
  )
  func refusedAfterInterim() async throws {
    let (_, sink, socket) = try begin(RequestBody("content"))
    let head = socket.text
    reply("HTTP/1.1 103 Early Hints\r\n\r\n", on: socket)
    reply("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n", on: socket)
    try #require(sink.finished.isOpen)
    #expect(await sink.outcome.head?.status == 413)
    #expect(socket.text == head)
  }

  @Test("if a body was already sent and can't be sent again, the client delivers a 417 response as the final response")
  func failedAfterBody() async throws {
    let (id, sink, socket) = try begin(RequestBody { writer in try await writer.write(Array("content".utf8)) })
    // The server doesn't send 100 in time, so the body is sent without it.
    stage.turn(after: .seconds(5), socket)
    while stage.shard.exchanges[id]?.metrics.requestEnd == nil {
      try #require(!sink.finished.isOpen)
      await Task.yield()
      stage.turn(socket)
    }
    #expect(socket.text.contains("content"))
    reply("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n", on: socket)
    stage.turn(socket)
    try #require(sink.finished.isOpen)
    let outcome = await sink.outcome
    #expect(outcome.error == nil && outcome.head?.status == 417 && outcome.metrics?.replayCount == 0)
    #expect(stage.network.sockets.count == 1)
  }
}

extension ScriptedSocket {
  /// The bytes that the client has sent on this socket, as text.
  fileprivate var text: String { String(decoding: sent, as: UTF8.self) }
}
