// EventStreamCommandTests: `lupine --sse`: events as lines of JSON, refused responses, and exit statuses.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@Suite("Event streams by the command", .timeLimit(.minutes(10)))
struct EventStreamCommandTests {
  private func withServer<Value>(
    _ handler: @escaping @Sendable (Peer) throws -> Void, _ body: (String) async throws -> Value
  ) async throws -> Value {
    let origin = try OriginServer(handler: handler)
    defer { origin.stop() }
    return try await body(origin.url)
  }

  @Test("--sse prints each event as a line of JSON when it has arrived, and requests an event stream")
  func events() async throws {
    let accepted = Recorder<String?>()
    let text = "id: 1\r\ndata: \"a\\\r\ndata: b\t\u{1}\u{1F}ü🐺\r\n\r\nevent: x\rdata\r\r: comment\n\ndata: unfinished"
    try await withServer { peer in
      guard let request = try peer.readRequest() else { return }
      accepted.record(request.fields.first("Accept"))
      try peer.beginChunked(fields: ["Content-Type": "text/event-stream; charset=utf-8"])
      for byte in text.utf8 { try peer.chunk([byte]) }
      try peer.endChunked()
    } _: { url in
      let run = try await lupine(["--sse", url])
      #expect(run.status == 0, "\(run.errors)")
      let first = #"{"id":"1","type":"message","data":"\"a\\\nb\t\u0001\u001fü🐺"}"#
      #expect(run.output == first + "\n" + #"{"id":"1","type":"x","data":""}"# + "\n")
      #expect(await accepted.next() == "text/event-stream")
      for line in run.output.split(separator: "\n") {
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) }
      }
    }
  }

  @Test("an event is printed before the next one is sent, and a server that ends a stream with 204 causes no error")
  func atOnce() async throws {
    let printed = Gate()
    try await withServer { peer in
      guard let request = try peer.readRequest(), request.path != "/none" else {
        return try peer.respond(status: 204)
      }
      guard request.path == "/" else { return printed.open() }
      try peer.beginChunked(fields: ["Content-Type": "text/event-stream"])
      try peer.chunk("data: first\n\n")
      try peer.wait(for: printed)
      try peer.chunk("data: second\n\n")
      try peer.endChunked()
    } _: { url in
      // The shell requests the other path after it has read the first line.
      let run = try await shell("$lupine --sse \(url) | { read line; $lupine \(url)/open; echo \"$line\"; cat; }")
      #expect(run.output.split(separator: "\n").count == 2 && run.output.contains("second"), "\(run.errors)")
      let none = try await lupine(["--sse", url + "/none"])
      #expect(none.status == 0 && none.output.isEmpty)
    }
  }

  @Test("a response that isn't an event stream, and an event that exceeds its limit, are errors without output")
  func refusals() async throws {
    try await withServer { peer in
      try peer.serve { request in
        switch request.path {
        case "/status":
          Reply(status: 500, fields: ["Content-Type": "text/event-stream"], .bytes(Array("data\n\n".utf8)))
        case "/type": .text("data: x\n\n")
        default:
          Reply(
            fields: ["Content-Type": "text/event-stream"],
            .bytes(Array("id: \(String(repeating: "x", count: 5000))\n".utf8)))
        }
      }
    } _: { url in
      let status = try await lupine(["--sse", url + "/status"])
      #expect(status.status == 22 && status.output.isEmpty && status.errors.contains("500"))
      let type = try await lupine(["--sse", url + "/type"])
      #expect(type.status == 22 && type.output.isEmpty && type.errors.contains("text/plain"))
      let limit = try await lupine(["--sse", url + "/id"])
      #expect(limit.status == 56 && limit.output.isEmpty && limit.errors.contains("4096"))
    }
  }

  @Test("--sse can't be combined with --ws, --raw or --cache")
  func combinations() async throws {
    for arguments in [["--ws"], ["--raw"], ["--cache", "/tmp"]] {
      #expect(try await lupine(["--sse"] + arguments + ["http://localhost/"]).status == 2)
    }
  }
}
