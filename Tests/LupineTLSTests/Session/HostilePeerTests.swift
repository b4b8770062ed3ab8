// HostilePeerTests: peers that speak another protocol, an old version or nonsense cause errors, and never a trap.

import LupineLoopback
import LupineTLS
import LupineTestSupport
import Testing

@Suite("TLS with a misbehaving peer")
struct HostilePeerTests {
  private func failure(receiving bytes: [UInt8], piece: Int = .max) throws -> TLSError? {
    let client = try Endpoint(client: TLSConfiguration(verification: .none))
    _ = try client.handshake()
    var rest = bytes[...]
    do {
      while !rest.isEmpty {
        client.receive(rest.prefix(piece))
        rest = rest.dropFirst(piece)
        _ = try client.handshake()
      }
      client.receiveEnd()
      _ = try client.handshake()
    } catch {
      #expect(throws: error) { try client.handshake() }
      return error
    }
    return nil
  }

  @Test(
    "if the server speaks another known protocol instead of TLS, the error contains the protocol's name",
    arguments: [
      ("HTTP/1.1 400 Bad Request\r\n\r\n", "plain HTTP"), ("SSH-2.0-OpenSSH_9.2\r\n", "SSH"),
      ("220 mail.example ESMTP\r\n", "SMTP"), ("hello", "doesn't use TLS"), ("H", "doesn't use TLS"),
    ],
    [1, Int.max])
  func otherProtocols(bytes: (sent: String, named: String), piece: Int) throws {
    let error = try #require(try failure(receiving: Array(bytes.sent.utf8), piece: piece))
    #expect(error.code == .notTLS)
    #expect(error.message.contains("doesn't use TLS on this port"))
    #expect(error.message.contains(bytes.named))
  }

  @Test("a TLS server that receives a plain HTTP request reports that the client doesn't use TLS")
  func plainRequest() throws {
    let server = try Endpoint(server: Fixture().server)
    server.receive(Array("GET / HTTP/1.1\r\n\r\n".utf8))
    let error = try #require(throws: TLSError.self) { try server.handshake() }
    #expect(error.code == .notTLS)
  }

  @Test("the client refuses a ServerHello with TLS 1.1 with a version error")
  func oldServerHello() throws {
    // ServerHello (RFC 4346 §7.4.1.3): version, random, no session, TLS_RSA_WITH_AES_128_CBC_SHA, no compression.
    let hello: [UInt8] = [3, 2] + [UInt8](repeating: 7, count: 32) + [0, 0x00, 0x2F, 0]
    let message: [UInt8] = [2, 0, 0, UInt8(hello.count)] + hello
    let record: [UInt8] = [22, 3, 2, 0, UInt8(message.count)] + message
    let error = try #require(try failure(receiving: record))
    #expect(error.code == .protocolVersion)
    #expect(error.message.contains("localhost"))
    #expect(error.message.contains("1.2"))
  }

  @Test(
    "if a TLS alert arrives instead of a ServerHello, the error contains the alert's number",
    arguments: [
      (40, .alert(40)), (70, .protocolVersion), (112, .alert(112)), (116, .alert(116)), (255, .alert(255)),
    ] as [(UInt8, TLSError.Code)])
  func alerts(number: UInt8, code: TLSError.Code) throws {
    let error = try #require(try failure(receiving: [21, 3, 3, 0, 2, 2, number]))
    #expect(error.code == code)
  }

  @Test(
    "if the connection ends during the TLS handshake, the session reports truncation",
    arguments: [[], [22, 3, 3], [22, 3, 3, 0, 90, 2]])
  func endDuringHandshake(bytes: [UInt8]) throws {
    let error = try #require(try failure(receiving: bytes))
    #expect(error.code == .truncated)
    #expect(error.message.contains("during the TLS handshake"))
  }

  @Test("random bytes from a server instead of TLS always cause an error", arguments: 0..<200 as Range<UInt64>)
  func randomBytes(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    var bytes = (0..<300).map { _ in UInt8.random(in: 0...255, using: &generator) }
    // Half of the inputs start like a handshake record; the others start with a byte that no record has.
    let looksLikeTLS = seed % 2 == 0
    bytes.replaceSubrange(0..<5, with: looksLikeTLS ? [22, 3, 3, 0, 200] : [bytes[0] | 0x80, 3, 3, 0, 200])
    let error = try #require(try failure(receiving: bytes))
    #expect((error.code == .notTLS) == !looksLikeTLS)
  }

  @Test(
    "if one bit of the server's handshake messages is changed, the client never completes the TLS handshake",
    arguments: [TLSVersion.v1_2, .v1_3])
  func changedBits(version: TLSVersion) throws {
    let fixture = try Fixture(versions: version...version)
    let context = try TLSContext(client: fixture.trusting)
    var generator = SplitMix64(seed: 1)
    for _ in 0..<300 {
      let client = try Endpoint(client: context)
      let server = try Endpoint(server: fixture.server)
      _ = try client.handshake()
      server.receive(client.output())
      _ = try server.handshake()
      var flight = server.output()
      let ignored = legacyVersions(flight)
      let changed = Int.random(in: 0..<flight.count, using: &generator)
      flight[changed] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      client.receive(flight)
      // After a change of a length field, the client may wait for more bytes, but the handshake must not complete.
      let step = try? client.handshake()
      if step == .done {
        #expect(version == .v1_3 && ignored.contains(changed), "byte \(changed)")
        continue
      }
      client.receiveEnd()
      #expect(throws: TLSError.self) { try client.handshake() }
    }
  }

  /// Returns a client that has sent its ClientHello, a server that has received it, and the server's answer.
  private func clientAndFlight(_ fixture: Fixture, _ context: TLSContext) throws -> (Endpoint, Endpoint, [UInt8]) {
    let client = try Endpoint(client: context)
    let server = try Endpoint(server: fixture.server)
    _ = try client.handshake()
    server.receive(client.output())
    _ = try server.handshake()
    return (client, server, server.output())
  }

  @Test(
    "if the server's TLS handshake ends after any byte, the client waits for more, and reports the end as truncation",
    arguments: [TLSVersion.v1_2, .v1_3])
  func cutFlight(version: TLSVersion) throws {
    let fixture = try Fixture(versions: version...version)
    var configuration = fixture.trusting
    configuration.resumesSessions = false
    let context = try TLSContext(client: configuration)
    let length = try clientAndFlight(fixture, context).2.count
    for cut in 1..<length {
      let (client, server, flight) = try clientAndFlight(fixture, context)
      // The length of signatures varies between handshakes.
      guard cut < flight.count else { continue }
      client.receive(flight.prefix(cut))
      #expect(try client.handshake() == .needMoreBytes)
      if cut % 2 == 0 {
        client.receiveEnd()
        let error = #expect(throws: TLSError.self) { try client.handshake() }
        #expect(error?.code == .truncated)
      } else {
        client.receive(flight.dropFirst(cut))
        _ = try client.handshake()
        let outcome = try shakeHands(client, server)
        #expect(outcome.client == nil && outcome.server == nil)
      }
    }
  }

  @Test(
    "if a server sends more certificates than the limit, the error states a remedy",
    arguments: [TLSVersion.v1_2, .v1_3])
  func longChain(version: TLSVersion) throws {
    let authority = try ThrowawayAuthority()
    let leaf = try authority.issue(names: ["localhost"])
    for (copies, isAccepted) in [(100, true), (400, false)] {
      let chain = (0..<copies).reduce(into: leaf.certificatePEM) { chain, _ in chain += authority.certificatePEM }
      let server = try TLSContext(
        serverCertificatePEM: chain, privateKeyPEM: leaf.privateKeyPEM, versions: version...version)
      let client = try Endpoint(client: TLSConfiguration(trustRoots: [.pem(authority.certificatePEM)]))
      let error = try shakeHands(client, Endpoint(server: server)).client
      #expect((error == nil) == isAccepted)
      if let error {
        #expect(error.code == .handshakeFailed)
        #expect(error.message.contains("102400 bytes"))
      }
    }
  }

  @Test("after the TLS handshake, an alert of any kind ends the session", arguments: 0...255 as ClosedRange<UInt8>)
  func clearAlert(number: UInt8) throws {
    let (client, _) = try Fixture().connected()
    // The alert isn't encrypted: only an attacker on the path could send it.
    client.receive([21, 3, 3, 0, 2, 2, number])
    #expect(throws: TLSError.self) { try client.read() }
  }

  @Test("after the TLS handshake, an altered record ends the session", arguments: [TLSVersion.v1_2, .v1_3])
  func tamperedRecord(version: TLSVersion) throws {
    let (client, server) = try Fixture(versions: version...version).connected()
    client.receive(server.output())
    try client.read()
    try server.write(Array("secret".utf8))
    var record = server.output()
    record[record.count - 1] ^= 1
    client.receive(record)
    let error = try #require(throws: TLSError.self) { try client.read() }
    #expect(error.code == .protocolViolation)
    #expect(client.received.isEmpty)
    #expect(throws: error) { try client.write([1]) }
    // The client has sent bad_record_mac to the server.
    server.receive(client.output())
    #expect(throws: TLSError.self) { try server.read() }
    client.close()
    #expect(client.session.pendingOutputCount == 0)
  }
}

/// The offsets of the version fields in the TLS records of a flight. In TLS 1.3, receivers ignore only this field (RFC 8446 §5.1).
private func legacyVersions(_ flight: [UInt8]) -> Set<Int> {
  var positions: Set<Int> = []
  var start = 0
  while start + 5 <= flight.count {
    positions.formUnion([start + 1, start + 2])
    start += 5 + Int(flight[start + 3]) << 8 + Int(flight[start + 4])
  }
  return positions
}
