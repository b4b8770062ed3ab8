// IdentityRequestTests: servers that request a certificate from a client that has none.

import LupineLoopback
import LupineTLS
import Testing

@Suite("Requests for client certificates")
struct IdentityRequestTests {
  /// The certificate authority from which the server requests client certificates.
  private let clients: ThrowawayAuthority

  init() throws { clients = try ThrowawayAuthority(commonName: "Clients") }

  private func fixture(_ version: TLSVersion, isRequired: Bool) throws -> Fixture {
    try Fixture(
      versions: version...version, clientAuthorityPEM: clients.certificatePEM, requiresClientCertificate: isRequired)
  }

  @Test(
    "a client without a certificate reports the server's request for a certificate, even after a fatal alert",
    arguments: [TLSVersion.v1_2, .v1_3], [true, false])
  func reported(version: TLSVersion, isRequired: Bool) throws {
    let fixture = try fixture(version, isRequired: isRequired)
    for verifier in [nil, CertificateVerifier { _ in .asFound }] {
      var configuration = fixture.trusting
      configuration.verifier = verifier
      let client = try Endpoint(client: configuration)
      #expect(client.requestedAuthorities == nil)
      let outcome = try shakeHands(client, Endpoint(server: fixture.server))
      #expect((outcome.server == nil) == !isRequired)
      // With TLS 1.3, the client's handshake is complete before the server refuses it.
      #expect((outcome.client == nil) == (!isRequired || version == .v1_3))
      let names = try #require(outcome.client?.requestedAuthorities ?? client.requestedAuthorities)
      #expect(names.count == 1 && names[0].first == 0x30)
      #expect(String(decoding: names[0], as: UTF8.self).contains("Clients"))
    }
  }

  @Test(
    "if a server names many authorities when it requests a client certificate, the client stores only the first 256",
    arguments: [TLSVersion.v1_2, .v1_3])
  func limited(version: TLSVersion) throws {
    for (count, kept) in [(256, 256), (257, 256)] {
      let named = Array(repeatElement(clients.certificatePEM, count: count).joined())
      let fixture = try Fixture(
        versions: version...version, clientAuthorityPEM: named, requiresClientCertificate: false)
      #expect(try fixture.connected().client.requestedAuthorities?.count == kept)
    }
  }

  @Test(
    "a resumed TLS session reports that the server requested a client certificate in the original handshake",
    arguments: [TLSVersion.v1_2, .v1_3])
  func resumed(version: TLSVersion) throws {
    let fixture = try fixture(version, isRequired: false)
    let context = try TLSContext(client: fixture.trusting)
    for count in 0..<3 {
      let client = try fixture.visited(context).client
      #expect(client.info.isResumed == (count > 0))
      #expect(client.requestedAuthorities?.count == 1)
    }
  }

  @Test(
    "a client reports no request for a certificate if it sent a certificate or the server requested none",
    arguments: [true, false])
  func unreported(hasIdentity: Bool) throws {
    let own = try clients.issue(commonName: "A client", purpose: .client)
    let fixture = try Fixture(clientAuthorityPEM: hasIdentity ? clients.certificatePEM : nil)
    var configuration = fixture.trusting
    if hasIdentity {
      configuration.identity = try TLSIdentity(certificatePEM: own.certificatePEM, privateKeyPEM: own.privateKeyPEM)
    }
    let (client, server) = try fixture.connected(TLSContext(client: configuration))
    #expect(client.requestedAuthorities == nil)
    #expect(server.info.certificateChain.isEmpty != hasIdentity)
  }
}
