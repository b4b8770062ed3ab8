// FuzzDesyncTests: the desync probes of `lupine fuzz`, and the comparison of two servers.

import LupineOrigin
import Synchronization
import Testing

@Suite("lupine fuzz --desync and --against", .timeLimit(.minutes(10)))
struct FuzzDesyncTests {
  private func probe(_ server: OriginServer, _ more: [String] = []) async throws -> Run {
    try await lupine(["fuzz", "--desync", "--seed", "1", "--rate", "400", "--timeout", "1"] + more + [server.url])
  }

  @Test(
    "the desync probes find a chain of servers that frame requests differently",
    arguments: [
      (RequestFraming.length, RequestFraming.chunked, "CL.TE: Transfer-Encoding: chunked"),
      (.length, .chunked, "CL.TE: Transfer-Encoding: xchunked"),
      (.chunked, .length, "TE.CL: Transfer-Encoding: chunked"),
      (.chunked, .length, "TE.CL: Transfer-Encoding : chunked"),
      (.chunked, .neverChunked, "TE.0: POST"), (.length, .noBody, "CL.0: POST with content"),
      (.validLength, .length, "0.CL: Content-Length: +"),
      (.validLength, .length, "0.CL: Content-Length : "),
    ])
  func vulnerable(front: RequestFraming, back: RequestFraming, name: String) async throws {
    let server = try SimulatedChain.server(front: front, back: back)
    defer { server.stop() }
    let run = try await probe(server)
    #expect(run.status == 100 && run.errors.isEmpty, "\(run.output) \(run.errors)")
    #expect(run.output.split(separator: "\n").contains { $0.contains(" desync: \(name)") }, "\(run.output)")
  }

  @Test(
    "the desync probes report nothing if a server refuses invalid framing, or closes the connection after ambiguous framing",
    arguments: [RequestFraming.strict, .chunkedThenClose])
  func correct(framing: RequestFraming) async throws {
    let server = try SimulatedChain.server(front: framing, back: framing)
    defer { server.stop() }
    let run = try await probe(server)
    #expect(run.status == 0 && run.errors.isEmpty, "\(run.output) \(run.errors)")
    #expect(run.output.hasPrefix("seed 1\n29 probes, 0 faults: "), "\(run.output)")
    // One connection for each probe, and three before.
    #expect(server.connectionCount == 32)
  }

  @Test("the desync probes find a server that sends two responses in the wrong order, also if only the content differs")
  func confused() async throws {
    let server = try OriginServer { peer in
      var text = ""
      while !text.contains("Connection: close") {
        let bytes = try peer.receive()
        guard !bytes.isEmpty else { return }
        text += String(decoding: bytes, as: UTF8.self)
      }
      let targets = text.split(separator: "\r\n\r\n").compactMap { $0.split(separator: " ").dropFirst().first }
      for target in targets.reversed() {
        try peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(target.utf8.count)\r\n\r\n\(target)")
      }
      peer.finishSending()
      _ = try peer.awaitClose()
    }
    defer { server.stop() }
    let run = try await probe(server, ["--timeout", "0.2"])
    #expect(run.status == 100, "\(run.output)")
    let lines = run.output.split(separator: "\n")
    #expect(lines.contains { $0.contains(" desync: second request, at once: the first request got") }, "\(run.output)")
  }

  @Test("a server whose answer changes after a probe isn't reported as a desync")
  func changed() async throws {
    let isGone = Atomic(false)
    // A POST deletes what the URL names, so that later requests get 404, like requests for the marked target.
    let server = try OriginServer.serving { request in
      if request.method == "POST" { isGone.store(true, ordering: .relaxed) }
      let isFound = request.path == "/" && !isGone.load(ordering: .relaxed)
      return Reply(status: isFound ? 200 : 404)
    }
    defer { server.stop() }
    let run = try await probe(server)
    #expect(run.status == 0 && run.output.contains(" 0 faults: "), "\(run.output)")
  }

  @Test("a server that keeps sending can't make a probe exceed its limits of bytes and of responses")
  func endless() async throws {
    let server = try OriginServer { peer in
      let text = String(decoding: try peer.receive(), as: UTF8.self)
      let isGood = text.hasPrefix("GET / ")
      let response = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"
      try peer.send(response)
      if !isGood { while true { try peer.send(response) } }
      peer.finishSending()
      _ = try peer.awaitClose()
    }
    defer { server.stop() }
    let run = try await probe(server)
    #expect(run.status == 100 && run.output.contains(" responses to 2 requests"), "\(run.output)")
  }

  @Test("--against reports where two servers frame the same bytes differently, and nothing for equal servers")
  func against() async throws {
    let strict = try SimulatedChain.server(front: .strict, back: .strict)
    let lenient = try SimulatedChain.server(front: .length, back: .length)
    let other = try SimulatedChain.server(front: .strict, back: .strict)
    defer { for server in [strict, lenient, other] { server.stop() } }
    let arguments = ["fuzz", "--seed", "4", "--count", "60", "--rate", "400", "--timeout", "2"]
    let differs = try await lupine(arguments + ["--against", lenient.url, strict.url])
    #expect(differs.status == 100 && differs.output.contains(" different framing: "), "\(differs.output)")
    #expect(differs.output.contains("1 response and 2"), "\(differs.output)")
    let equal = try await lupine(arguments + ["--against", other.url, strict.url])
    #expect(equal.status == 0 && equal.output.contains("60 requests, 0 faults: "), "\(equal.output) \(equal.errors)")
    // The printed command compares both servers again.
    let line = try #require(differs.output.split(separator: "\n").first { $0.hasPrefix("  again: lupine ") })
    #expect(line.contains("--against \(lenient.url)"))
    let again = try await shell("$lupine \(line.dropFirst("  again: lupine ".count))")
    #expect(again.status == 100 && again.output.contains("different framing: "), "\(again.output)")
  }

  @Test("--against refuses two servers that already differ for a valid request")
  func differentPages() async throws {
    let chain = try SimulatedChain.server(front: .strict, back: .strict)
    let other = try OriginServer.serving { _ in Reply(status: 500) }
    defer { for server in [chain, other] { server.stop() } }
    let run = try await lupine(["fuzz", "--against", other.url, chain.url])
    #expect(run.status == 56 && run.errors.contains("response 1 is 2xx and 5xx"), "\(run.errors)")
  }
}
