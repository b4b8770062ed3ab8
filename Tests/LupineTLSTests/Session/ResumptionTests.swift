// ResumptionTests: sessions of one context resume earlier sessions with the same host and settings only.

import LupineLoopback
import LupineTLS
import Testing

@Suite("TLS resumption")
struct ResumptionTests {
  /// Connects a client to the server, reads the server's session tickets, and closes the connection.
  private func visit(_ fixture: Fixture, _ context: TLSContext) throws -> TLSInfo {
    let (client, server) = try fixture.connected(context)
    try server.write([1])
    client.receive(server.output())
    try client.read()
    client.close()
    return client.info
  }

  @Test(
    "the second connection to a host resumes the TLS session of the first connection",
    arguments: [TLSVersion.v1_2, .v1_3])
  func resumes(version: TLSVersion) throws {
    let fixture = try Fixture(versions: version...version)
    let context = try TLSContext(client: fixture.trusting)
    #expect(try !visit(fixture, context).isResumed)
    #expect(try visit(fixture, context).isResumed)
    #expect(try visit(fixture, context).isResumed)
  }

  @Test("a TLS context doesn't resume the TLS session of another context")
  func contextsAreApart() throws {
    let fixture = try Fixture()
    #expect(try !visit(fixture, TLSContext(client: fixture.trusting)).isResumed)
    #expect(try !visit(fixture, TLSContext(client: fixture.trusting)).isResumed)
  }

  @Test("a TLS session with one host isn't offered to another host, whose certificate is verified")
  func hostsAreApart() throws {
    let fixture = try Fixture()
    let context = try TLSContext(client: fixture.trusting)
    _ = try visit(fixture, context)
    let client = try Endpoint(client: context, host: "other.example")
    let outcome = try shakeHands(client, Endpoint(server: fixture.server))
    #expect(outcome.client?.code == .hostMismatch)
  }

  @Test("a connection to another server with the same host name performs a full TLS handshake")
  func serverThatForgot() throws {
    let fixture = try Fixture()
    let context = try TLSContext(client: fixture.trusting)
    _ = try visit(fixture, context)
    let identity = try fixture.authority.issue(names: ["localhost"], validity: .expired)
    let other = try TLSContext(serverCertificatePEM: identity.certificatePEM, privateKeyPEM: identity.privateKeyPEM)
    let outcome = try shakeHands(Endpoint(client: context), Endpoint(server: other))
    #expect(outcome.client?.code == .certificateExpired)
  }

  @Test("after connections to 300 hosts, the TLS session store is within its limit and contains the newest sessions")
  func manyHosts() throws {
    let authority = try ThrowawayAuthority()
    let identity = try authority.issue(names: ["*.example.com"])
    let server = try TLSContext(serverCertificatePEM: identity.certificatePEM, privateKeyPEM: identity.privateKeyPEM)
    let context = try TLSContext(client: TLSConfiguration(trustRoots: [.pem(authority.certificatePEM)]))
    var resumed = 0
    for pass in 0..<2 {
      // The second pass is in reverse order. In the same order, each host would already have been evicted.
      for index in pass == 0 ? Array(0..<300) : (0..<300).reversed() {
        let client = try Endpoint(client: context, host: "h\(index).example.com")
        let served = try Endpoint(server: server)
        let outcome = try shakeHands(client, served)
        #expect(outcome.client == nil)
        client.receive(served.output())
        try client.read()
        if pass == 1, client.info.isResumed { resumed += 1 }
      }
    }
    #expect(resumed == TLSSessionStore.defaultHostsMax)
  }

  @Test("several threads can share a TLS context")
  func threads() async throws {
    let fixture = try Fixture()
    let context = try TLSContext(client: fixture.trusting)
    let echoed = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<20 { _ = try visit(fixture, context) }
          return try visit(fixture, context).isResumed
        }
      }
      return try await group.reduce(into: 0) { count, isResumed in count += isResumed ? 1 : 0 }
    }
    #expect(echoed > 0)
  }
}
