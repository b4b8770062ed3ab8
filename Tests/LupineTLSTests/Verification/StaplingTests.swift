// StaplingTests: verification of stapled OCSP responses, and the error for each refused response.

import LupineLoopback
import LupineTLS
import LupineTestSupport
import Testing

@Suite("OCSP stapling")
struct StaplingTests {
  private let authority: ThrowawayAuthority
  private let identity: ThrowawayAuthority.Identity

  init() throws {
    authority = try ThrowawayAuthority()
    identity = try authority.issue(names: ["localhost"])
  }

  /// Connects a client to a server that staples this OCSP response, and returns the results of both ends.
  private func visit(
    _ staple: [UInt8], _ mode: TLSConfiguration.OCSPStapling, version: TLSVersion = .v1_3,
    identity: ThrowawayAuthority.Identity? = nil, trusting roots: [TLSConfiguration.TrustSource]? = nil
  ) throws -> (error: TLSError?, info: TLSInfo, server: TLSError?) {
    let identity = identity ?? self.identity
    let server = try Endpoint(
      server: TLSContext(
        serverCertificatePEM: identity.certificatePEM, privateKeyPEM: identity.privateKeyPEM,
        versions: version...version, stapledResponse: staple))
    let configuration = TLSConfiguration(
      trustRoots: roots ?? [.pem(authority.certificatePEM)], ocspStapling: mode)
    let client = try Endpoint(client: configuration)
    let outcome = try shakeHands(client, server)
    return (outcome.client, client.info, outcome.server)
  }

  @Test(
    "the client accepts a stapled OCSP response with the status good", arguments: [TLSVersion.v1_2, .v1_3],
    [TLSConfiguration.OCSPStapling.checked, .required])
  func good(version: TLSVersion, mode: TLSConfiguration.OCSPStapling) throws {
    for hashIsSHA256 in [false, true] {
      let staple = try authority.ocspResponse(for: identity, hashIsSHA256: hashIsSHA256)
      let seen = try visit(staple, mode, version: version)
      #expect(seen.error == nil)
      #expect(seen.info.stapledOCSP == .good)
    }
  }

  @Test(
    "the client accepts a server without a stapled OCSP response unless one is required",
    arguments: [TLSVersion.v1_2, .v1_3])
  func missing(version: TLSVersion) throws {
    #expect(try visit([], .ignored, version: version).info.stapledOCSP == .notAsked)
    #expect(try visit([], .checked, version: version).info.stapledOCSP == .absent)
    let refused = try visit([], .required, version: version)
    #expect(refused.error?.code == .ocsp(.missing))
    #expect(refused.error?.message.contains("localhost") == true)
    // The server receives the alert bad_certificate_status_response (RFC 6066 §8).
    #expect(refused.server?.code == .alert(113))
  }

  @Test("the client refuses a must-staple certificate without a stapled OCSP response, unless stapling is ignored")
  func mustStaple() throws {
    let strict = try authority.issue(names: ["localhost"], mustStaple: true)
    let refused = try visit([], .checked, identity: strict)
    #expect(refused.error?.code == .ocsp(.missing))
    #expect(refused.error?.message.contains("RFC 7633") == true)
    #expect(try visit([], .ignored, identity: strict).error == nil)
    #expect(try visit(authority.ocspResponse(for: strict), .checked, identity: strict).error == nil)
  }

  @Test(
    "the client refuses a stapled OCSP response with a status other than good, and the error contains the status",
    arguments: [(.revoked, .revoked), (.unknown, .unknownCertificate)]
      as [(ThrowawayAuthority.OCSPStatus, TLSError.OCSPProblem)],
    [TLSVersion.v1_2, .v1_3])
  func bad(answer: (status: ThrowawayAuthority.OCSPStatus, problem: TLSError.OCSPProblem), version: TLSVersion) throws {
    let staple = try authority.ocspResponse(for: identity, answer.status)
    let seen = try visit(staple, .checked, version: version)
    #expect(seen.error?.code == .ocsp(answer.problem))
    #expect(seen.server?.code == .alert(113))
    #expect(try visit(staple, .ignored, version: version).error == nil)
  }

  @Test(
    "the client checks the validity of a stapled OCSP response, with five minutes of tolerance for clock differences",
    arguments: [
      (-3600, -400, .expired), (-3600, -200, nil), (200, 3600, nil), (400, 3600, .notYetValid),
      (-9 * 86400, nil, nil), (-11 * 86400, nil, .expired), (-60, -120, .malformed),
    ] as [(Int, Int?, TLSError.OCSPProblem?)])
  func times(thisUpdate: Int, nextUpdate: Int?, problem: TLSError.OCSPProblem?) throws {
    let staple = try authority.ocspResponse(for: identity, thisUpdate: thisUpdate, nextUpdate: nextUpdate)
    let error = try visit(staple, .checked).error
    #expect(error?.code == problem.map { .ocsp($0) })
    if let error { #expect(error.message.contains("thisUpdate 20")) }
  }

  @Test("the client refuses a stapled OCSP response for another certificate")
  func otherCertificate() throws {
    let other = try authority.issue(names: ["localhost"])
    #expect(try visit(authority.ocspResponse(for: other), .checked).error?.code == .ocsp(.otherCertificate))
  }

  @Test("a separate OCSP responder may sign responses only if the certificate's issuer has certified the responder")
  func signers() throws {
    let delegate = try authority.issue(commonName: "A responder", purpose: .ocspResponder)
    let delegated = try authority.ocspResponse(for: identity, responder: delegate)
    // The server's chain doesn't contain the responder's certificate, but the OCSP response does.
    let seen = try visit(delegated, .required)
    #expect(seen.error == nil, "\(seen.error?.message ?? "")")

    let foreign = try ThrowawayAuthority()
    let otherServer = try authority.issue(commonName: "Another server", names: ["localhost"])
    let foreignDelegate = try foreign.issue(commonName: "A foreign responder", purpose: .ocspResponder)
    let expired = try authority.issue(
      commonName: "An old responder", validity: .expired, purpose: .ocspResponder)
    for responder in [foreign.identity, otherServer, foreignDelegate, expired, identity] {
      let staple = try authority.ocspResponse(for: identity, responder: responder)
      #expect(try visit(staple, .checked).error?.code == .ocsp(.untrusted))
    }
  }

  @Test("the client refuses an OCSP response that another trusted authority signed instead of the certificate's issuer")
  func otherTrustedAuthority() throws {
    let other = try ThrowawayAuthority()
    let staple = try authority.ocspResponse(for: identity, responder: other.identity)
    let roots: [TLSConfiguration.TrustSource] = [.pem(authority.certificatePEM), .pem(other.certificatePEM)]
    #expect(try visit(staple, .checked, trusting: roots).error?.code == .ocsp(.untrusted))
  }

  @Test("OCSP responses for the certificates of an intermediate authority must be signed by that authority")
  func intermediate() throws {
    let intermediate = try authority.issueAuthority()
    let leaf = try intermediate.issue(names: ["localhost"])
    let chain = ThrowawayAuthority.Identity(
      certificatePEM: leaf.certificatePEM + intermediate.certificatePEM, privateKeyPEM: leaf.privateKeyPEM)
    #expect(try visit(intermediate.ocspResponse(for: leaf), .required, identity: chain).error == nil)
    let byRoot = try intermediate.ocspResponse(for: leaf, responder: authority.identity)
    #expect(try visit(byRoot, .required, identity: chain).error?.code == .ocsp(.untrusted))
    // The intermediate authority's certificate is sufficient as the only trust root.
    #expect(
      try visit(
        intermediate.ocspResponse(for: leaf), .required, identity: chain, trusting: [.pem(intermediate.certificatePEM)]
      ).error == nil)
  }

  @Test("if only the server's certificate is trusted, and not its issuer, a stapled OCSP response is untrusted")
  func pinned() throws {
    let seen = try visit(
      authority.ocspResponse(for: identity), .checked, trusting: [.pem(identity.certificatePEM)])
    #expect(seen.error?.code == .ocsp(.untrusted))
    #expect(try visit([], .checked, trusting: [.pem(identity.certificatePEM)]).error == nil)
  }

  @Test("if an OCSP responder refused a request, the error contains the responder's status")
  func refusal() throws {
    let seen = try visit(ThrowawayAuthority.ocspRefusal(status: 3), .checked)
    #expect(seen.error?.code == .ocsp(.refused(status: 3)))
    #expect(seen.error?.message.contains("trylater") == true)
  }

  @Test("a stapled OCSP response that is truncated, altered or followed by other bytes is never considered good")
  func damaged() throws {
    let staple = try authority.ocspResponse(for: identity)
    var generator = SplitMix64(seed: 7)
    for count in stride(from: 1, to: staple.count, by: 3 * testsDivisor) {
      #expect(try visit(Array(staple.prefix(count)), .checked).error?.code == .ocsp(.malformed))
    }
    for _ in 0..<repetitions(of: 200) {
      var changed = staple
      changed[Int.random(in: 0..<staple.count, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      let seen = try visit(changed, .checked)
      guard case .ocsp = seen.error?.code else {
        // The signature isn't computed over the certificates in the OCSP response, and this signer doesn't need them.
        #expect(seen.error == nil)
        #expect(isOutsideSignature(changed, staple))
        continue
      }
    }
    #expect(try visit(staple + [0], .checked).error?.code == .ocsp(.malformed))
  }

  /// Returns whether the first difference is in the certificates at the end of the OCSP response, after tbsResponseData and the
  /// signature.
  private func isOutsideSignature(_ changed: [UInt8], _ original: [UInt8]) -> Bool {
    let first = zip(changed, original).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? 0
    return first > original.count / 3
  }

  @Test(
    "a resumed TLS session reports that the server's certificate was checked in an earlier session",
    arguments: [TLSVersion.v1_2, .v1_3])
  func resumed(version: TLSVersion) throws {
    let server = try TLSContext(
      serverCertificatePEM: identity.certificatePEM, privateKeyPEM: identity.privateKeyPEM, versions: version...version,
      stapledResponse: authority.ocspResponse(for: identity))
    let context = try TLSContext(
      client: TLSConfiguration(trustRoots: [.pem(authority.certificatePEM)], ocspStapling: .required))
    for isResumed in [false, true] {
      let client = try Endpoint(client: context)
      let served = try Endpoint(server: server)
      #expect(try shakeHands(client, served).client == nil)
      try served.write([1])
      client.receive(served.output())
      try client.read()
      #expect(client.info.isResumed == isResumed)
      #expect(client.info.stapledOCSP == (isResumed ? .checkedEarlier : .good))
    }
  }

  @Test("requiring OCSP stapling is refused if certificate verification is disabled")
  func withoutVerification() throws {
    let error = #expect(throws: TLSError.self) {
      try TLSContext(client: TLSConfiguration(verification: .none, ocspStapling: .checked))
    }
    #expect(error?.code == .configuration)
  }
}
