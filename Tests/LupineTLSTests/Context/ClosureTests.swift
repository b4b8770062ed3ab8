// ClosureTests: the end of a session, with close_notify or by truncation.

import LupineTLS
import Testing

@Suite("The end of a TLS session")
struct ClosureTests {
  @Test("a TLS session reports close_notify after data as an orderly end", arguments: [TLSVersion.v1_2, .v1_3])
  func orderly(version: TLSVersion) throws {
    let (client, server) = try Fixture(versions: version...version).connected()
    try server.write(Array("bye".utf8))
    server.close()
    client.receive(server.output())
    client.receiveEnd()
    try client.read()
    #expect(client.received == Array("bye".utf8))
    #expect(client.isClosedByPeer)
  }

  @Test(
    "if the connection ends without close_notify, the TLS session reports truncation after the received data",
    arguments: [TLSVersion.v1_2, .v1_3])
  func truncated(version: TLSVersion) throws {
    let (client, server) = try Fixture(versions: version...version).connected()
    try server.write(Array("by".utf8))
    client.receive(server.output())
    client.receiveEnd()
    let error = try #require(throws: TLSError.self) { try client.read() }
    #expect(error.code == .truncated)
    #expect(error.message.contains("close_notify"))
    #expect(client.received == Array("by".utf8))
    #expect(throws: error) { try client.read() }
  }

  @Test("if the connection ends within a TLS record, the session reports truncation")
  func truncatedRecord() throws {
    let (client, server) = try Fixture().connected()
    client.receive(server.output())
    try server.write(Array("cut off".utf8))
    client.receive(server.output().dropLast(3))
    try client.read()
    client.receiveEnd()
    let error = try #require(throws: TLSError.self) { try client.read() }
    #expect(error.code == .truncated)
    #expect(client.received.isEmpty)
  }

  @Test(
    "after any part of a record, a TLS session waits for the rest, and reports the connection's end as truncation",
    arguments: [TLSVersion.v1_2, .v1_3])
  func cutRecord(version: TLSVersion) throws {
    let fixture = try Fixture(versions: version...version)
    let (client, server) = try fixture.connected()
    client.receive(server.output())
    try client.read()
    try server.write(Array("record".utf8))
    let first = server.output()
    let length = first.count
    client.receive(first)
    try client.read()
    for cut in 1..<length {
      // The rest of the record follows.
      try server.write(Array("record".utf8))
      let record = server.output()
      let before = client.received.count
      client.receive(record.prefix(cut))
      try client.read()
      #expect(client.received.count == before)
      client.receive(record.dropFirst(cut))
      try client.read()
      #expect(client.received.count == before + 6)
      // The connection ends in the middle of the record.
      let (other, peer) = try fixture.connected()
      other.receive(peer.output())
      try other.read()
      try peer.write(Array("record".utf8))
      other.receive(peer.output().prefix(cut))
      other.receiveEnd()
      let error = #expect(throws: TLSError.self) { try other.read() }
      #expect(error?.code == .truncated)
      #expect(other.received.isEmpty)
    }
  }

  @Test("a TLS session that has sent close_notify can still read, but not write")
  func halfClosed() throws {
    let (client, server) = try Fixture().connected()
    client.close()
    client.close()
    let notify = client.output()
    #expect(!notify.isEmpty)
    let error = try #require(throws: TLSError.self) { try client.write([1]) }
    #expect(error.code == .closed)

    server.receive(notify)
    try server.read()
    #expect(server.isClosedByPeer)
    try server.write(Array("last words".utf8))
    client.receive(server.output())
    try client.read()
    #expect(client.received == Array("last words".utf8))
  }

  @Test("closing a TLS session before its handshake is complete sends nothing and ends the session")
  func closedEarly() throws {
    let client = try Endpoint(client: TLSConfiguration(verification: .none))
    _ = try client.handshake()
    _ = client.output()
    client.close()
    #expect(client.session.pendingOutputCount == 0)
    let error = try #require(throws: TLSError.self) { try client.handshake() }
    #expect(error.code == .closed)
  }
}
