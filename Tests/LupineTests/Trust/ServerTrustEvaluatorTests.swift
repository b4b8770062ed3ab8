// ServerTrustEvaluatorTests: the certificates that each evaluator accepts without a session, and why it refuses others.

import Foundation
import LupineEngine
import LupineLoopback
import LupineTLS
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite struct ServerTrustEvaluatorTests {
  private let authority: ThrowawayAuthority
  private let stranger: ThrowawayAuthority

  init() throws {
    authority = try ThrowawayAuthority()
    stranger = try ThrowawayAuthority(commonName: "Somebody else")
  }

  private func shown(
    by identity: ThrowawayAuthority.Identity, sending issuers: [UInt8] = [], to host: String = "localhost"
  ) throws -> SecTrust {
    try .shown(by: identity, sending: issuers, to: host, trusting: authority)
  }

  /// Returns a forged certificate: it names the authority as its issuer, but is signed with another key.
  private func forged() throws -> ThrowawayAuthority.Identity {
    let forger = ThrowawayAuthority(
      signingWith: .init(
        certificatePEM: authority.certificatePEM, privateKeyPEM: stranger.identity.privateKeyPEM))
    return try forger.issue(names: ["localhost"])
  }

  // MARK: Default and disabled

  @Test("the default trust evaluator accepts a certificate chain that is valid for the host")
  func good() throws {
    let trust = try shown(by: authority.issue(names: ["localhost"]))
    try DefaultTrustEvaluator().evaluate(trust, forHost: "localhost")
    #expect(try verdict(trustFailure(of: DefaultTrustEvaluator(), trust, "other.example")) == .hostMismatch)
  }

  @Test("the default trust evaluator refuses certificates for the same reasons as OpenSSL")
  func bad() throws {
    let expired = try shown(by: authority.issue(names: ["localhost"], validity: .expired))
    #expect(try verdict(trustFailure(of: DefaultTrustEvaluator(), expired)) == .certificateExpired)
    let unknown = try shown(by: stranger.issue(names: ["localhost"]))
    #expect(try verdict(trustFailure(of: DefaultTrustEvaluator(), unknown)) == .unknownAuthority)
    let selfSigned = try shown(by: ThrowawayAuthority.selfSigned(names: ["localhost"]))
    #expect(try verdict(trustFailure(of: DefaultTrustEvaluator(), selfSigned)) == .selfSigned)
    let error = AFError.serverTrustEvaluationFailed(reason: try trustFailure(of: DefaultTrustEvaluator(), selfSigned))
    #expect(error.localizedDescription.contains("The certificate of localhost is self-signed"))
  }

  @Test("if validateHost is false, a certificate for another host is accepted, but any other flaw is refused")
  func anyHost() throws {
    let evaluator = DefaultTrustEvaluator(validateHost: false)
    let other = try shown(by: authority.issue(names: ["other.example"]))
    try evaluator.evaluate(other, forHost: "localhost")
    #expect(try verdict(trustFailure(of: DefaultTrustEvaluator(), other)) == .hostMismatch)

    // OpenSSL checks the name first, and stops at the first flaw.
    let expired = try shown(by: authority.issue(names: ["other.example"], validity: .expired))
    #expect(try verdict(trustFailure(of: DefaultTrustEvaluator(), expired)) == .hostMismatch)
    #expect(try verdict(trustFailure(of: evaluator, expired)) == .certificateExpired)
    let unknown = try shown(by: stranger.issue(names: ["other.example"]))
    #expect(try verdict(trustFailure(of: evaluator, unknown)) == .unknownAuthority)
  }

  @Test("the disabled trust evaluator accepts any certificate")
  func disabled() throws {
    for identity in [try ThrowawayAuthority.selfSigned(validity: .expired), try forged()] {
      try DisabledTrustEvaluator().evaluate(shown(by: identity), forHost: "localhost")
    }
  }

  // MARK: Pinned certificates

  @Test("the pinning evaluator accepts a certificate if the certificate, its intermediate or its authority is pinned")
  func pins() throws {
    let intermediate = try authority.issueAuthority()
    let identity = try intermediate.issue(names: ["localhost"])
    for pin in [identity.certificatePEM, intermediate.certificatePEM, authority.certificatePEM] {
      let trust = try shown(by: identity, sending: intermediate.certificatePEM)
      #expect(trust.af.certificates.count == 3)
      let pin = try SecCertificate.pem(pin)
      try PinnedCertificatesTrustEvaluator(certificates: [pin]).evaluate(trust, forHost: "localhost")
      try PublicKeysTrustEvaluator(keys: [pin].af.publicKeys).evaluate(trust, forHost: "localhost")
    }
  }

  @Test("the error for a valid chain without a pinned certificate contains the pinned and the server's certificates")
  func unpinned() throws {
    let trust = try shown(by: authority.issue(names: ["localhost"]))
    let pin = try SecCertificate.pem(stranger.certificatePEM)
    let evaluator = PinnedCertificatesTrustEvaluator(certificates: [pin])
    guard
      case .certificatePinningFailed(let host, let shown, let pinned, let server) = try trustFailure(
        of: evaluator, trust)
    else { throw CancellationError() }
    #expect(host == "localhost" && shown === trust && pinned == [pin])
    #expect(server == trust.af.certificates && server.count == 2)
    #expect(trust.af.certificateData == server.map(SecCertificateCopyData))
  }

  @Test("the pinning evaluator ignores a pinned certificate that the server sends outside of the verified chain")
  func sentAlong() throws {
    let pinned = try SecCertificate.pem(stranger.certificatePEM)
    let trust = try shown(by: authority.issue(names: ["localhost"]), sending: stranger.certificatePEM)
    guard
      case .certificatePinningFailed = try trustFailure(
        of: PinnedCertificatesTrustEvaluator(certificates: [pinned]), trust),
      case .publicKeyPinningFailed = try trustFailure(of: PublicKeysTrustEvaluator(keys: [pinned.publicKey]), trust)
    else { throw CancellationError() }
  }

  @Test("a forged certificate that claims a pinned authority as its issuer is refused even without validation")
  func forgedIssuer() throws {
    let pinned = try SecCertificate.pem(authority.certificatePEM)
    let trust = try shown(by: forged(), sending: authority.certificatePEM)
    let certificates = PinnedCertificatesTrustEvaluator(
      certificates: [pinned], performDefaultValidation: false, validateHost: false)
    let keys = PublicKeysTrustEvaluator(
      keys: [pinned.publicKey], performDefaultValidation: false, validateHost: false)
    guard case .certificatePinningFailed(_, _, _, let server) = try trustFailure(of: certificates, trust),
      case .publicKeyPinningFailed(_, _, let pinnedKeys, let serverKeys) = try trustFailure(of: keys, trust)
    else { throw CancellationError() }
    #expect(server.count == 1 && serverKeys == server.af.publicKeys && pinnedKeys == [pinned.publicKey])
  }

  @Test("the pinning evaluator refuses a pinned certificate in an invalid chain unless all validation is disabled")
  func validation() throws {
    let identity = try stranger.issue(names: ["other.example"], validity: .expired)
    let trust = try shown(by: identity, sending: stranger.certificatePEM)
    for pin in [identity.certificatePEM, stranger.certificatePEM] {
      let pins = [try SecCertificate.pem(pin)]
      for (performs, validates) in [(true, true), (true, false), (false, true)] {
        let certificates = PinnedCertificatesTrustEvaluator(
          certificates: pins, performDefaultValidation: performs, validateHost: validates)
        let keys = PublicKeysTrustEvaluator(
          keys: pins.af.publicKeys, performDefaultValidation: performs, validateHost: validates)
        #expect(try verdict(trustFailure(of: certificates, trust)) == .unknownAuthority)
        #expect(try verdict(trustFailure(of: keys, trust)) == .unknownAuthority)
      }
      try PinnedCertificatesTrustEvaluator(
        certificates: pins, performDefaultValidation: false, validateHost: false
      ).evaluate(trust, forHost: "localhost")
      try PublicKeysTrustEvaluator(keys: pins.af.publicKeys, performDefaultValidation: false, validateHost: false)
        .evaluate(trust, forHost: "localhost")
    }
  }

  @Test("the pinning evaluator accepts a pinned certificate for another host only if validateHost is false")
  func pinnedElsewhere() throws {
    let identity = try authority.issue(names: ["other.example"])
    let trust = try shown(by: identity)
    let pins = [try SecCertificate.pem(identity.certificatePEM)]
    #expect(
      try verdict(trustFailure(of: PinnedCertificatesTrustEvaluator(certificates: pins), trust)) == .hostMismatch)
    #expect(
      try verdict(trustFailure(of: PublicKeysTrustEvaluator(keys: pins.af.publicKeys), trust)) == .hostMismatch)
    try PinnedCertificatesTrustEvaluator(certificates: pins, validateHost: false).evaluate(trust, forHost: "localhost")
    try PublicKeysTrustEvaluator(keys: pins.af.publicKeys, validateHost: false).evaluate(trust, forHost: "localhost")
  }

  @Test("with acceptSelfSignedCertificates, the pinned certificates are the only trust anchors")
  func selfSigned() throws {
    let identity = try ThrowawayAuthority.selfSigned(names: ["localhost"])
    let pin = try SecCertificate.pem(identity.certificatePEM)
    #expect(
      try verdict(trustFailure(of: PinnedCertificatesTrustEvaluator(certificates: [pin]), shown(by: identity)))
        == .selfSigned)
    let evaluator = PinnedCertificatesTrustEvaluator(certificates: [pin], acceptSelfSignedCertificates: true)
    let trust = try shown(by: identity)
    try evaluator.evaluate(trust, forHost: "localhost")
    #expect(trust.af.certificates == [pin])
    // The evaluator still checks the host, the dates and the issuer.
    #expect(try verdict(trustFailure(of: evaluator, shown(by: identity), "other.example")) == .hostMismatch)
    let namesake = try shown(by: ThrowawayAuthority.selfSigned(names: ["localhost"]))
    guard case .certificatePinningFailed = try trustFailure(of: evaluator, namesake) else { throw CancellationError() }
    let expired = try ThrowawayAuthority.selfSigned(names: ["localhost"], validity: .expired)
    let pinnedExpired = PinnedCertificatesTrustEvaluator(
      certificates: [try .pem(expired.certificatePEM)], acceptSelfSignedCertificates: true)
    #expect(try verdict(trustFailure(of: pinnedExpired, shown(by: expired))) == .certificateExpired)
  }

  @Test(
    "with acceptSelfSignedCertificates, a chain without a pinned certificate fails with the error for failed pinning")
  func unpinnedSelfSigned() throws {
    let pin = try SecCertificate.pem(ThrowawayAuthority.selfSigned(names: ["pinned.example"]).certificatePEM)
    for validates in [true, false] {
      let evaluator = PinnedCertificatesTrustEvaluator(
        certificates: [pin], acceptSelfSignedCertificates: true, performDefaultValidation: validates)
      for identity in [
        try ThrowawayAuthority.selfSigned(names: ["localhost"]), try authority.issue(names: ["localhost"]),
      ] {
        let trust = try shown(by: identity)
        guard case .certificatePinningFailed("localhost", _, [pin], let server) = try trustFailure(of: evaluator, trust)
        else { throw CancellationError() }
        #expect(server == trust.af.certificates && !server.isEmpty)
      }
    }
  }

  @Test(
    "with acceptSelfSignedCertificates, a certificate that a pinned private authority issued is verified and accepted")
  func privateAuthority() throws {
    let evaluator = PinnedCertificatesTrustEvaluator(
      certificates: [try .pem(stranger.certificatePEM)], acceptSelfSignedCertificates: true)
    let trust = try shown(by: stranger.issue(names: ["localhost"]))
    try evaluator.evaluate(trust, forHost: "localhost")
    #expect(trust.af.certificates.count == 2)
    let forger = ThrowawayAuthority(
      signingWith: .init(
        certificatePEM: stranger.certificatePEM, privateKeyPEM: authority.identity.privateKeyPEM))
    let forged = try shown(by: forger.issue(names: ["localhost"]), sending: stranger.certificatePEM)
    guard case .certificateInvalid = try verdict(trustFailure(of: evaluator, forged)) else {
      throw CancellationError()
    }
  }

  @Test("a pinning evaluator without pins fails with noCertificatesFound or noPublicKeysFound")
  func noPins() throws {
    let trust = try shown(by: authority.issue(names: ["localhost"]))
    guard case .noCertificatesFound = try trustFailure(of: PinnedCertificatesTrustEvaluator(certificates: []), trust),
      case .noPublicKeysFound = try trustFailure(of: PublicKeysTrustEvaluator(keys: []), trust)
    else { throw CancellationError() }
  }

  @Test("public key pinning compares the pinned keys with the chain's keys, and doesn't compare certificates")
  func keys() throws {
    let trust = try shown(by: authority.issue(names: ["localhost"]))
    let leaf = try #require(trust.af.certificates.first)
    let key = try #require(leaf.af.publicKey)
    #expect(trust.af.publicKeys == trust.af.certificates.af.publicKeys && trust.af.publicKeys.first == key)
    try PublicKeysTrustEvaluator(keys: [SecKey(subjectPublicKeyInfo: key.subjectPublicKeyInfo)])
      .evaluate(trust, forHost: "localhost")
    let other = try #require(try shown(by: authority.issue(names: ["localhost"])).af.publicKeys.first)
    #expect(other != key)
    guard
      case .publicKeyPinningFailed(let host, let seen, let pinned, let server) = try trustFailure(
        of: PublicKeysTrustEvaluator(keys: [other]), trust)
    else { throw CancellationError() }
    #expect(host == "localhost" && seen === trust && pinned == [other] && server == trust.af.publicKeys)
  }

  // MARK: Composite and custom evaluators

  private struct Refusal: Error {}

  private final class Counting: ServerTrustEvaluating {
    let count = Atomic(0)
    let error: (any Error)?

    init(_ error: (any Error)? = nil) { self.error = error }

    func evaluate(_ trust: SecTrust, forHost host: String) throws {
      count.add(1, ordering: .relaxed)
      if let error { throw error }
    }
  }

  @Test("a composite trust evaluator calls its evaluators in order until one of them throws")
  func composite() throws {
    let trust = try shown(by: authority.issue(names: ["localhost"]))
    let evaluators = [Counting(), Counting(Refusal()), Counting()]
    #expect(throws: Refusal.self) {
      try CompositeTrustEvaluator(evaluators: evaluators).evaluate(trust, forHost: "localhost")
    }
    #expect(evaluators.map { $0.count.load(ordering: .relaxed) } == [1, 1, 0])
    let good: [any ServerTrustEvaluating] = [
      evaluators[0], evaluators[2], .composite(evaluators: [DefaultTrustEvaluator()]),
    ]
    try good.evaluate(trust, forHost: "localhost")
    #expect(evaluators.map { $0.count.load(ordering: .relaxed) } == [2, 1, 1])
    #expect(throws: AFError.self) { try good.evaluate(trust, forHost: "other.example") }
  }

  @Test("a custom trust evaluator can set trust anchors and then evaluate the trust again")
  func anchors() throws {
    let trust = try shown(by: stranger.issue(names: ["localhost"]))
    #expect(throws: AFError.self) { try trust.af.evaluate() }
    try trust.af.setAnchorCertificates([.pem(stranger.certificatePEM)])
    try trust.af.evaluate()
    try trust.af.performValidation(forHost: "localhost")
    try trust.af.performDefaultValidation(forHost: "other.example")
    #expect(throws: AFError.self) { try trust.af.performValidation(forHost: "other.example") }
    let elsewhere = try shown(by: authority.issue(names: ["other.example"]))
    #expect(throws: AFError.self) { try elsewhere.af.evaluate() }
  }

  @Test("each static factory creates a trust evaluator with the given parameters")
  func factories() throws {
    let identity = try ThrowawayAuthority.selfSigned(names: ["other.example"])
    let pins = [try SecCertificate.pem(identity.certificatePEM)]
    let manager = ServerTrustManager(evaluators: [
      "a": .pinnedCertificates(certificates: pins, acceptSelfSignedCertificates: true, validateHost: false),
      "b": .publicKeys(keys: pins.af.publicKeys, performDefaultValidation: false, validateHost: false),
      "c": .pinnedCertificates(certificates: pins, performDefaultValidation: false, validateHost: false),
    ])
    for (host, evaluator) in manager.evaluators { try evaluator.evaluate(shown(by: identity), forHost: host) }
    // The tests' bundle contains no certificates.
    guard
      case .noCertificatesFound = try trustFailure(
        of: PinnedCertificatesTrustEvaluator.pinnedCertificates, shown(by: identity)),
      case .noPublicKeysFound = try trustFailure(of: PublicKeysTrustEvaluator.publicKeys, shown(by: identity))
    else { throw CancellationError() }
  }

  // MARK: Managers

  @Test(
    "a ServerTrustManager looks up a host's evaluator ignoring case, a trailing dot, and the spelling of an address")
  func hosts() throws {
    let evaluator = DisabledTrustEvaluator()
    let manager = ServerTrustManager(
      allHostsMustBeEvaluated: false,
      evaluators: ["API.Example.com.": evaluator, "[::1]": evaluator, "127.0.0.1": evaluator])
    for host in ["api.example.com", "api.example.com.", "API.Example.com.", "::1", "0:0::1", "127.0.0.1."] {
      #expect(try manager.serverTrustEvaluator(forHost: host) as? DisabledTrustEvaluator === evaluator, "\(host)")
    }
    #expect(try manager.serverTrustEvaluator(forHost: "example.com") == nil)
    #expect(!manager.allHostsMustBeEvaluated && manager.evaluators.count == 3)
  }

  @Test("by default, a ServerTrustManager throws an error for a host without an evaluator")
  func required() throws {
    let manager = ServerTrustManager(evaluators: [:])
    #expect(manager.allHostsMustBeEvaluated)
    let error = #expect(throws: AFError.self) { try manager.serverTrustEvaluator(forHost: "example.com") }
    guard case .noRequiredEvaluator("example.com") = try trustFailure(error) else { throw CancellationError() }
  }

  // MARK: Pins

  @Test("SecCertificates with the same bytes are equal, and are created only from the DER data of a single certificate")
  func certificates() throws {
    let pem = authority.certificatePEM
    let one = try SecCertificate.pem(pem)
    #expect(try one == .pem(pem))
    #expect(try Set([one, .pem(pem), .pem(stranger.certificatePEM)]).count == 2)
    #expect(SecCertificateCreateWithData(nil, SecCertificateCopyData(one)) == one)
    #expect(SecCertificateCreateWithData(nil, Data(pem)) == nil)
    #expect(SecCertificateCreateWithData(nil, SecCertificateCopyData(one) + [0]) == nil)
    #expect(SecCertificateCreateWithData(nil, Data()) == nil)
  }

  @Test("a bundle's certificates are read from its DER files with the usual extensions, without duplicates")
  func bundle() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let certificates = [try SecCertificate.pem(authority.certificatePEM), try .pem(stranger.certificatePEM)]
    try certificates[0].data.write(to: folder.appending(path: "one.cer"))
    try certificates[1].data.write(to: folder.appending(path: "two.DER"))
    try Data(authority.certificatePEM).write(to: folder.appending(path: "text.crt"))
    try certificates[0].data.write(to: folder.appending(path: "other.bin"))
    let bundle = try #require(Bundle(path: folder.path))
    #expect(Set(bundle.af.certificates) == Set(certificates) && bundle.af.certificates.count == 2)
    #expect(Set(bundle.af.publicKeys) == Set(certificates.af.publicKeys))
    #expect(
      bundle.af.paths(forResourcesOfTypes: ["crt", ".crt"]).map { URL(filePath: $0).lastPathComponent } == ["text.crt"])
  }
}
