// FuzzRunTests: `lupine fuzz` against correct and incorrect servers.

import Foundation
import LupineOrigin
import Synchronization
import Testing

@Suite("lupine fuzz", .timeLimit(.minutes(10)))
struct FuzzRunTests {
  private static let good = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"

  /// Returns a server that answers unmutated requests correctly, and passes all other requests to `handler`.
  private func server(_ handler: @escaping @Sendable (Peer, [UInt8]) throws -> Void) throws -> OriginServer {
    try OriginServer { peer in
      let bytes = try peer.receive()
      let text = String(decoding: bytes, as: UTF8.self)
      let isGood =
        text.hasPrefix("GET / HTTP/1.1\r\nHost: 127.0.0.1:") && text.hasSuffix("\r\nConnection: close\r\n\r\n")
      // An unmutated request has four fields, and in addition those set with -H.
      let lineCount = text.contains("\r\nX: it's\r\n") ? 6 : 5
      guard isGood, text.split(separator: "\r\n").count == lineCount else { return try handler(peer, bytes) }
      try peer.send(Self.good)
      peer.finishSending()
      _ = try peer.awaitClose()
    }
  }

  @Test("the fuzz command reports no faults of a server that conforms to HTTP")
  func faultless() async throws {
    let server = try server { peer, _ in
      try peer.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
      peer.finishSending()
      _ = try peer.awaitClose()
    }
    defer { server.stop() }
    let run = try await lupine(["fuzz", "--seed", "1", "--count", "60", "--rate", "400", server.url])
    #expect(run.status == 0 && run.errors.isEmpty, "\(run.output) \(run.errors)")
    #expect(run.output.hasPrefix("seed 1\n60 requests, 0 faults: "), "\(run.output)")
    // A correct request is sent first, and each request uses a new connection.
    #expect(server.connectionCount == 61)
  }

  @Test("the fuzz command reports a truncated response as a fault, and prints a command line that reproduces the fault")
  func brokenReply() async throws {
    let server = try server { peer, _ in
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
      peer.finishSending()
      _ = try peer.awaitClose()
    }
    defer { server.stop() }
    let run = try await lupine(["fuzz", "--seed", "2", "--count", "5", "-H", "X: it's", server.url])
    #expect(run.status == 100, "\(run.output)")
    let lines = run.output.split(separator: "\n")
    let fault = try #require(lines.firstIndex { $0.contains(" invalid response: ") }, "\(run.output)")
    #expect(lines[fault].contains("7 bytes before the end of the response body"), "\(run.output)")
    #expect(lines.last?.contains("5 requests, ") == true)
    let prefix = "  again: lupine "
    #expect(lines[fault + 1].hasPrefix(prefix) && lines[fault + 1].hasSuffix("-H 'X: it'\\''s' \(server.url)"))
    let again = try await shell("$lupine \(lines[fault + 1].dropFirst(prefix.count))")
    #expect(again.status == 100 && again.output.contains("invalid response: "), "\(again.output) \(again.errors)")
  }

  @Test("the fuzz command reports a missing response as a hang only if the request was certainly complete")
  func hang() async throws {
    let server = try server { peer, _ in _ = try peer.awaitClose() }
    defer { server.stop() }
    let run = try await lupine(["fuzz", "--seed", "3", "--count", "5", "--timeout", "3", server.url])
    #expect(run.status == 100)
    #expect(
      run.output.contains(" hang: ") && run.output.contains("the server didn't respond within 3 s"), "\(run.output)")
    #expect(run.output.contains(" waited for more data\n"), "\(run.output)")
  }

  @Test(
    "the fuzz command reports a connection reset as a fault, but not a server that closes the connection without a response"
  )
  func reset() async throws {
    let cutting = try server { peer, _ in peer.reset() }
    defer { cutting.stop() }
    let cut = try await lupine(["fuzz", "--seed", "4", "--count", "3", cutting.url])
    #expect(cut.status == 100 && cut.output.contains(" reset: "), "\(cut.output)")

    let closing = try server { peer, _ in
      peer.finishSending()
      _ = try peer.awaitClose()
    }
    defer { closing.stop() }
    let closed = try await lupine(["fuzz", "--seed", "4", "--count", "3", closing.url])
    #expect(closed.status == 0 && closed.output.contains("3 closed without a response\n"), "\(closed.output)")
  }

  @Test("a fuzz run ends when the server no longer answers a correct request")
  func gone() async throws {
    let isBroken = Atomic(false)
    let server = try OriginServer { peer in
      let text = String(decoding: try peer.receive(), as: UTF8.self)
      if text.split(separator: "\r\n").count != 5 { isBroken.store(true, ordering: .relaxed) }
      if isBroken.load(ordering: .relaxed) { return peer.reset() }
      try peer.send(Self.good)
      peer.finishSending()
      _ = try peer.awaitClose()
    }
    defer { server.stop() }
    let run = try await lupine(["fuzz", "--seed", "6", "--count", "400", "--rate", "400", server.url])
    #expect(run.status == 100 && run.output.contains(" no longer responds: "), "\(run.output)")
    #expect(server.connectionCount < 100)
  }

  @Test("the fuzz command's --rate limits the number of requests per second")
  func rate() async throws {
    let server = try server { peer, _ in
      peer.finishSending()
      _ = try peer.awaitClose()
    }
    defer { server.stop() }
    let start = ContinuousClock.now
    let run = try await lupine(["fuzz", "--count", "11", "--rate", "50", server.url])
    #expect(run.output.contains("11 requests"))
    #expect(ContinuousClock.now - start >= .milliseconds(200))
  }

  @Test("the fuzz command's --print writes the bytes that --only would send, without sending them")
  func printed() async throws {
    let seen = Mutex<[UInt8]>([])
    let server = try server { peer, bytes in
      seen.withLock { $0 = bytes }
      try peer.send(Self.good)
      peer.finishSending()
      _ = try peer.awaitClose()
    }
    defer { server.stop() }
    let arguments = ["fuzz", "--seed", "9", "--only", "1", server.url]
    let printed = try await lupine(arguments + ["--print"])
    #expect(printed.status == 0 && server.connectionCount == 0)
    let sent = try await lupine(arguments)
    #expect(sent.status == 0 && sent.output.hasSuffix("\nanswered with 200\n"), "\(sent.output)")
    #expect(server.connectionCount == 1)
    #expect(seen.withLock { Data($0) } == Data(printed.output.utf8))
  }

  @Test("the fuzz command reports a remote target, an unreachable server, or a malformed first response as an error")
  func errors() async throws {
    let remote = try await lupine(["fuzz", "http://192.0.2.1/"])
    #expect(remote.status == 2 && remote.output.isEmpty && remote.hasOneErrorLine)
    let missing = try await lupine(["fuzz", "http://127.0.0.1:1/"])
    #expect(missing.status == 7 && missing.hasOneErrorLine)
    let broken = try OriginServer { peer in
      _ = try peer.receive()
      try peer.send("nonsense")
    }
    defer { broken.stop() }
    let run = try await lupine(["fuzz", broken.url])
    #expect(run.status == 56 && run.errors.contains("without mutations"), "\(run.errors)")
  }

  @Test("the help of the fuzz command lists each option, and the help of lupine mentions fuzz")
  func help() async throws {
    let run = try await lupine(["fuzz", "--help"])
    #expect(run.status == 0 && run.output.contains("--allow-remote") && run.output.contains("Exit status: 0"))
    #expect(run.output.split(separator: "\n").allSatisfy { $0.count <= 120 })
    #expect(try await lupine(["--help"]).output.contains("lupine fuzz --help"))
  }
}
