// Evaluators that know the server's certificate or key, or those of its authority, beforehand.

public import Foundation
public import LupineURLSession

/// Accepts a server whose chain has one of the pinned certificates in it.
public final class PinnedCertificatesTrustEvaluator: ServerTrustEvaluating {
  private let certificates: [SecCertificate]
  private let acceptSelfSignedCertificates: Bool
  private let performDefaultValidation: Bool
  private let validateHost: Bool

  /// Makes an evaluator.
  ///
  /// - Parameters:
  ///   - certificates: the pinned ones: the server's own, or its authority's; those in the main bundle by default.
  ///   - acceptSelfSignedCertificates: whether the pinned certificates, and no others, are what a chain may end in.
  ///   - performDefaultValidation: whether the chain must be good.
  ///   - validateHost: whether the chain must be good and name the host, also without `performDefaultValidation`.
  public init(
    certificates: [SecCertificate] = Bundle.main.af.certificates, acceptSelfSignedCertificates: Bool = false,
    performDefaultValidation: Bool = true, validateHost: Bool = true
  ) {
    self.certificates = certificates
    self.acceptSelfSignedCertificates = acceptSelfSignedCertificates
    self.performDefaultValidation = performDefaultValidation
    self.validateHost = validateHost
  }

  /// Throws if there are no pins, if the validation that is asked for fails, or if no pinned certificate is in the chain.
  public func evaluate(_ trust: SecTrust, forHost host: String) throws {
    guard !certificates.isEmpty else { throw AFError.serverTrustEvaluationFailed(reason: .noCertificatesFound) }
    if acceptSelfSignedCertificates { try trust.af.setAnchorCertificates(certificates) }
    if performDefaultValidation { try trust.af.performDefaultValidation(forHost: host) }
    if validateHost { try trust.af.performValidation(forHost: host) }
    let shown = trust.af.certificates
    guard Set(shown).isDisjoint(with: certificates) else { return }
    throw AFError.serverTrustEvaluationFailed(
      reason: .certificatePinningFailed(
        host: host, trust: trust, pinnedCertificates: certificates, serverCertificates: shown))
  }
}

extension ServerTrustEvaluating where Self == PinnedCertificatesTrustEvaluator {
  /// Pins the certificates in the main bundle.
  public static var pinnedCertificates: PinnedCertificatesTrustEvaluator { PinnedCertificatesTrustEvaluator() }

  /// Pins certificates; the parameters are those of ``PinnedCertificatesTrustEvaluator``.
  public static func pinnedCertificates(
    certificates: [SecCertificate] = Bundle.main.af.certificates, acceptSelfSignedCertificates: Bool = false,
    performDefaultValidation: Bool = true, validateHost: Bool = true
  ) -> PinnedCertificatesTrustEvaluator {
    PinnedCertificatesTrustEvaluator(
      certificates: certificates, acceptSelfSignedCertificates: acceptSelfSignedCertificates,
      performDefaultValidation: performDefaultValidation, validateHost: validateHost)
  }
}

/// Accepts a server whose chain has a certificate with one of the pinned keys in it, which outlives the certificate if it
/// is issued anew for the same key.
public final class PublicKeysTrustEvaluator: ServerTrustEvaluating {
  private let keys: [SecKey]
  private let performDefaultValidation: Bool
  private let validateHost: Bool

  /// Makes an evaluator.
  ///
  /// - Parameters:
  ///   - keys: the pinned ones: the server's own, or its authority's; those of certificates in the main bundle by default.
  ///   - performDefaultValidation: whether the chain must be good.
  ///   - validateHost: whether the chain must be good and name the host, also without `performDefaultValidation`.
  public init(
    keys: [SecKey] = Bundle.main.af.publicKeys, performDefaultValidation: Bool = true, validateHost: Bool = true
  ) {
    self.keys = keys
    self.performDefaultValidation = performDefaultValidation
    self.validateHost = validateHost
  }

  /// Throws if there are no pins, if the validation that is asked for fails, or if no pinned key is in the chain.
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
  /// Pins the keys of the certificates in the main bundle.
  public static var publicKeys: PublicKeysTrustEvaluator { PublicKeysTrustEvaluator() }

  /// Pins keys; the parameters are those of ``PublicKeysTrustEvaluator``.
  public static func publicKeys(
    keys: [SecKey] = Bundle.main.af.publicKeys, performDefaultValidation: Bool = true, validateHost: Bool = true
  ) -> PublicKeysTrustEvaluator {
    PublicKeysTrustEvaluator(keys: keys, performDefaultValidation: performDefaultValidation, validateHost: validateHost)
  }
}
