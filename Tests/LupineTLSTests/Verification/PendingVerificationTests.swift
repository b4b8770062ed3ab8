// PendingVerificationTests: a handshake that waits for a verifier, which decides outside of it.

import LupineLoopback
import LupineTLS
import Synchronization
import Testing

@Suite("A TLS handshake that waits for its certificate verifier")
struct PendingVerificationTests {
  private let authority: ThrowawayAuthority
  private let identity: ThrowawayAuthority.Identity

  init() throws {
    authority = try ThrowawayAuthority()
    identity = try authority.issue(names: ["localhost"])
  }

  /// Performs a handshake up to the point at which the certificate verifier has to decide. Throws if that point isn't reached.
  private func pair(
    _ version: TLSVersion, staple: [UInt8] = [], clientAuthority: [UInt8]? = nil, piece: Int = .max,
    _ change: (inout TLSConfiguration) -> Void = { _ in }
  ) throws -> (client: Endpoint, server: Endpoint) {
    var configuration = TLSConfiguration(
      trustRoots: [.pem(authority.certificatePEM)], verifier: CertificateVerifier { _ in .asFound })
    change(&configuration)
    let client = try Endpoint(client: configuration)
    let server = try Endpoint(
      server: TLSContext(
        serverCertificatePEM: identity.certificatePEM, privateKeyPEM: identity.privateKeyPEM,
        versions: version...version, clientAuthorityPEM: clientAuthority, stapledResponse: staple))
    _ = try client.handshakeUpToVerdict()
    server.receive(client.output())
    _ = try server.handshake()
    var flight = server.output()[...]
    var step = TLSSession.HandshakeStep.needMoreBytes
    while !flight.isEmpty, step == .needMoreBytes {
      client.receive(flight.prefix(piece))
      flight = flight.dropFirst(piece)
      step = try client.handshakeUpToVerdict()
    }
    client.receive(flight)
    try #require(step == .needsVerdict)
    return (client, server)
  }

  private func verdict(_ decide: @escaping @Sendable () throws -> CertificateVerifier.Decision, _ client: Endpoint)
    throws
    -> Verdict
  {
    var pending = try #require(client.pendingVerification)
    pending = PendingVerification(verifier: CertificateVerifier { _ in try decide() }, evidence: pending.evidence)
    return try #require(pending.verdict)
  }

  @Test(
    "before the certificate verifier's verdict, the client sends nothing to the server, not even a client certificate",
    arguments: [TLSVersion.v1_2, .v1_3])
  func silent(version: TLSVersion) throws {
    let own = try authority.issue(commonName: "A client", purpose: .client)
    for piece in [Int.max, 100, 1] {
      let (client, server) = try pair(version, clientAuthority: authority.certificatePEM, piece: piece) {
        $0.identity = try? TLSIdentity(certificatePEM: own.certificatePEM, privateKeyPEM: own.privateKeyPEM)
      }
      #expect(client.output().isEmpty)
      #expect(try client.handshakeUpToVerdict() == .needsVerdict)
      #expect(client.output().isEmpty)
      client.resolve(try verdict({ .asFound }, client))
      let outcome = try shakeHands(client, server)
      #expect(outcome.client == nil && outcome.server == nil)
      #expect(client.pendingVerification == nil)
      #expect(server.info.certificateChain.count == 1)
    }
  }

  @Test(
    "if the certificate verifier refuses, the client ends the TLS handshake with an alert, and sends nothing else",
    arguments: [TLSVersion.v1_2, .v1_3])
  func refused(version: TLSVersion) throws {
    struct Unwanted: Error {}
    let decisions: [@Sendable () throws -> CertificateVerifier.Decision] = [
      { .refuse(reason: "no") }, { throw Unwanted() },
    ]
    for decide in decisions {
      let (client, server) = try pair(version)
      client.resolve(try verdict(decide, client))
      let error = try #require(throws: TLSError.self) { try client.handshakeUpToVerdict() }
      #expect(error.code == .refusedByVerifier)
      let output = client.output()
      #expect(!output.isEmpty && output.count < 64)
      server.receive(output)
      let seen = #expect(throws: TLSError.self) { try server.handshake() }
      #expect(seen?.code == .alert(40))
    }
  }

  @Test(
    "if the certificate verifier leaves the decision to OpenSSL, the handshake ends with OpenSSL's error",
    arguments: [TLSVersion.v1_2, .v1_3])
  func asFound(version: TLSVersion) throws {
    let other = try ThrowawayAuthority(commonName: "Another CA")
    let untrusted: (inout TLSConfiguration) -> Void = { $0.trustRoots = [.pem(other.certificatePEM)] }
    let (client, _) = try pair(version, untrusted)
    #expect(client.pendingVerification?.evidence.problem?.code == .unknownAuthority)
    client.resolve(try verdict({ .asFound }, client))
    let error = try #require(throws: TLSError.self) { try client.handshakeUpToVerdict() }
    #expect(error.code == .unknownAuthority)

    let (accepting, server) = try pair(version, untrusted)
    accepting.resolve(try verdict({ .accept }, accepting))
    #expect(try shakeHands(accepting, server).client == nil)
  }

  @Test(
    "the verifier's evidence contains the stapled OCSP response if one was requested for the verifier",
    arguments: [TLSVersion.v1_2, .v1_3])
  func staple(version: TLSVersion) throws {
    let response = try authority.ocspResponse(for: identity)
    let (client, _) = try pair(version, staple: response) { $0.requestsStapleForVerifier = true }
    #expect(client.pendingVerification?.evidence.stapledResponse == response)
    let (other, _) = try pair(version, staple: response)
    #expect(try #require(other.pendingVerification).evidence.stapledResponse == nil)
  }

  @Test(
    "a bad stapled OCSP response that was requested only for the verifier doesn't end the handshake",
    arguments: [TLSVersion.v1_2, .v1_3])
  func badStaple(version: TLSVersion) throws {
    let (client, server) = try pair(version, staple: [1, 2, 3]) { $0.requestsStapleForVerifier = true }
    #expect(client.pendingVerification?.evidence.stapledResponse == [1, 2, 3])
    client.resolve(try verdict({ .accept }, client))
    #expect(try shakeHands(client, server).client == nil)
  }

  @Test(
    "a certificate verifier's consultation isn't called for a refused certificate, and only its first answer counts")
  func consulted() throws {
    typealias Answer = @Sendable (Result<CertificateVerifier.Decision, any Error>) -> Void
    let (client, server) = try pair(.v1_3)
    let evidence = try #require(client.pendingVerification?.evidence)
    #expect(evidence.host == "localhost" && evidence.port == 443 && !evidence.isProxy)
    let answers = Mutex<[Answer]>([])
    let verdicts = Mutex<[Verdict]>([])
    func decide(after own: CertificateVerifier.Decision) {
      let verifier = CertificateVerifier(
        isQuick: { _ in false },
        consultation: { _, found, answer in
          #expect(found == own)
          answers.withLock { $0.append(answer) }
        }
      ) { _ in own }
      PendingVerification(verifier: verifier, evidence: evidence).decide { verdict in
        verdicts.withLock { $0.append(verdict) }
      }
    }
    decide(after: .refuse(reason: "no"))
    #expect(answers.withLock { $0.isEmpty } && verdicts.withLock { $0.count } == 1)
    decide(after: .asFound)
    let answer = try #require(answers.withLock { $0.first })
    #expect(verdicts.withLock { $0.count } == 1)
    answer(.success(.refuse(reason: "the first answer")))
    answer(.success(.accept))
    client.resolve(try #require(verdicts.withLock { $0.count == 2 ? $0.last : nil }))
    let outcome = try shakeHands(client, server)
    #expect(outcome.client?.message.contains("the first answer") == true)
  }

  @Test(
    "a certificate verifier whose isQuick returns true for the host is called synchronously during the TLS handshake",
    arguments: [TLSVersion.v1_2, .v1_3])
  func quick(version: TLSVersion) throws {
    let fixture = try Fixture(versions: version...version)
    var configuration = fixture.trusting
    configuration.verifier = CertificateVerifier(isQuick: { $0 == "localhost" }) { _ in .refuse(reason: "seen") }
    let outcome = try shakeHands(Endpoint(client: configuration), Endpoint(server: fixture.server))
    #expect(outcome.client?.message.contains("seen") == true)
  }

  @Test(
    "a server that the certificate verifier refuses can't request a client certificate",
    arguments: [TLSVersion.v1_2, .v1_3])
  func identityRequestOfStranger(version: TLSVersion) throws {
    let (client, _) = try pair(version, clientAuthority: authority.certificatePEM)
    client.resolve(try verdict({ .refuse(reason: "no") }, client))
    let error = try #require(throws: TLSError.self) { try client.handshakeUpToVerdict() }
    #expect(error.code == .refusedByVerifier && error.requestedAuthorities == nil)
    #expect(client.requestedAuthorities == nil)
  }

  @Test(
    "an alert before the verifier's verdict ends the handshake without a reply or a request for a client certificate")
  func earlyAlert() throws {
    let own = try authority.issue(commonName: "A client", purpose: .client)
    let client = try TLSIdentity(certificatePEM: own.certificatePEM, privateKeyPEM: own.privateKeyPEM)
    for presented in [nil, client] {
      let server = try Endpoint(
        server: TLSContext(
          serverCertificatePEM: identity.certificatePEM, privateKeyPEM: identity.privateKeyPEM,
          versions: .v1_2 ... .v1_2, clientAuthorityPEM: authority.certificatePEM))
      let client = try Endpoint(
        client: TLSConfiguration(
          trustRoots: [.pem(authority.certificatePEM)], identity: presented,
          verifier: CertificateVerifier { _ in .asFound }))
      _ = try client.handshakeUpToVerdict()
      server.receive(client.output())
      _ = try server.handshake()
      // The last bytes are a fatal alert handshake_failure.
      client.receive(server.output() + [21, 3, 3, 0, 2, 2, 40])
      let error = try #require(throws: TLSError.self) { try client.handshakeUpToVerdict() }
      #expect(error.code == .alert(40) && error.requestedAuthorities == nil)
      #expect(client.output().isEmpty)
    }
  }

  @Test(
    "a session that is closed before the verifier's verdict sends nothing, not even if the verdict arrives later",
    arguments: [TLSVersion.v1_2, .v1_3])
  func closedBeforeVerdict(version: TLSVersion) throws {
    let own = try authority.issue(commonName: "A client", purpose: .client)
    let (client, _) = try pair(version, clientAuthority: authority.certificatePEM) {
      $0.identity = try? TLSIdentity(certificatePEM: own.certificatePEM, privateKeyPEM: own.privateKeyPEM)
    }
    let verdict = try verdict({ .asFound }, client)
    client.close()
    #expect(client.output().isEmpty)
    client.resolve(verdict)
    let error = try #require(throws: TLSError.self) { try client.handshakeUpToVerdict() }
    #expect(error.code == .closed)
    #expect(client.output().isEmpty)
  }
}
