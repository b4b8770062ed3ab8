// VerifierTests: the application's verifier of certificates, the evidence that it receives, and its decisions.

import LupineTLS
import Synchronization
import Testing

@Suite("Certificate verifier")
struct VerifierTests {
  /// Records the evidence that a certificate verifier has received in each call.
  private final class VerifierRecord: Sendable {
    let evidence = Mutex<[CertificateVerifier.Evidence]>([])
    var last: CertificateVerifier.Evidence? { evidence.withLock { $0.last } }
    var count: Int { evidence.withLock { $0.count } }
  }

  private func verifier(_ seen: VerifierRecord, _ decision: CertificateVerifier.Decision) -> CertificateVerifier {
    CertificateVerifier { evidence in
      seen.evidence.withLock { $0.append(evidence) }
      return decision
    }
  }

  @Test(
    "the certificate verifier receives a valid chain both as sent and as built by OpenSSL",
    arguments: [TLSVersion.v1_2, .v1_3])
  func goodChain(version: TLSVersion) throws {
    let fixture = try Fixture(versions: version...version)
    let seen = VerifierRecord()
    var configuration = fixture.trusting
    configuration.verifier = verifier(seen, .asFound)
    let (client, _) = try fixture.connected(TLSContext(client: configuration))
    let evidence = try #require(seen.last)
    #expect(evidence.host == "localhost")
    #expect(evidence.problem == nil)
    #expect(evidence.sentChain == client.info.certificateChain)
    #expect(evidence.sentChain.count == 1)
    #expect(evidence.builtChain.count == 2)
    #expect(evidence.builtChain.first == evidence.sentChain.first)
    // The last certificate of the chain is the trust root, in DER.
    let root = try #require(evidence.builtChain.last)
    let pinned = TLSConfiguration(trustRoots: [.der(root)])
    _ = try fixture.connected(TLSContext(client: pinned))
  }

  @Test(
    "the certificate verifier receives OpenSSL's error, and can overrule the error",
    arguments: [TLSVersion.v1_2, .v1_3])
  func overruled(version: TLSVersion) throws {
    let fixture = try Fixture(versions: version...version)
    let seen = VerifierRecord()
    var configuration = TLSConfiguration(verifier: verifier(seen, .accept))
    _ = try fixture.connected(TLSContext(client: configuration))
    #expect(seen.last?.problem?.code == .unknownAuthority)

    configuration.verifier = verifier(seen, .asFound)
    let outcome = try shakeHands(Endpoint(client: configuration), Endpoint(server: fixture.server))
    #expect(outcome.client == seen.last?.problem)
    #expect(outcome.client?.code == .unknownAuthority)
  }

  @Test("the certificate verifier receives a host name mismatch as a problem in its evidence")
  func hostMismatch() throws {
    let fixture = try Fixture()
    let seen = VerifierRecord()
    var configuration = fixture.trusting
    configuration.verifier = verifier(seen, .asFound)
    let client = try Endpoint(client: configuration, host: "other.example")
    #expect(try shakeHands(client, Endpoint(server: fixture.server)).client?.code == .hostMismatch)
    #expect(seen.last?.host == "other.example")
    #expect(seen.last?.problem?.code == .hostMismatch)
  }

  @Test(
    "a refusal by the certificate verifier ends the handshake with the verifier's reason, even if the chain is valid",
    arguments: [TLSVersion.v1_2, .v1_3])
  func refused(version: TLSVersion) throws {
    let fixture = try Fixture(versions: version...version)
    for var configuration in [fixture.trusting, TLSConfiguration()] {
      configuration.verifier = verifier(VerifierRecord(), .refuse(reason: "the key isn't pinned"))
      let client = try Endpoint(client: configuration)
      let outcome = try shakeHands(client, Endpoint(server: fixture.server))
      #expect(outcome.client?.code == .refusedByVerifier)
      #expect(outcome.client?.message.contains("localhost: the key isn't pinned") == true)
      guard case .alert = outcome.server?.code else {
        Issue.record("the server received \(String(describing: outcome.server))")
        continue
      }
    }
  }

  @Test(
    "the certificate verifier isn't called for a resumed session, and no session is resumed with another verifier",
    arguments: [TLSVersion.v1_2, .v1_3])
  func resumption(version: TLSVersion) throws {
    let fixture = try Fixture(versions: version...version)
    let contexts = TLSContexts()
    let accepting = VerifierRecord()
    var configuration = fixture.trusting
    configuration.verifier = verifier(accepting, .accept)
    #expect(try !fixture.visited(contexts.context(for: configuration)).client.info.isResumed)
    #expect(try fixture.visited(contexts.context(for: configuration)).client.info.isResumed)
    #expect(accepting.count == 1)

    configuration.verifier = verifier(VerifierRecord(), .refuse(reason: "no"))
    let outcome = try shakeHands(
      Endpoint(client: contexts.context(for: configuration)), Endpoint(server: fixture.server))
    #expect(outcome.client?.code == .refusedByVerifier)
  }

  @Test("a certificate verifier is equal only to itself")
  func equality() {
    let one = CertificateVerifier { _ in .asFound }
    let two = CertificateVerifier { _ in .asFound }
    #expect(one == one)
    #expect(one != two)
    #expect(TLSConfiguration(verifier: one) == TLSConfiguration(verifier: one))
    #expect(TLSConfiguration(verifier: one) != TLSConfiguration(verifier: two))
  }

  @Test(
    "setting a certificate verifier is refused if verification is disabled, because the verifier would never be called")
  func withoutVerification() {
    let error = #expect(throws: TLSError.self) {
      try TLSContext(client: TLSConfiguration(verification: .none, verifier: CertificateVerifier { _ in .accept }))
    }
    #expect(error?.code == .configuration)
  }
}
