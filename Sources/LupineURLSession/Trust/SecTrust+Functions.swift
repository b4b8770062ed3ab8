// SecTrust+Functions: the Security framework's functions for trust objects. Core Foundation's types become Swift's.

import LupineEngine

/// Creates a trust object from certificates. The certificates will be verified with the system's trust roots.
///
/// - Parameters:
///   - certificates: A ``SecCertificate`` or an array of them: first the certificate to evaluate, then others in any order.
///   - policies: A ``SecPolicy`` or an array of them. If nil or empty, the certificate chain must be valid, for any host.
///   - trust: The variable that receives the trust object.
/// - Returns: ``errSecSuccess``, or ``errSecParam`` if an argument has another type, if there are no certificates, or if the trust
///   roots can't be read.
@discardableResult
public func SecTrustCreateWithCertificates(
  _ certificates: Any, _ policies: Any?, _ trust: inout SecTrust?
) -> OSStatus {
  guard let certificates = list(certificates, of: SecCertificate.self), !certificates.isEmpty,
    let policies = list(policies ?? SecPolicyCreateBasicX509(), of: SecPolicy.self),
    let evidence = CertificateVerifier.Evidence(certificates: certificates.map { Array($0.data) })
  else { return errSecParam }
  let made = SecTrust(evidence, revocation: RevocationChecker(fetcher: .shared))
  made.apply(policies)
  trust = made
  return errSecSuccess
}

/// Sets the policies for evaluating a trust object, in place of earlier policies. `policies` is a ``SecPolicy`` or an array of
/// them. If the array is empty, the certificate chain must be valid for the host of the TLS handshake.
///
/// - Returns: ``errSecSuccess``, or ``errSecParam`` if `policies` has another type.
@discardableResult
public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: Any) -> OSStatus {
  guard let policies = list(policies, of: SecPolicy.self) else { return errSecParam }
  trust.apply(policies)
  return errSecSuccess
}

/// Sets the certificates that are the trust anchors of an evaluation. By default, they replace the session's trust roots; see
/// ``SecTrustSetAnchorCertificatesOnly(_:_:)``. Returns ``errSecSuccess``.
@discardableResult
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: [SecCertificate]) -> OSStatus {
  trust.trust(anchorCertificates)
  return errSecSuccess
}

/// Sets whether the trust anchors replace the session's trust roots. True by default. If false, a certificate chain is trusted if
/// it leads to a trust anchor or to a trust root. Returns ``errSecSuccess``.
@discardableResult
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus {
  trust.setTrustsOnlyAnchors(anchorCertificatesOnly)
  return errSecSuccess
}

/// Returns whether the certificates are trusted under all policies. Sets `error` to the reason if they aren't trusted, and
/// otherwise to nil. If a policy checks revocation, this function may block the thread.
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: inout (any Error)?) -> Bool {
  error = trust.policyProblem
  return error == nil
}

/// Returns whether the certificates are trusted under all policies. If a policy checks revocation, this function may block the
/// thread.
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: Never?) -> Bool { trust.policyProblem == nil }

/// Evaluates the certificates under all policies, and sets `result` to the outcome, such as `.unspecified` if they are trusted. If a
/// policy checks revocation, this function may block the thread.
///
/// - Returns: ``errSecSuccess``, because the evaluation itself never fails. Read `result`.
@discardableResult
public func SecTrustEvaluate(_ trust: SecTrust, _ result: inout SecTrustResultType) -> OSStatus {
  result = SecTrust.codes(of: trust.policyProblem).result
  return errSecSuccess
}

/// Returns the certificate chain: first the certificate that is evaluated, then its issuers. Each certificate is signed by the next
/// one.
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> [SecCertificate]? { trust.certificates }

/// Returns the number of certificates in the chain, including the one that is evaluated.
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> Int { trust.certificates.count }

/// Returns a certificate of the chain, or nil if the chain has no certificate at this index. The certificate that is evaluated has
/// the index 0, and the certificate that has signed it has the index 1.
public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ index: Int) -> SecCertificate? {
  let certificates = trust.certificates
  return certificates.indices.contains(index) ? certificates[index] : nil
}

/// Returns the public key of the certificate that is evaluated.
public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? { trust.certificates.first?.publicKey }

/// Returns the public key of the certificate that is evaluated. The same as ``SecTrustCopyKey(_:)``, under its earlier name.
public func SecTrustCopyPublicKey(_ trust: SecTrust) -> SecKey? { SecTrustCopyKey(trust) }

private func list<Element>(_ value: Any, of type: Element.Type) -> [Element]? {
  if let element = value as? Element { return [element] }
  return value as? [Element]
}

extension SecTrust {
  /// Returns the Security framework's codes for the result of `policyProblem`. If `problem` is nil, these are the codes for
  /// success.
  package static func codes(of problem: (any Error)?) -> (status: OSStatus, result: SecTrustResultType) {
    guard let problem else { return (errSecSuccess, .unspecified) }
    return switch problem as? RevocationFailure {
    case .revoked: (-67820, .fatalTrustFailure)  // errSecCertificateRevoked
    case .unconfirmed: (-67635, .recoverableTrustFailure)  // errSecIncompleteCertRevocationCheck
    case nil: (status(of: (problem as? TLSError)?.code), .recoverableTrustFailure)
    }
  }

  private static func status(of code: TLSError.Code?) -> OSStatus {
    switch code {
    case .hostMismatch: -67602  // errSecHostNameMismatch
    case .certificateExpired: -67818  // errSecCertificateExpired
    case .certificateNotYetValid: -67819  // errSecCertificateNotValidYet
    default: -67843  // errSecNotTrusted
    }
  }
}
