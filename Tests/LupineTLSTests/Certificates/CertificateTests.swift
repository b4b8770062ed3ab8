// CertificateTests: verification of server certificates, and the error for each refused certificate.

import LupineLoopback
import LupineTLS
import Testing

@Suite("Verification of a server's certificate")
struct CertificateTests {
  private let authority: ThrowawayAuthority

  init() throws {
    authority = try ThrowawayAuthority(commonName: "The Tests' CA")
  }

  private var trusting: TLSConfiguration { TLSConfiguration(trustRoots: [.pem(authority.certificatePEM)]) }

  private func refusal(
    of identity: ThrowawayAuthority.Identity, host: String = "localhost", _ configuration: TLSConfiguration? = nil
  ) throws -> TLSError? {
    let client = try Endpoint(client: configuration ?? trusting, host: host)
    let server = try Endpoint(server: context(identity))
    let outcome = try shakeHands(client, server)
    guard let error = outcome.client else { return nil }
    // The failure is permanent, and the server receives a TLS alert.
    #expect(throws: error) { try client.handshake() }
    #expect(throws: error) { try client.read() }
    #expect(throws: error) { try client.write([1]) }
    return error
  }

  private func context(_ identity: ThrowawayAuthority.Identity) throws -> TLSContext {
    try TLSContext(serverCertificatePEM: identity.certificatePEM, privateKeyPEM: identity.privateKeyPEM)
  }

  @Test(
    "the client accepts each name in a certificate as the host",
    arguments: [
      ("localhost", "localhost"), ("localhost", "LOCALHOST"), ("localhost", "localhost."),
      ("*.example.com", "www.example.com"),
    ])
  func acceptedNames(certified: String, host: String) throws {
    #expect(try refusal(of: authority.issue(names: [certified]), host: host) == nil)
  }

  @Test(
    "the client accepts an IP address in a certificate in each of the address's spellings",
    arguments: ["127.0.0.1", "::1", "[::1]", "0:0::1", "::1%lo"])
  func acceptedAddresses(host: String) throws {
    #expect(try refusal(of: authority.issue(addresses: ["127.0.0.1", "::1"]), host: host) == nil)
  }

  @Test(
    "a host that isn't in the server's certificate causes a mismatch error",
    arguments: [
      ("other.example", "localhost"), ("example.com", "www.example.com"), ("*.example.com", "example.com"),
      ("*.example.com", "a.b.example.com"), ("w*.example.com", "www.example.com"), ("127.0.0.1", "127.0.0.1"),
      ("xn--*.example.com", "xn--bcher-kva.example.com"), ("*.0.0.1", "127.0.0.1"), ("*.com", "example.com"),
    ])
  func mismatchedNames(certified: String, host: String) throws {
    let error = try #require(try refusal(of: authority.issue(names: [certified]), host: host))
    #expect(error.code == .hostMismatch)
    #expect(error.message.contains(host))
    #expect(error.message.contains(certified))
  }

  @Test("if an IP address isn't in the certificate, the error lists the certificate's names")
  func mismatchedAddress() throws {
    let error = try #require(
      try refusal(of: authority.issue(names: ["localhost"], addresses: ["127.0.0.1", "::1"]), host: "127.0.0.2"))
    #expect(error.code == .hostMismatch)
    #expect(error.message.contains("localhost, 127.0.0.1, ::1"))
  }

  @Test("if a mismatched certificate has many names, the error lists the first eight")
  func manyNames() throws {
    let names = (0..<300).map { "host\($0).example" }
    let error = try #require(try refusal(of: authority.issue(names: names)))
    #expect(error.code == .hostMismatch)
    #expect(error.message.contains("host7.example, …"))
    #expect(!error.message.contains("host8.example"))
  }

  @Test(
    "the client doesn't compare the host with the common name, even if there is no subject alternative name",
    arguments: ["localhost", "127.0.0.1"])
  func commonNameOnly(host: String) throws {
    let error = try #require(try refusal(of: authority.issue(commonName: host), host: host))
    #expect(error.code == .hostMismatch)
    #expect(error.message.contains("subject alternative name"))
    #expect(error.message.contains("CN=\(host)"))
  }

  @Test("the error for an expired certificate contains the last day of its validity")
  func expired() throws {
    let error = try #require(try refusal(of: authority.issue(names: ["localhost"], validity: .expired)))
    #expect(error.code == .certificateExpired)
    #expect(error.message.contains("localhost"))
    #expect(error.message.contains(/expired on 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC/))
  }

  @Test("the error for a certificate that isn't valid yet contains the first day of its validity")
  func notYetValid() throws {
    let error = try #require(try refusal(of: authority.issue(names: ["localhost"], validity: .notYetValid)))
    #expect(error.code == .certificateNotYetValid)
    #expect(error.message.contains(/before 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC/))
  }

  @Test("the client refuses a self-signed certificate, and the error contains the issuer's name")
  func selfSigned() throws {
    let identity = try ThrowawayAuthority.selfSigned(commonName: "Lonely", names: ["localhost"])
    let error = try #require(try refusal(of: identity))
    #expect(error.code == .selfSigned)
    #expect(error.message.contains("CN=Lonely"))
    #expect(error.message.contains("trustRoots"))
  }

  @Test("the client accepts a self-signed certificate that is a trust root")
  func selfSignedAndTrusted() throws {
    let identity = try ThrowawayAuthority.selfSigned(names: ["localhost"])
    let configuration = TLSConfiguration(trustRoots: [.pem(identity.certificatePEM)])
    #expect(try refusal(of: identity, configuration) == nil)
  }

  @Test("the client accepts a server's certificate that is itself a trust root, even without its issuer")
  func pinnedLeaf() throws {
    let identity = try authority.issue(names: ["localhost"])
    #expect(try refusal(of: identity, TLSConfiguration(trustRoots: [.pem(identity.certificatePEM)])) == nil)
  }

  @Test(
    "the error for an unknown authority contains the authority's name, even if the server sends the authority's certificate",
    arguments: [false, true])
  func unknownAuthority(isSent: Bool) throws {
    let stranger = try ThrowawayAuthority(commonName: "A Stranger")
    let leaf = try stranger.issue(names: ["localhost"])
    let chain = leaf.certificatePEM + (isSent ? stranger.certificatePEM : [])
    let server = try TLSContext(serverCertificatePEM: chain, privateKeyPEM: leaf.privateKeyPEM)
    let outcome = try shakeHands(Endpoint(client: trusting), Endpoint(server: server))
    let error = try #require(outcome.client)
    #expect(error.code == .unknownAuthority)
    #expect(error.message.contains("CN=A Stranger"))
    #expect(error.message.contains("trustRoots"))
  }

  @Test("the client refuses a test authority's certificate if only the system's trust roots are trusted")
  func systemRoots() throws {
    let error = try #require(try refusal(of: authority.issue(names: ["localhost"]), TLSConfiguration()))
    #expect(error.code == .unknownAuthority)
  }

  @Test("the client refuses an unknown authority even if a trusted authority has the same name")
  func authorityOfTheSameName() throws {
    let impostor = try ThrowawayAuthority(commonName: "The Tests' CA")
    let error = try #require(try refusal(of: impostor.issue(names: ["localhost"])))
    #expect(error.code == .unknownAuthority)
  }

  @Test(
    "the client refuses a certificate that was signed by a certificate that isn't an authority's")
  func serverAsAuthority() throws {
    let server = try authority.issue(names: ["evil.example"])
    let fake = try ThrowawayAuthority(signingWith: server).issue(names: ["localhost"])
    let chain = ThrowawayAuthority.Identity(
      certificatePEM: fake.certificatePEM + server.certificatePEM, privateKeyPEM: fake.privateKeyPEM)
    let error = try #require(try refusal(of: chain))
    // OpenSSL's error X509_V_ERR_INVALID_CA has the number 79.
    #expect(error.code == .certificateInvalid(verifyCode: 79))
    #expect(error.message.contains("localhost"))
  }

  @Test("the client refuses a certificate whose signature is wrong")
  func wrongSignature() throws {
    let foreignKey = try authority.issue(names: ["localhost"]).privateKeyPEM
    // The forged certificate has the trusted authority's name and identifiers, but a different key signed it.
    let forged = try ThrowawayAuthority(
      signingWith: .init(
        certificatePEM: authority.certificatePEM, privateKeyPEM: foreignKey)
    ).issue(names: ["localhost"])
    let error = try #require(try refusal(of: forged))
    // OpenSSL's error X509_V_ERR_CERT_SIGNATURE_FAILURE has the number 7.
    #expect(error.code == .certificateInvalid(verifyCode: 7))
  }

  @Test("if the client refuses the server's certificate, the server receives an alert")
  func serverIsTold() throws {
    let stranger = try ThrowawayAuthority()
    let client = try Endpoint(client: trusting)
    let server = try Endpoint(server: context(stranger.issue(names: ["localhost"])))
    let outcome = try shakeHands(client, server)
    #expect(outcome.client?.code == .unknownAuthority)
    #expect(outcome.server?.code == .alert(48))
  }

  @Test("if certificate verification is off, the client accepts every certificate")
  func noVerification() throws {
    let configuration = TLSConfiguration(verification: .none)
    for identity in [
      try authority.issue(names: ["localhost"], validity: .expired),
      try authority.issue(names: ["other.example"]),
      try ThrowawayAuthority.selfSigned(),
    ] {
      #expect(try refusal(of: identity, configuration) == nil)
    }
  }
}
