// SecurityFunctionTests: the functions of the Security framework: trust objects, policies and anchors.

import Foundation
import LupineEngine
import LupineLoopback
import LupineTLS
import Testing

@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite struct SecurityFunctionTests {
  private let authority: ThrowawayAuthority
  private let root: SecCertificate

  init() throws {
    authority = try ThrowawayAuthority()
    root = try .pem(authority.certificatePEM)
  }

  /// Evaluates the SecTrust, and returns the error's code, or nil if the certificates are trusted.
  private func problem(of trust: SecTrust) throws -> TLSError.Code? {
    var error: (any Error)? = CancellationError()
    let isTrusted = SecTrustEvaluateWithError(trust, &error)
    #expect(isTrusted == (error == nil))
    let isTrustedAgain = SecTrustEvaluateWithError(trust, nil)
    #expect(isTrustedAgain == isTrusted)
    guard let error else { return nil }
    let cause = try #require(error as? TLSError)
    return cause.code
  }

  private func made(_ certificates: Any, _ policies: Any? = nil) throws -> SecTrust {
    var trust: SecTrust?
    let status = SecTrustCreateWithCertificates(certificates, policies, &trust)
    #expect(status == errSecSuccess)
    return try #require(trust)
  }

  @Test("a SecTrust can be created from one certificate or several, and is evaluated with the anchors that are set")
  func created() throws {
    let intermediate = try authority.issueAuthority()
    let leaf = try SecCertificate.pem(intermediate.issue(names: ["localhost"]).certificatePEM)
    let issuer = try SecCertificate.pem(intermediate.certificatePEM)
    let complete = try made([leaf, issuer], SecPolicyCreateSSL(true, "localhost"))
    #expect(try problem(of: complete) == .unknownAuthority)
    #expect(SecTrustSetAnchorCertificates(complete, [root]) == errSecSuccess)
    #expect(try problem(of: complete) == nil)
    #expect(SecTrustCopyCertificateChain(complete) == [leaf, issuer, root])
    #expect(SecTrustCopyKey(complete) == leaf.publicKey)

    let incomplete = try made(leaf)
    let verdicts: [(anchor: SecCertificate, code: TLSError.Code?)] = [(root, .unknownAuthority), (issuer, nil)]
    for (anchor, code) in verdicts {
      #expect(SecTrustSetAnchorCertificates(incomplete, [anchor]) == errSecSuccess)
      #expect(try problem(of: incomplete) == code)
    }
  }

  @Test(
    "SecTrustEvaluate, SecTrustGetCertificateAtIndex and SecTrustCopyPublicKey match the newer functions")
  func earlierNames() throws {
    let intermediate = try authority.issueAuthority()
    let leaf = try SecCertificate.pem(intermediate.issue(names: ["localhost"]).certificatePEM)
    let issuer = try SecCertificate.pem(intermediate.certificatePEM)
    let trust = try made([leaf, issuer], SecPolicyCreateSSL(true, "localhost"))
    var result = SecTrustResultType.invalid
    #expect(SecTrustEvaluate(trust, &result) == errSecSuccess && result == .recoverableTrustFailure)
    SecTrustSetAnchorCertificates(trust, [root])
    #expect(SecTrustEvaluate(trust, &result) == errSecSuccess && result == .unspecified)
    SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, "other.example"))
    #expect(SecTrustEvaluate(trust, &result) == errSecSuccess && result == .recoverableTrustFailure)
    #expect(SecTrustGetCertificateCount(trust) == 3)
    #expect((-1..<4).map { SecTrustGetCertificateAtIndex(trust, $0) } == [nil, leaf, issuer, root, nil])
    #expect(SecTrustCopyPublicKey(trust) == leaf.publicKey && SecCertificateCopyKey(root) == root.publicKey)
  }

  @Test("SecTrust functions return errSecParam for an empty list of certificates or an argument of the wrong type")
  func arguments() throws {
    let mixed: [Any] = [root, "text"]
    let arguments: [(certificates: Any, policies: Any?)] = [
      ([SecCertificate](), nil), ("text", nil), (mixed, nil), (root, "text"), (root, mixed),
    ]
    for (index, (certificates, policies)) in arguments.enumerated() {
      var trust: SecTrust?
      let status = SecTrustCreateWithCertificates(certificates, policies, &trust)
      #expect(status == errSecParam && trust == nil, "arguments \(index)")
    }
    let trust = try SecTrust.shown(by: authority.issue(names: ["localhost"]), trusting: authority)
    #expect(SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, "other.example")) == errSecSuccess)
    #expect(SecTrustSetPolicies(trust, "text") == errSecParam)
    #expect(try problem(of: trust) == .hostMismatch)
  }

  @Test("after SecTrustSetAnchorCertificatesOnly(trust, false), anchors are added to the trust roots")
  func anchors() throws {
    let stranger = try SecCertificate.pem(ThrowawayAuthority(commonName: "A stranger").certificatePEM)
    let trust = try SecTrust.shown(by: authority.issue(names: ["localhost"]), trusting: authority)
    #expect(try problem(of: trust) == nil)
    #expect(SecTrustSetAnchorCertificates(trust, [stranger]) == errSecSuccess)
    #expect(try problem(of: trust) == .unknownAuthority)
    #expect(SecTrustSetAnchorCertificatesOnly(trust, false) == errSecSuccess)
    #expect(try problem(of: trust) == nil)
    #expect(SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess)
    #expect(try problem(of: trust) == .unknownAuthority)
  }

  @Test(
    "a SecTrust's chain must satisfy all its policies; without policies, the chain must be valid for the handshake's host"
  )
  func policies() throws {
    let right = SecPolicyCreateSSL(true, "localhost")
    let (wrong, client) = (SecPolicyCreateSSL(true, "other.example"), SecPolicyCreateSSL(false, "other.example"))
    let identity = try authority.issue(names: ["localhost"])
    let verdicts: [(policies: Any, code: TLSError.Code?)] = [
      (right, nil), (wrong, .hostMismatch), (client, nil), (SecPolicyCreateBasicX509(), nil),
      (SecPolicyCreateSSL(true, nil), nil), ([right, client], nil), ([right, wrong], .hostMismatch),
      (SecPolicyCreateSSL(true, ""), .configuration), ([SecPolicy](), nil),
    ]
    for (index, (policies, code)) in verdicts.enumerated() {
      let trust = try SecTrust.shown(by: identity, trusting: authority)
      #expect(SecTrustSetPolicies(trust, policies) == errSecSuccess)
      #expect(try problem(of: trust) == code, "policies \(index)")
    }
    let other = try SecTrust.shown(by: identity, to: "other.example", trusting: authority)
    #expect(try problem(of: other) == .hostMismatch)
    #expect(SecTrustSetPolicies(other, [SecPolicy]()) == errSecSuccess)
    #expect(try problem(of: other) == .hostMismatch)
    let expired = try SecTrust.shown(by: authority.issue(validity: .expired), trusting: authority)
    #expect(SecTrustSetPolicies(expired, SecPolicyCreateBasicX509()) == errSecSuccess)
    #expect(try problem(of: expired) == .certificateExpired)
  }

  @Test("a SecTrust with an empty list of policies needs a valid chain, and an empty host name matches no certificate")
  func emptyPolicies() throws {
    let leaf = try SecCertificate.pem(authority.issue(names: ["localhost"]).certificatePEM)
    for policies in [[], nil] as [[SecPolicy]?] {
      let trust = try made(leaf, policies)
      #expect(try problem(of: trust) == .unknownAuthority)
      #expect(SecTrustSetAnchorCertificates(trust, [root]) == errSecSuccess)
      #expect(try problem(of: trust) == nil && trust.description.contains(", trusted"))
    }
    let trust = try made(leaf, SecPolicyCreateSSL(true, ""))
    #expect(try problem(of: trust) == .configuration)
  }

  @Test("SecPolicyCreateRevocation requires a method and no unknown flag, and the flags have Apple's values")
  func revocationFlags() {
    #expect(kSecRevocationOCSPMethod == 1 && kSecRevocationCRLMethod == 2 && kSecRevocationPreferCRL == 4)
    #expect(kSecRevocationRequirePositiveResponse == 8 && kSecRevocationNetworkAccessDisabled == 16)
    #expect(kSecRevocationUseAnyAvailableMethod == 3 && errSecSuccess == 0 && errSecParam == -50)
    for (flags, isValid) in [(1, true), (2, true), (31, true), (0, false), (24, false), (33, false)] {
      #expect((SecPolicyCreateRevocation(CFOptionFlags(flags)) != nil) == isValid, "flags \(flags)")
    }
  }

  @Test("a chain without a revocation answer is refused only by a revocation policy that requires an answer")
  func revocationPolicy() throws {
    let offline = kSecRevocationUseAnyAvailableMethod | kSecRevocationNetworkAccessDisabled
    for (flags, isTrusted) in [(offline, true), (offline | kSecRevocationRequirePositiveResponse, false)] {
      let trust = try SecTrust.shown(by: authority.issue(names: ["localhost"]), trusting: authority)
      #expect(SecTrustSetPolicies(trust, try #require(SecPolicyCreateRevocation(flags))) == errSecSuccess)
      #expect(SecTrustEvaluateWithError(trust, nil) == isTrusted)
      let codes = SecTrust.codes(of: trust.policyProblem)
      #expect(codes.result == (isTrusted ? .unspecified : .recoverableTrustFailure))
      #expect(codes.status == (isTrusted ? errSecSuccess : -67635))  // errSecIncompleteCertRevocationCheck
    }
  }
}
