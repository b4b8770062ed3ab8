// ReverificationTests: repeated verification of evidence, for other hosts and anchors than in the handshake.

import LupineLoopback
import LupineTLS
import Synchronization
import Testing

@Suite("Verifying a certificate's evidence again")
struct ReverificationTests {
  private let authority: ThrowawayAuthority
  private let stranger: ThrowawayAuthority

  init() throws {
    authority = try ThrowawayAuthority()
    stranger = try ThrowawayAuthority(commonName: "Somebody else")
  }

  /// Returns the evidence that a certificate verifier receives. The client trusts `authority`, and connects to a server with this
  /// identity.
  private func evidence(
    of identity: ThrowawayAuthority.Identity, sending issuers: [UInt8] = [], host: String = "localhost"
  ) throws -> CertificateVerifier.Evidence {
    let seen = Mutex<CertificateVerifier.Evidence?>(nil)
    let verifier = CertificateVerifier { evidence in
      seen.withLock { $0 = evidence }
      return .accept
    }
    let client = try Endpoint(
      client: TLSConfiguration(trustRoots: [.pem(authority.certificatePEM)], verifier: verifier), host: host)
    let server = try TLSContext(
      serverCertificatePEM: identity.certificatePEM + issuers, privateKeyPEM: identity.privateKeyPEM)
    #expect(try shakeHands(client, Endpoint(server: server)).client == nil)
    return try #require(seen.withLock { $0 })
  }

  /// Returns the first certificate that a server with this identity sends, in DER.
  private func der(_ identity: ThrowawayAuthority.Identity) throws -> [UInt8] {
    try #require(try evidence(of: identity).sentChain.first)
  }

  @Test(
    "verifying a certificate again without a host reports the problem after the host mismatch, such as an expired date")
  func worseBehindHost() throws {
    let expired = try evidence(of: authority.issue(names: ["other.example"], validity: .expired))
    #expect(expired.problem?.code == .hostMismatch)
    #expect(expired.verify(host: nil).problem?.code == .certificateExpired)
    #expect(expired.verify(host: "other.example").problem?.code == .certificateExpired)

    let forged = try evidence(of: forge(names: ["other.example"]))
    #expect(forged.problem?.code == .hostMismatch)
    guard case .certificateInvalid = forged.verify(host: nil).problem?.code else {
      Issue.record("\(String(describing: forged.verify(host: nil).problem))")
      return
    }
    #expect(
      try evidence(of: stranger.issue(names: ["other.example"])).verify(host: nil).problem?.code == .unknownAuthority)
  }

  @Test(
    "a certificate chain with a wrong host name is accepted if it is verified again for the right host or without a host"
  )
  func wrongNameOnly() throws {
    let evidence = try evidence(of: authority.issue(names: ["other.example"], addresses: ["192.0.2.1"]))
    #expect(evidence.problem?.code == .hostMismatch)
    #expect(evidence.verify(host: nil).problem == nil)
    #expect(evidence.verify(host: "other.example").problem == nil)
    #expect(evidence.verify(host: "192.0.2.1").problem == nil)
    #expect(evidence.verify(host: "192.0.2.2").problem?.code == .hostMismatch)
    #expect(evidence.verify(host: "localhost").problem == evidence.problem)
    #expect(evidence.verify(host: "").problem?.code == .configuration)
  }

  @Test("the verifier compares an IP address with the certificate only if the caller gives the address as the host")
  func addressAskedFor() throws {
    let evidence = try evidence(of: authority.issue(names: ["localhost"]), host: "127.0.0.1")
    #expect(evidence.problem?.code == .hostMismatch)
    #expect(evidence.verify(host: "localhost").problem == nil)
    #expect(evidence.verify(host: nil).problem == nil)
  }

  @Test("a certificate for TLS clients is refused as a server certificate, even if it is verified again without a host")
  func purpose() throws {
    let client = try evidence(of: authority.issue(names: ["other.example"], purpose: .client))
    #expect(client.problem != nil)
    #expect(client.verify(host: nil).problem != nil)
  }

  @Test("if a certificate is verified again with trust anchors from the caller, these replace the trust roots")
  func anchors() throws {
    let selfSigned = try ThrowawayAuthority.selfSigned(names: ["localhost"])
    let evidence = try evidence(of: selfSigned)
    let own = try #require(evidence.sentChain.first)
    #expect(evidence.problem?.code == .selfSigned)
    #expect(evidence.verify(host: "localhost", anchors: [own]).problem == nil)
    #expect(evidence.verify(host: "localhost", anchors: [own]).chain == [own])
    #expect(evidence.verify(host: "other.example", anchors: [own]).problem?.code == .hostMismatch)
    #expect(evidence.verify(host: nil, anchors: []).problem?.code == .selfSigned)
    #expect(evidence.verify(host: nil, anchors: try [der(authority.identity)]).problem?.code == .selfSigned)

    let good = try self.evidence(of: authority.issue(names: ["localhost"]))
    #expect(good.verify(host: "localhost", anchors: [own]).problem?.code == .unknownAuthority)
    #expect(good.verify(host: "localhost", anchors: try [der(authority.identity)]).problem == nil)
    let bad = good.verify(host: nil, anchors: [[1, 2, 3]])
    #expect(bad.problem?.code == .configuration && bad.chain.isEmpty)
  }

  @Test("an expired certificate is refused even if the caller gives it as a trust anchor")
  func expiredAnchor() throws {
    let evidence = try evidence(of: ThrowawayAuthority.selfSigned(names: ["localhost"], validity: .expired))
    #expect(evidence.verify(host: nil, anchors: evidence.sentChain).problem?.code == .certificateExpired)
  }

  @Test("an intermediate certificate can be given as a trust anchor")
  func intermediateAnchor() throws {
    let intermediate = try authority.issueAuthority()
    let evidence = try evidence(of: intermediate.issue(names: ["localhost"]), sending: intermediate.certificatePEM)
    #expect(evidence.problem == nil)
    #expect(evidence.verification.chain.count == 3)
    let verified = evidence.verify(host: "localhost", anchors: [evidence.builtChain[1]])
    #expect(verified.problem == nil)
    #expect(verified.chain == Array(evidence.builtChain.prefix(2)))
  }

  /// Issues a certificate with the authority's name as issuer, but signed with the stranger's key.
  private func forge(names: [String]) throws -> ThrowawayAuthority.Identity {
    let forger = ThrowawayAuthority(
      signingWith: .init(
        certificatePEM: authority.certificatePEM, privateKeyPEM: stranger.identity.privateKeyPEM))
    return try forger.issue(names: names)
  }

  @Test(
    "verification cuts a certificate chain before the first invalid signature, even if issuer and subject names match")
  func forgedChain() throws {
    let evidence = try evidence(of: forge(names: ["localhost"]), sending: authority.certificatePEM)
    #expect(evidence.builtChain.count == 2)
    #expect(evidence.problem != nil)
    #expect(evidence.verification.chain == [evidence.sentChain[0]])
    #expect(evidence.verify(host: nil).chain == [evidence.sentChain[0]])
    #expect(evidence.verify(host: nil, anchors: [evidence.sentChain[1]]).problem != nil)
  }

  @Test("unrelated certificates that a server sends don't become part of the verified chain")
  func foreignCertificate() throws {
    let evidence = try evidence(of: authority.issue(names: ["localhost"]), sending: stranger.certificatePEM)
    #expect(evidence.sentChain.count == 2)
    #expect(evidence.verification.chain == evidence.builtChain)
    #expect(!evidence.verification.chain.contains(evidence.sentChain[1]))
  }

  @Test("the verifier's evidence can be used after its handshake and context have ended, and by several threads")
  func threads() async throws {
    let evidence = try evidence(of: authority.issue(names: ["localhost"]))
    let problems = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<32 { group.addTask { evidence.verify(host: "localhost").problem == nil } }
      return await group.reduce(into: 0) { $0 += $1 ? 0 : 1 }
    }
    #expect(problems == 0)
  }

  private struct Unwanted: Error, CustomStringConvertible {
    let description = "not today"
  }

  @Test("if a certificate verifier throws, the certificate is refused, and the TLS error contains the thrown error")
  func thrown() throws {
    let identity = try authority.issue(names: ["localhost"])
    let server = try TLSContext(
      serverCertificatePEM: identity.certificatePEM, privateKeyPEM: identity.privateKeyPEM)
    let client = try Endpoint(
      client: TLSConfiguration(
        trustRoots: [.pem(authority.certificatePEM)], verifier: CertificateVerifier { _ in throw Unwanted() }))
    let error = try shakeHands(client, Endpoint(server: server)).client
    #expect(error?.code == .refusedByVerifier)
    #expect(error?.message.contains("localhost: not today") == true)
    #expect(error?.verifierError is Unwanted)
    #expect(error == error.map { TLSError(code: $0.code, message: $0.message) })
  }

  @Test("a certificate's public key can be read only if the certificate is well-formed")
  func publicKeys() throws {
    let own = try der(authority.identity)
    let key = try #require(publicKey(ofCertificate: own))
    // SubjectPublicKeyInfo of a P-256 key (RFC 5480 §2): a sequence of 89 bytes, whose last 65 are the uncompressed
    // point.
    #expect(key.prefix(2) == [0x30, 0x59] && key.count == 91 && key[26] == 4)
    let text = own.map { String($0, radix: 16) }.joined(separator: " ")
    #expect(text.contains(key.map { String($0, radix: 16) }.joined(separator: " ")))
    #expect(publicKey(ofCertificate: own + [0]) == nil)
    #expect(publicKey(ofCertificate: Array(own.dropLast())) == nil)
    #expect(publicKey(ofCertificate: []) == nil)
  }
}
