// HandshakeTests: the parameters that two well-behaved ends negotiate, and data in both directions.

import LupineLoopback
import LupineTLS
import LupineTestSupport
import Testing

@Suite("TLS between two conforming peers")
struct HandshakeTests {
  @Test("after a TLS handshake, each peer receives the other's message", arguments: [TLSVersion.v1_2, .v1_3])
  func echo(version: TLSVersion) throws {
    let fixture = try Fixture(versions: version...version)
    let (client, server) = try fixture.connected()

    try client.write(Array("ping".utf8))
    server.receive(client.output())
    try server.read()
    #expect(server.received == Array("ping".utf8))

    try server.write(Array("pong".utf8))
    client.receive(server.output())
    try client.read()
    #expect(client.received == Array("pong".utf8))
  }

  @Test("a TLS session accepts the peer's ciphertext byte by byte", arguments: [TLSVersion.v1_2, .v1_3])
  func byteByByte(version: TLSVersion) throws {
    let fixture = try Fixture(versions: version...version)
    let client = try Endpoint(client: fixture.trusting)
    let server = try Endpoint(server: fixture.server)
    let outcome = try shakeHands(client, server, piece: 1)
    #expect(outcome.client == nil)
    #expect(outcome.server == nil)

    try server.write(Array("a slow answer".utf8))
    for byte in server.output() {
      client.receive([byte])
      try client.read(room: 1)
    }
    #expect(client.received == Array("a slow answer".utf8))
  }

  @Test("a single write to a TLS session accepts 1 MB")
  func largeWrite() throws {
    let (client, server) = try Fixture().connected()
    let body = SequenceBytes.bytes(from: 0, count: 1_048_576)
    try client.write(body)
    #expect(client.session.pendingOutputCount > body.count)

    let ciphertext = client.output()
    #expect(client.session.pendingOutputCount == 0)
    server.receive(ciphertext)
    try server.read(room: 65_536)
    #expect(server.received == body)
  }

  @Test("an empty write to a TLS session sends nothing")
  func emptyWrite() throws {
    let (client, _) = try Fixture().connected()
    _ = client.output()
    try client.write([])
    #expect(client.session.pendingOutputCount == 0)
  }

  @Test("draining a TLS session's output appends the output to the caller's bytes")
  func drainAppends() throws {
    let (client, _) = try Fixture().connected()
    _ = client.output()
    try client.write(Array("x".utf8))
    var bytes: [UInt8] = [1, 2, 3]
    client.drain(into: &bytes)
    #expect(bytes.prefix(3) == [1, 2, 3])
    // The inner record's type is hidden, so the outer type is application_data, which is 23 (RFC 8446 §5.1).
    #expect(bytes[3] == 23)
  }

  @Test("a TLS session's info contains the version, the cipher suite with its number, and the application protocol")
  func info() throws {
    let fixture = try Fixture(versions: .v1_3 ... .v1_3)
    let client = try Endpoint(client: fixture.trusting)
    #expect(client.info.protocolVersion == "")
    #expect(client.info.cipherSuite == "")
    #expect(client.info.cipherSuiteCode == 0)
    #expect(client.info.applicationProtocol == nil)
    #expect(client.info.group == nil)
    #expect(client.info.certificateChain.isEmpty)

    let (connected, _) = try fixture.connected()
    #expect(connected.info.protocolVersion == "TLSv1.3")
    #expect(connected.info.cipherSuite.hasPrefix("TLS_"))
    #expect((0x1301...0x1303).contains(connected.info.cipherSuiteCode))
    #expect(connected.info.applicationProtocol == "http/1.1")
    #expect(!connected.info.isResumed)
  }

  @Test("the info of a TLS 1.2 session contains that version and its cipher suite")
  func infoOfOlderVersion() throws {
    let (client, _) = try Fixture(versions: .v1_2 ... .v1_2).connected()
    #expect(client.info.protocolVersion == "TLSv1.2")
    #expect(client.info.cipherSuite.hasPrefix("TLS_ECDHE_ECDSA_"))
    #expect(client.info.cipherSuiteCode >> 8 == 0xC0 || client.info.cipherSuiteCode >> 8 == 0xCC)
  }

  @Test(
    "of the application protocols that the client offers with ALPN, the server selects the one that it prefers",
    arguments: [
      (["http/1.1"], ["http/1.1"], "http/1.1"),
      (["h2", "http/1.1"], ["http/1.1"], "http/1.1"),
      (["h2", "http/1.1"], ["http/1.1", "h2"], "http/1.1"),
      (["http/1.1"], [], nil),
      ([], ["http/1.1"], nil),
    ] as [([String], [String], String?)])
  func alpn(offered: [String], served: [String], chosen: String?) throws {
    let fixture = try Fixture(protocols: served)
    var configuration = fixture.trusting
    configuration.applicationProtocols = offered
    let (client, server) = try fixture.connected(TLSContext(client: configuration))
    #expect(client.info.applicationProtocol == chosen)
    #expect(server.info.applicationProtocol == chosen)
  }

  @Test("if there is no common application protocol (ALPN), the error contains the name of the setting")
  func alpnWithoutCommonProtocol() throws {
    let fixture = try Fixture(protocols: ["h2"])
    let client = try Endpoint(client: fixture.trusting)
    let outcome = try shakeHands(client, Endpoint(server: fixture.server))
    #expect(outcome.client?.code == .alert(120))
    #expect(outcome.client?.message.contains("applicationProtocols") == true)
  }

  @Test("if there is no common TLS version, the handshake fails with a version error")
  func noCommonVersion() throws {
    let fixture = try Fixture(versions: .v1_3 ... .v1_3)
    var configuration = fixture.trusting
    configuration.maximumVersion = .v1_2
    let client = try Endpoint(client: configuration)
    let outcome = try shakeHands(client, Endpoint(server: fixture.server))
    #expect(outcome.client?.code == .protocolVersion)
    #expect(outcome.server?.code == .protocolVersion)
  }

  @Test("the client trusts a server only if the server sends all intermediate certificates, in any order")
  func intermediateCertificates() throws {
    let authority = try ThrowawayAuthority()
    let upper = try authority.issueAuthority(commonName: "The upper intermediate CA")
    let lower = try upper.issueAuthority(commonName: "The lower intermediate CA")
    let leaf = try lower.issue(names: ["localhost"])
    let (first, second, root) = (lower.certificatePEM, upper.certificatePEM, authority.certificatePEM)
    let chains: [(sent: [UInt8], isComplete: Bool)] = [
      (first + second, true), (second + first, true), (first + second + root, true), (first, false), (second, false),
      ([], false),
    ]
    for (index, (sent, isComplete)) in chains.enumerated() {
      let client = try Endpoint(client: TLSConfiguration(trustRoots: [.pem(root)]))
      let server = try Endpoint(
        server: TLSContext(serverCertificatePEM: leaf.certificatePEM + sent, privateKeyPEM: leaf.privateKeyPEM))
      let outcome = try shakeHands(client, server)
      #expect(outcome.client?.code == (isComplete ? nil : TLSError.Code.unknownAuthority), "chain \(index)")
    }
  }
}
