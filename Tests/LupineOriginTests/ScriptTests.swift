// ScriptTests: control of a connection by handlers, and what they observe of the client's end.

import LupineReactor
import LupineWire
import Testing

@testable import LupineOrigin

struct ScriptTests {
  @Test("the test server sends a handler's raw bytes, chunks and trailers without changes")
  func sending() throws {
    let server = try OriginServer { peer in
      _ = try peer.readRequest()
      try peer.send("HTTP/1.1 103 Early\r\n\r\n")
      try peer.beginChunked(status: 299, fields: ["A": "b"])
      try peer.chunk("hello")
      try peer.chunk("")
      try peer.chunk([0x21])
      try peer.endChunked(trailers: ["T": "1"])
    }
    defer { server.stop() }
    let client = try RawClient(server)
    try client.send("GET / HTTP/1.1\r\n\r\n")
    #expect(
      try client.receiveAll()
        == "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 299 \r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "5\r\nhello\r\n1\r\n!\r\n0\r\nT: 1\r\n\r\n")
  }

  @Test("the test server numbers connections in the order in which it accepts them")
  func indices() throws {
    let server = try OriginServer { peer in try peer.send("\(peer.connectionIndex)") }
    defer { server.stop() }
    for index in 0..<3 { #expect(try RawClient(server).receiveAll() == "\(index)") }
    #expect(server.connectionCount == 3)
  }

  @Test("if the test server's handler resets the connection, the client's next read reports the reset")
  func reset() throws {
    let server = try OriginServer { peer in
      _ = try peer.readRequest()
      peer.reset()
      #expect(throws: OriginError.closed) { try peer.send("more") }
    }
    defer { server.stop() }
    let client = try RawClient(server)
    try client.send("GET / HTTP/1.1\r\n\r\n")
    let error = #expect(throws: SystemError.self) { try client.receiveAll() }
    #expect(error?.isConnectionReset == true)
  }

  @Test(
    "awaitClose tells the test server's handler how the client closed the connection and how many bytes arrived",
    arguments: [false, true])
  func awaitClose(isReset: Bool) async throws {
    let seen = HandlerRecord()
    let (hasLeft, hasRead) = (Gate(), Gate())
    let server = try OriginServer { peer in
      _ = try peer.readHead()
      hasRead.open()
      seen.set(try peer.awaitClose())
      hasLeft.open()
    }
    defer { server.stop() }
    try await leave(server, isReset: isReset, after: hasRead)
    await hasLeft.wait()
    #expect(seen.ending?.cause == (isReset ? .reset : .closed))
    if !isReset { #expect(seen.ending?.byteCount == 5) }
  }

  private func leave(_ server: OriginServer, isReset: Bool, after gate: Gate) async throws {
    let client = try RawClient(server)
    try client.send("GET / HTTP/1.1\r\n\r\n")
    await gate.wait()
    if isReset { client.resetAtEnd() } else { try client.send("hello") }
  }

  @Test("with a Gate, a test can wait for the test server's handler, and the handler can wait for the test")
  func gates() async throws {
    let (first, second) = (Gate(), Gate())
    let server = try OriginServer { peer in
      _ = try peer.readRequest()
      first.open()
      try peer.wait(for: second)
      try peer.respond(body: Array("after".utf8))
    }
    defer { server.stop() }
    let client = try RawClient(server)
    try client.send("GET / HTTP/1.1\r\n\r\n")
    await first.wait()
    #expect(server.requestCount == 1)
    #expect(server.openConnectionCount == 1)
    second.open()
    #expect(try client.receiveAll().hasSuffix("after"))
  }

  @Test("opening a Gate resumes all waiting tasks and threads, and a cancelled task doesn't wait at a closed Gate")
  func gate() async throws {
    let gate = Gate()
    let cancelled = Task { await gate.wait() }
    cancelled.cancel()
    await cancelled.value
    let waiting = Task { await gate.wait() }
    try Thread.start(name: "opener") { gate.open() }
    gate.waitBlocking()
    await waiting.value
    await gate.wait()
    gate.waitBlocking()
    #expect(gate.isOpen)
  }
}
