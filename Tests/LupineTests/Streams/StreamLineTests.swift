// StreamLineTests: the lines of streamed bodies: those of stream requests, of AsyncBytes, and of the engine.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct StreamLineTests {
  private struct Item: Codable, Sendable, Equatable { var text: String }

  /// Calls `body` with a server that sends each byte of `text` in a separate chunk.
  private func withBytes<Value>(_ text: String, body: (String) async throws -> Value) async throws -> Value {
    try await withServer { _ in
      Reply(.chunks(text.utf8.map { [$0] }, pause: .zero))
    } _: { origin in
      try await body(origin.url)
    }
  }

  @Test("stream requests, AsyncBytes and the engine's bodies have the same lines of text")
  func lines() async throws {
    let (text, expected) = ("a\n\r\nbü\rc\u{85}d\u{2028}\u{2029}e\u{B}f\u{C}g", ["a", "bü", "c", "d", "e", "f", "g"])
    try await withBytes(text) { url in
      try await withSession { session in
        var lines: [String] = []
        for try await line in session.streamRequest(url).streamTask().streamingLines() { lines.append(line) }
        #expect(lines == expected)
        let streams = Recorder<DataStreamRequest.Stream<String, AFError>>()
        session.streamRequest(url).responseStreamLines(on: .global()) { streams.record($0) }
        #expect(await streams.first(8).map(\.value) == expected + [nil])
        let bytes = try await session.session.bytes(from: try #require(URL(string: url))).0
        #expect(try await bytes.lines.reduce(into: []) { $0.append($1) } == expected)
      }
      let engine = try Engine()
      let body = try await engine.execute(EngineRequest(uri: try URI(url))).body
      #expect(try await body.lines.reduce(into: []) { $0.append($1) } == expected)
    }
  }

  @Test("AsyncBytes and the engine's bodies can be read as event streams")
  func events() async throws {
    let expected = [ServerSentEvent(id: "1", data: "a"), ServerSentEvent(id: "1", type: "x", data: "b")]
    try await withBytes("id: 1\r\ndata: a\r\n\r\nevent: x\rdata: b\r\rdata: c\r") { url in
      try await withSession { session in
        let bytes = try await session.session.bytes(from: try #require(URL(string: url))).0
        #expect(try await bytes.events().reduce(into: []) { $0.append($1) } == expected)
      }
      let engine = try Engine()
      let body = try await engine.execute(EngineRequest(uri: try URI(url))).body
      #expect(try await body.events().reduce(into: []) { $0.append($1) } == expected)
    }
  }

  @Test("lines of JSON end only with line feeds, so that strings may contain other line separators")
  func jsonLines() async throws {
    let items = [Item(text: "a\u{2028}b"), Item(text: "\u{2029}\u{85}"), Item(text: "c")]
    let lines = items.map { "{\"text\":\"\($0.text)\"}" }
    try await withBytes("\(lines[0])\r\n\n\(lines[1])\n\r\n\(lines[2])") { url in
      try await withSession { session in
        var received: [Item] = []
        for try await item in session.streamRequest(url).streamTask().streamingJSONLines(of: Item.self) {
          received.append(item)
        }
        #expect(received == items)
        let streams = Recorder<DataStreamRequest.Stream<Item, AFError>>()
        session.streamRequest(url).responseStreamJSONLines(on: .global()) { streams.record($0) }
        #expect(await streams.first(4).map(\.value) == items + [nil])
      }
    }
  }

  @Test("a line of the maximum length is read, and a longer one fails the request, for each kind of body")
  func limit() async throws {
    try await withServer { _ in
      .text("12345678\n" + String(repeating: "x", count: 1000))
    } _: { origin in
      try await withSession { session in
        let url = try #require(URL(string: origin.url))
        for bytesMax in [7, 8] {
          var lines: [String] = []
          let error = await #expect(throws: AFError.self) {
            for try await line in session.streamRequest(url).streamTask().streamingLines(upTo: bytesMax) {
              lines.append(line)
            }
          }
          #expect(lines == (bytesMax == 8 ? ["12345678"] : []))
          #expect(error?.exceededLimit == .lineTooLong(bytesMax: bytesMax))
          let bytes = try await session.session.bytes(from: url).0
          let urlError = await #expect(throws: URLError.self) { for try await _ in bytes.lines(upTo: bytesMax) {} }
          #expect(urlError?.code == .dataLengthExceedsMaximum)
          let engine = try Engine()
          do {
            let body = try await engine.execute(EngineRequest(uri: try URI(url.absoluteString))).body
            let limit = await #expect(throws: EventStreamError.self) {
              for try await _ in body.lines(upTo: bytesMax) {}
            }
            #expect(limit == .lineTooLong(bytesMax: bytesMax))
          }
        }
      }
    }
  }

  @Test("a retried stream request starts with a new line")
  func retried() async throws {
    try await withEventServer([
      { peer in
        try peer.beginChunked()
        try peer.chunk("a\nhalf")
        peer.finishSending()
      }, { try $0.respond(body: Array("b\nc".utf8)) },
    ]) { server in
      try await withSession { session in
        var lines: [String] = []
        for try await line in session.streamRequest(server.url, interceptor: OneRetry()).streamTask().streamingLines() {
          lines.append(line)
        }
        #expect(lines == ["a", "half", "b", "c"])
      }
    }
  }
}
