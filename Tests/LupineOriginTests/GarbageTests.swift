// GarbageTests: malformed requests, which are answered with 400 or dropped without affecting other clients.

import LupineTestSupport
import Testing

@testable import LupineOrigin

struct GarbageTests {
  private static let refused = [
    "\0\0\0\0\r\n\r\n",
    "GET\r\n\r\n",
    "GET / HTTP/2.0\r\n\r\n",
    "GET  / HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.1 \r\n\r\n",
    " / HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.\u{20AC}\r\n\r\n",
    "GET / HTTP/1.1\r\n: x\r\n\r\n",
    "GET / HTTP/1.1\r\n folded\r\n\r\n",
    "GET / HTTP/1.1\r\nA : b\r\n\r\n",
    "GET / HTTP/1.1\r\n" + String(repeating: "a: b\r\n", count: 1000) + "\r\n",
    "GET /" + String(repeating: "a", count: 100_000),
    "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    "POST / HTTP/1.1\r\nContent-Length:\r\n\r\n",
    "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
    "POST / HTTP/1.1\r\nContent-Length: 18446744073709551615\r\n\r\n",
    "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nbad trailer\r\n\r\n",
  ]

  @Test(
    "the test server answers a malformed request with 400, and then serves the next client's request",
    arguments: refused)
  func refusal(bytes: String) throws {
    let server = try OriginServer.serving { _ in .text("fine") }
    defer { server.stop() }
    let client = try RawClient(server)
    try client.send(bytes)
    #expect(try client.receiveAll().hasPrefix("HTTP/1.1 400 \r\n"))
    let next = try RawClient(server)
    try next.send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
    #expect(try next.receiveAll().hasSuffix("fine"))
  }

  @Test(
    "the test server drops a truncated request without a response",
    arguments: [
      "", "\r\n", "G", "GET / HTTP/1.1\r\nA: b", "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n1234",
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n1234",
    ])
  func truncated(bytes: String) throws {
    let server = try OriginServer.serving { _ in .text("fine") }
    defer { server.stop() }
    let client = try RawClient(server)
    try client.send(bytes)
    try client.finishSending()
    #expect(try client.receiveAll() == "")
  }

  @Test("random bytes that a client sends to the test server affect only that client's connection", arguments: 0..<64)
  func random(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let lines = ["GET / HTTP/1.1", "Content-Length: 3", "Transfer-Encoding: chunked", "\r\n", "\r\n\r\n", "5\r\n", ":"]
    var bytes: [UInt8] = []
    for _ in 0..<40 {
      let number = random.next()
      if number % 3 == 0 {
        bytes.append(UInt8(truncatingIfNeeded: number >> 8))
      } else {
        bytes += Array(lines[Int(number >> 8 & 0xFF) % lines.count].utf8)
      }
    }
    let server = try OriginServer.serving(DemoRoutes.reply)
    let client = try RawClient(server)
    // If the server has already closed the connection, the client receives a reset.
    try? client.send(bytes)
    try? client.finishSending()
    _ = try? client.receiveAll()
    server.stop()
    #expect(server.connectionCount == 1)
    #expect(server.openConnectionCount == 0)
  }
}
