// PostHandshakeTests: key updates, tickets and renegotiation requests after the handshake, and the memory of idle
// sessions.

import LupineLoopback
import LupineTLS
import Testing

@Suite("TLS after the handshake")
struct PostHandshakeTests {
  private func exchange(_ client: Endpoint, _ server: Endpoint) throws {
    try client.write(Array("ping".utf8))
    server.receive(client.output())
    try server.read()
    try server.write(Array("pong".utf8))
    client.receive(server.output())
    try client.read()
  }

  @Test("a TLS session answers requests for a key update, and data continues to flow")
  func keyUpdates() throws {
    let fixture = try Fixture(versions: .v1_3 ... .v1_3)
    let (client, server) = try fixture.visited(TLSContext(client: fixture.trusting))
    // Only answers that are unsent and messages without data in between are limited: these are 18,900 bytes and 700 messages.
    for _ in 0..<14 {
      for _ in 0..<50 {
        #expect(server.requestKeyUpdate())
        client.receive(server.output())
        try client.read()
        server.receive(client.output())
        try server.read()
      }
      try exchange(client, server)
    }
    #expect(client.received.suffix(4) == Array("pong".utf8))
  }

  @Test("a flood of TLS key updates or session tickets without data ends the session", arguments: [false, true])
  func flood(isOfTickets: Bool) throws {
    let fixture = try Fixture(versions: .v1_3 ... .v1_3)
    let (client, server) = try fixture.visited(TLSContext(client: fixture.trusting))
    var taken = 0
    let error = #expect(throws: TLSError.self) {
      while taken < 1000 {
        #expect(isOfTickets ? server.sendTicket() : server.requestKeyUpdate())
        client.receive(server.output())
        try client.read()
        taken += 1
      }
    }
    #expect(taken == 64)
    #expect(error?.code == .protocolViolation)
    #expect(error?.message.contains("localhost sent 65 TLS handshake messages") == true)
    #expect(throws: TLSError.self) { try client.write([1]) }
  }

  @Test("a TLS session limits the number of unsent answers to key updates, even if data arrives between the requests")
  func unsentAnswers() throws {
    let fixture = try Fixture(versions: .v1_3 ... .v1_3)
    let (client, server) = try fixture.visited(TLSContext(client: fixture.trusting))
    var most = 0
    let error = #expect(throws: TLSError.self) {
      for _ in 0..<2000 {
        #expect(server.requestKeyUpdate())
        try server.write([1])
        client.receive(server.output())
        try client.read()
        most = max(most, client.session.pendingOutputCount)
      }
    }
    #expect(error?.code == .protocolViolation)
    #expect(most > 15 * 1024 && most <= 16 * 1024)
  }

  @Test("a TLS session declines a request to renegotiate, and data continues to flow")
  func renegotiation() throws {
    let fixture = try Fixture(versions: .v1_2 ... .v1_2)
    let (client, server) = try fixture.visited(TLSContext(client: fixture.trusting))
    #expect(server.requestRenegotiation())
    client.receive(server.output())
    try client.read()
    // The client has sent an alert (RFC 8446 §5.1), which is encrypted.
    #expect(client.output().first == 21)
    try server.write(Array("pong".utf8))
    client.receive(server.output())
    try client.read()
    #expect(client.received.suffix(4) == Array("pong".utf8))
  }

  @Test(
    "after any amount of data, a TLS session's empty buffers have a limited size, and are small when idle",
    arguments: [TLSVersion.v1_2, .v1_3])
  func idleBuffers(version: TLSVersion) throws {
    let (client, server) = try Fixture(versions: version...version).connected()
    try client.write([UInt8](repeating: 1, count: 1 << 20))
    #expect(client.session.bufferedBytesCapacity > 1 << 20)
    server.receive(client.output())
    #expect(server.session.bufferedBytesCapacity > 1 << 20)
    try server.read()
    #expect(server.received.count == 1 << 20)
    for end in [client, server] {
      #expect(end.session.bufferedBytesCapacity <= 2 * 128 * 1024)
      end.releaseIdleMemory()
      #expect(end.session.bufferedBytesCapacity <= 2 * 4096)
    }
    try exchange(client, server)
    #expect(client.received.suffix(4) == Array("pong".utf8))
  }

  @Test("after a TLS session's buffer was reallocated, a connection that ends without close_notify is still an error")
  func endAfterShrinking() throws {
    let (client, server) = try Fixture().connected()
    try server.write([UInt8](repeating: 1, count: 1 << 16))
    client.receive(server.output())
    try client.read()
    #expect(client.received.count == 1 << 16)
    client.receiveEnd()
    #expect(throws: TLSError.self) { try client.read() }
  }
}
