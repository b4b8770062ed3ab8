// ServerTrustEvaluation+Pinning: evaluators that pin certificates or public keys.

public import Foundation
import LupineEngine
public import LupineURLSession

/// An evaluator that accepts a server whose certificate chain contains one of the pinned certificates.
public final class PinnedCertificatesTrustEvaluator: ServerTrustEvaluating {
  private let certificates: [SecCertificate]
  private let acceptSelfSignedCertificates: Bool
  private let performDefaultValidation: Bool
  private let validateHost: Bool

  /// Creates an evaluator that requires a pinned certificate in the server's certificate chain.
  ///
  /// - Parameters:
  ///   - certificates: The pinned certificates, which may be those of servers or of authorities. By default, the certificates
  ///     in the main bundle.
  ///   - acceptSelfSignedCertificates: Whether the pinned certificates replace all other trust anchors, so that they may be
  ///     self-signed.
  ///   - performDefaultValidation: Whether the chain must be valid.
  ///   - validateHost: Whether the chain must be valid for the host, even without `performDefaultValidation`.
  public init(
    certificates: [SecCertificate] = Bundle.main.af.certificates, acceptSelfSignedCertificates: Bool = false,
    performDefaultValidation: Bool = true, validateHost: Bool = true
  ) {
    self.certificates = certificates
    self.acceptSelfSignedCertificates = acceptSelfSignedCertificates
    self.performDefaultValidation = performDefaultValidation
    self.validateHost = validateHost
  }

  /// Throws `AFError.serverTrustEvaluationFailed` with the reason `.noCertificatesFound` if no certificates are pinned,
  /// `.trustEvaluationFailed` if the required validation fails, or `.certificatePinningFailed` if the chain contains no pinned
  /// certificate. With `acceptSelfSignedCertificates`, a chain that leads to none of the pinned certificates is the latter failure.
  public func evaluate(_ trust: SecTrust, forHost host: String) throws {
    guard !certificates.isEmpty else { throw AFError.serverTrustEvaluationFailed(reason: .noCertificatesFound) }
    if acceptSelfSignedCertificates { try trust.af.setAnchorCertificates(certificates) }
    do {
      if performDefaultValidation { try trust.af.performDefaultValidation(forHost: host) }
      if validateHost { try trust.af.performValidation(forHost: host) }
    } catch  where acceptSelfSignedCertificates && error.hasUnknownRoot && !containsPin(trust) {
      // The pinned certificates are the only trust anchors, so the cause is that none of them is in the chain.
      throw pinningFailure(trust, host)
    }
    guard containsPin(trust) else { throw pinningFailure(trust, host) }
  }

  private func containsPin(_ trust: SecTrust) -> Bool { !Set(trust.af.certificates).isDisjoint(with: certificates) }

  private func pinningFailure(_ trust: SecTrust, _ host: String) -> AFError {
    .serverTrustEvaluationFailed(
      reason: .certificatePinningFailed(
        host: host, trust: trust, pinnedCertificates: certificates, serverCertificates: trust.af.certificates))
  }
}

extension Error {
  /// Whether a chain was rejected because it ends at no trust anchor.
  fileprivate var hasUnknownRoot: Bool {
    guard case .serverTrustEvaluationFailed(.trustEvaluationFailed(let error))? = asAFError,
      let code = (error as? TLSError)?.code
    else { return false }
    return code == .selfSigned || code == .unknownAuthority
  }
}

extension ServerTrustEvaluating where Self == PinnedCertificatesTrustEvaluator {
  /// An evaluator that accepts only servers with one of the main bundle's certificates in their chain.
  public static var pinnedCertificates: PinnedCertificatesTrustEvaluator { PinnedCertificatesTrustEvaluator() }

  /// An evaluator that accepts only servers with a pinned certificate in their chain. The parameters are those of
  /// ``PinnedCertificatesTrustEvaluator``.
  public static func pinnedCertificates(
    certificates: [SecCertificate] = Bundle.main.af.certificates, acceptSelfSignedCertificates: Bool = false,
    performDefaultValidation: Bool = true, validateHost: Bool = true
  ) -> PinnedCertificatesTrustEvaluator {
    PinnedCertificatesTrustEvaluator(
      certificates: certificates, acceptSelfSignedCertificates: acceptSelfSignedCertificates,
      performDefaultValidation: performDefaultValidation, validateHost: validateHost)
  }
}

/// An evaluator that accepts a server whose certificate chain contains one of the pinned public keys. A pinned key remains valid
/// when the certificate is reissued for the same key.
public final class PublicKeysTrustEvaluator: ServerTrustEvaluating {
  private let keys: [SecKey]
  private let performDefaultValidation: Bool
  private let validateHost: Bool

  /// Creates an evaluator that requires a pinned public key in the server's certificate chain.
  ///
  /// - Parameters:
  ///   - keys: The pinned keys, which may be those of servers or of authorities. By default, the keys of the certificates in
  ///     the main bundle.
  ///   - performDefaultValidation: Whether the chain must be valid.
  ///   - validateHost: Whether the chain must be valid for the host, even without `performDefaultValidation`.
  public init(
    keys: [SecKey] = Bundle.main.af.publicKeys, performDefaultValidation: Bool = true, validateHost: Bool = true
  ) {
    self.keys = keys
    self.performDefaultValidation = performDefaultValidation
    self.validateHost = validateHost
  }

  /// Throws `AFError.serverTrustEvaluationFailed` with the reason `.noPublicKeysFound` if no keys are pinned,
  /// `.trustEvaluationFailed` if the required validation fails, or `.publicKeyPinningFailed` if the chain contains no pinned key.
  public func evaluate(_ trust: SecTrust, forHost host: String) throws {
    guard !keys.isEmpty else { throw AFError.serverTrustEvaluationFailed(reason: .noPublicKeysFound) }
    if performDefaultValidation { try trust.af.performDefaultValidation(forHost: host) }
    if validateHost { try trust.af.performValidation(forHost: host) }
    let shown = trust.af.publicKeys
    guard Set(shown).isDisjoint(with: keys) else { return }
    throw AFError.serverTrustEvaluationFailed(
      reason: .publicKeyPinningFailed(host: host, trust: trust, pinnedKeys: keys, serverKeys: shown))
  }
}

extension ServerTrustEvaluating where Self == PublicKeysTrustEvaluator {
  /// An evaluator that accepts only servers with the public key of one of the main bundle's certificates in their chain.
  public static var publicKeys: PublicKeysTrustEvaluator { PublicKeysTrustEvaluator() }

  /// An evaluator that accepts only servers with a pinned public key in their chain. The parameters are those of
  /// ``PublicKeysTrustEvaluator``.
  public static func publicKeys(
    keys: [SecKey] = Bundle.main.af.publicKeys, performDefaultValidation: Bool = true, validateHost: Bool = true
  ) -> PublicKeysTrustEvaluator {
    PublicKeysTrustEvaluator(keys: keys, performDefaultValidation: performDefaultValidation, validateHost: validateHost)
  }
}
