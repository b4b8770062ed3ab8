// VerifiedChainsTests: chains that were verified recently, and the conditions under which they aren't verified again.

import Foundation
import LupineLoopback
import LupineTestSupport
import Testing

@testable import LupineTLS

@Suite("Verified chains")
struct VerifiedChainsTests {
  private let authority: ThrowawayAuthority
  private let identity: ThrowawayAuthority.Identity

  init() throws {
    authority = try ThrowawayAuthority()
    identity = try authority.issue(names: ["localhost", "other.example"])
  }

  /// Returns a context of a client that trusts `authority`. It resumes no sessions, so each handshake is a full one.
  private func context(_ change: (inout TLSConfiguration) -> Void = { _ in }) throws -> TLSContext {
    var configuration = TLSConfiguration(trustRoots: [.pem(authority.certificatePEM)])
    configuration.resumesSessions = false
    change(&configuration)
    return try TLSContext(client: configuration)
  }

  private func server(
    _ identity: ThrowawayAuthority.Identity, sending issuers: [UInt8] = [], version: TLSVersion = .v1_3,
    staple: [UInt8] = []
  ) throws -> TLSContext {
    try TLSContext(
      serverCertificatePEM: identity.certificatePEM + issuers, privateKeyPEM: identity.privateKeyPEM,
      versions: version...version, stapledResponse: staple)
  }

  /// Performs a handshake with `host`, and returns the error with which it fails at the client, or nil if it succeeds.
  private func error(
    _ context: TLSContext, _ server: TLSContext, host: String = "localhost"
  ) throws -> TLSError? {
    let client = try Endpoint(client: context, host: host)
    let error = try shakeHands(client, Endpoint(server: server)).client
    #expect(!client.info.isResumed)
    return error
  }

  private func chains(of context: TLSContext) throws -> VerifiedChains { try #require(context.client).verifiedChains }

  /// Returns the chain that the context would use now for a server that sends these certificates.
  private func known(
    _ sent: [Certificate], in context: TLSContext, host: String = "localhost"
  ) throws -> [Certificate]? {
    try chains(of: context).chain(of: sent.map(\.der), from: host, now: time(nil))
  }

  private func certificate(_ identity: ThrowawayAuthority.Identity) throws -> Certificate {
    var found: Certificate?
    _ = try PEM.forEachCertificate(in: identity.certificatePEM) { pointer throws(TLSError) in
      found = Certificate(retaining: pointer)
    }
    return try #require(found)
  }

  @Test("a chain is found again for a minute, under the same name, if the server sends exactly the same certificates")
  func found() throws {
    let (leaf, root) = (try certificate(identity), try certificate(authority.identity))
    let other = try certificate(authority.issue(names: ["localhost"]))
    let chains = VerifiedChains()
    let seconds = try #require(leaf.expiry) - 1_000
    chains.keep([leaf, root], builtFrom: [leaf.der], from: "localhost", now: seconds)
    #expect(chains.chain(of: [leaf.der], from: "localhost", now: seconds) == [leaf, root])
    #expect(chains.chain(of: [leaf.der], from: "localhost", now: seconds + 59) == [leaf, root])
    #expect(chains.chain(of: [leaf.der], from: "localhost", now: seconds + 60) == nil)
    #expect(chains.chain(of: [leaf.der], from: "localhost", now: seconds - 1) == nil, "the clock was set back")
    #expect(chains.chain(of: [leaf.der], from: "other.example", now: seconds) == nil)
    #expect(chains.chain(of: [other.der], from: "localhost", now: seconds) == nil)
    #expect(chains.chain(of: [leaf.der, root.der], from: "localhost", now: seconds) == nil)
    #expect(chains.chain(of: [], from: "localhost", now: seconds) == nil)
    chains.keep([other, root], builtFrom: [other.der], from: "localhost", now: seconds)
    #expect(chains.chain(of: [leaf.der], from: "localhost", now: seconds) == nil, "another chain has replaced it")
    chains.keep([leaf], builtFrom: [[]], from: "empty.example", now: seconds)
    #expect(chains.chain(of: [[]], from: "empty.example", now: seconds) == nil)
  }

  @Test("a chain isn't found after one of its certificates has expired")
  func expiry() throws {
    // The root expires days later, so its date doesn't depend on the second in which the test runs.
    let leaf = try certificate(authority.issue(names: ["localhost"], validity: .endingInAnHour))
    let root = try certificate(authority.identity)
    let end = try #require(leaf.expiry)
    for chain in [[leaf, root], [root, leaf]] {
      let chains = VerifiedChains()
      chains.keep(chain, builtFrom: [leaf.der], from: "localhost", now: end - 10)
      #expect(chains.chain(of: [leaf.der], from: "localhost", now: end - 1) == chain)
      #expect(chains.chain(of: [leaf.der], from: "localhost", now: end) == nil)
      chains.keep(chain, builtFrom: [leaf.der], from: "late.example", now: end)
      #expect(chains.chain(of: [leaf.der], from: "late.example", now: end) == nil)
    }
  }

  @Test("the chains of at most 64 servers are stored, and outdated ones are removed first")
  func limit() throws {
    let leaf = try certificate(identity)
    let chains = VerifiedChains()
    let seconds = try #require(leaf.expiry) - 1_000
    func count(at now: Int) -> Int {
      (0..<200).count { chains.chain(of: [leaf.der], from: "host\($0)", now: now) != nil }
    }
    for number in 0..<40 { chains.keep([leaf], builtFrom: [leaf.der], from: "host\(number)", now: seconds) }
    for number in 40..<100 { chains.keep([leaf], builtFrom: [leaf.der], from: "host\(number)", now: seconds + 60) }
    #expect(count(at: seconds + 60) == 60)
    for number in 100..<200 { chains.keep([leaf], builtFrom: [leaf.der], from: "host\(number)", now: seconds + 61) }
    #expect(count(at: seconds + 61) == 64)
    #expect(chains.chain(of: [leaf.der], from: "host199", now: seconds + 61) != nil)
  }

  @Test(
    "after a handshake, the context knows the server's chain, and the next full handshake succeeds",
    arguments: [TLSVersion.v1_2, .v1_3])
  func kept(version: TLSVersion) throws {
    let (context, server) = (try context(), try server(identity, version: version))
    let (leaf, root) = (try certificate(identity), try certificate(authority.identity))
    #expect(try error(context, server) == nil)
    #expect(try known([leaf], in: context) == [leaf, root])
    let client = try Endpoint(client: context)
    #expect(try shakeHands(client, Endpoint(server: server)).client == nil)
    #expect(!client.info.isResumed && client.info.certificateChain == [leaf.der])
    #expect(try error(context, server, host: "other.example") == nil)
    #expect(try error(context, server, host: "third.example")?.code == .hostMismatch)
    #expect(try error(context, server, host: "127.0.0.1")?.code == .hostMismatch)
  }

  @Test(
    "a chain is used only under its name, and only if the server sends the same certificates",
    arguments: [TLSVersion.v1_2, .v1_3])
  func used(version: TLSVersion) throws {
    // OpenSSL would refuse this chain, so a handshake that succeeds didn't verify it.
    let stranger = try ThrowawayAuthority.selfSigned(names: ["localhost", "other.example"])
    let (leaf, server) = (try certificate(stranger), try server(stranger, version: version))
    let context = try context()
    #expect(try error(context, server)?.code == .selfSigned)
    try chains(of: context).keep([leaf], builtFrom: [leaf.der], from: "localhost", now: time(nil))
    #expect(try error(context, server) == nil)
    #expect(try error(context, server, host: "other.example")?.code == .selfSigned)
    #expect(try error(self.context(), server)?.code == .selfSigned)
    let other = try self.server(ThrowawayAuthority.selfSigned(names: ["localhost"]), version: version)
    #expect(try error(context, other)?.code == .selfSigned)
    try chains(of: context).keep([leaf], builtFrom: [leaf.der], from: "localhost", now: time(nil) - 61)
    #expect(try error(context, server)?.code == .selfSigned)
  }

  @Test("a chain that OpenSSL refuses isn't stored, so the next handshake fails too")
  func refused() throws {
    let refused = [
      (try authority.issue(names: ["localhost"], validity: .notYetValid), TLSError.Code.certificateNotYetValid),
      (try authority.issue(names: ["third.example"]), .hostMismatch),
      (try ThrowawayAuthority(commonName: "Somebody else").issue(names: ["localhost"]), .unknownAuthority),
    ]
    for (identity, code) in refused {
      let (context, server, leaf) = (try context(), try server(identity), try certificate(identity))
      for _ in 0..<2 {
        #expect(try error(context, server)?.code == code)
        #expect(try known([leaf], in: context) == nil)
      }
    }
  }

  @Test(
    "with a required OCSP response, each full handshake checks it, even if the chain is known",
    arguments: [TLSVersion.v1_2, .v1_3])
  func staple(version: TLSVersion) throws {
    let intermediate = try authority.issueAuthority()
    let identity = try intermediate.issue(names: ["localhost"])
    let sent = [try certificate(identity), try certificate(intermediate.identity)]
    let root = try certificate(authority.identity)
    let context = try context { $0.ocspStapling = .required }
    func error(_ staple: [UInt8]) throws -> TLSError? {
      try self.error(
        context, server(identity, sending: intermediate.certificatePEM, version: version, staple: staple))
    }
    for _ in 0..<2 {
      #expect(try error(intermediate.ocspResponse(for: identity)) == nil)
      #expect(try known(sent, in: context) == sent + [root])
    }
    #expect(try error([])?.code == .ocsp(.missing))
    #expect(try error(intermediate.ocspResponse(for: identity, .revoked))?.code == .ocsp(.revoked))
  }

  @Test("even if its chain is known, a server must prove that it has the private key")
  func proof() throws {
    let (context, server) = (try context(), try server(identity, version: .v1_2))
    #expect(try error(context, server) == nil)
    let (client, served) = (try Endpoint(client: context), try Endpoint(server: server))
    _ = try client.handshake()
    served.receive(client.output())
    _ = try served.handshake()
    var flight = served.output()
    let end = try #require(Self.endOfKeyExchange(in: flight))
    // The last byte of the message is that of the signature with the certificate's key.
    flight[end - 1] ^= 1
    client.receive(flight)
    let error = try #require(throws: TLSError.self) { _ = try client.handshake() }
    #expect(error.message.contains("signature"), "\(error)")
  }

  /// Returns the index after the message ServerKeyExchange in the records of a TLS 1.2 server's first flight, each of which has one
  /// message. Returns nil if there is none.
  private static func endOfKeyExchange(in flight: [UInt8]) -> Int? {
    var start = 0
    while start + 5 < flight.count {
      let end = start + 5 + Int(flight[start + 3]) << 8 + Int(flight[start + 4])
      if flight[start] == 22, flight[start + 5] == 12, end <= flight.count { return end }
      start = end
    }
    return nil
  }

  @Test("a context with a verifier or with revocation lists verifies each chain")
  func withoutMemory() throws {
    let leaf = try certificate(identity)
    let verifying = try context { $0.verifier = CertificateVerifier { _ in .asFound } }
    #expect(try error(verifying, server(identity)) == nil)
    #expect(try known([leaf], in: verifying) == nil)

    let list = Data(try authority.revocationList()).base64EncodedString(options: .lineLength64Characters)
    let file = try TemporaryFile(Array("-----BEGIN X509 CRL-----\n\(list)\n-----END X509 CRL-----\n".utf8))
    let listing = try context { $0.revocationListFile = file.path }
    #expect(try error(listing, server(identity)) == nil)
    #expect(try known([leaf], in: listing) == nil)
    withExtendedLifetime(file) {}
  }
}
