// RawRequestTests: raw requests, whose bytes are sent unchanged and whose response head is available unchanged.

import LupineEngine
import LupineOrigin
import Synchronization
import Testing

@Suite("A raw request", .timeLimit(.minutes(10)))
struct RawRequestTests {
  private func origin(_ server: OriginServer) throws -> Origin { try URI(server.url).origin }

  @Test("the engine sends the bytes of a raw request unchanged, on a dedicated connection")
  func bytes() async throws {
    let seen = Mutex<[[UInt8]]>([])
    let reply = "HTTP/1.1 200  odd  reason\r\nX-Folded: a\r\n b\r\ncontent-length:3\r\n\r\nyes"
    let server = try OriginServer { peer in
      let bytes = try peer.receive()
      seen.withLock { $0.append(bytes) }
      try peer.send(reply)
      _ = try peer.awaitClose()
    }
    defer { server.stop() }
    let engine = try Engine()
    let garbage = Array("G\u{1}T /\0 HTTP/9.9\nHost: a\rHost: b\n\n".utf8) + [0xFF, 0x80]
    for _ in 0..<2 {
      let response = try await engine.send(RawRequest(to: try origin(server), garbage))
      #expect(response.head.status == 200)
      #expect(response.head.rawBytes == Array(reply.utf8.dropLast(3)))
      #expect(response.body == Array("yes".utf8))
      #expect(response.metrics.last?.isReusedConnection == false)
      #expect(response.metrics.last?.closeReason == .clientAskedForClose)
    }
    #expect(seen.withLock { $0 } == [garbage, garbage])
    #expect(server.connectionCount == 2)
  }

  @Test(
    "the engine reads no body after a HEAD request given as raw bytes, and doesn't decode the bodies of such requests")
  func framing() async throws {
    let server = try OriginServer { peer in
      _ = try peer.receive()
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nContent-Encoding: gzip\r\n\r\n")
      _ = try peer.awaitClose()
    }
    defer { server.stop() }
    let engine = try Engine()
    let head = RawRequest(to: try origin(server), Array("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
    #expect(head.method == "HEAD")
    #expect(try await engine.send(head).body.isEmpty)
    var get = RawRequest(to: try origin(server), Array("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n".utf8), method: "GET")
    get.timeouts.idle = .milliseconds(30)
    do throws(EngineError) {
      _ = try await engine.send(get)
      Issue.record("A body that never arrived counted as complete.")
    } catch {
      #expect(error.code == .timedOut)
    }
  }

  @Test(
    "if extra bytes follow the response to a raw request, the metrics state them as the reason why the connection was closed"
  )
  func surplus() async throws {
    let server = try OriginServer { peer in
      _ = try peer.receive()
      try peer.send("HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
      _ = try peer.awaitClose()
    }
    defer { server.stop() }
    let response = try await Engine().send(RawRequest(to: try origin(server), Array("GET / HTTP/1.1\r\n\r\n".utf8)))
    #expect(response.head.status == 204)
    #expect(response.metrics.last?.closeReason == .unsolicitedBytes)
  }
}
