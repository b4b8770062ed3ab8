// ServerTrustPolicy: decides during the TLS handshake whether a server is trusted.

public import Foundation
import Lupine
public import LupineURLSession

// Unchecked because closures of Alamofire 4's programs aren't Sendable. They are called on an engine thread.
/// The rule by which a server is trusted, evaluated during the TLS handshake.
public enum ServerTrustPolicy: @unchecked Sendable {
  /// The certificate chain must be valid. If `validateHost` is true, it must be valid for the host.
  case performDefaultEvaluation(validateHost: Bool)
  /// The default evaluation must succeed, and no certificate of the chain may be revoked. The flags are those of Apple's
  /// SecPolicyCreateRevocation, such as 1 for OCSP and 2 for revocation lists.
  case performRevokedEvaluation(validateHost: Bool, revocationFlags: UInt)
  /// The chain must contain one of these certificates. If `validateCertificateChain` is true, the chain must also be valid,
  /// with these certificates as the only trust anchors.
  case pinCertificates(certificates: [SecCertificate], validateCertificateChain: Bool, validateHost: Bool)
  /// The chain must contain one of these public keys. If `validateCertificateChain` is true, the chain must also be valid.
  case pinPublicKeys(publicKeys: [SecKey], validateCertificateChain: Bool, validateHost: Bool)
  /// Every server is trusted, so that anyone on the network path can read and change the data.
  case disableEvaluation
  /// The closure receives the server's certificates and the host, and decides whether the server is trusted.
  case customEvaluation((_ serverTrust: SecTrust, _ host: String) -> Bool)

  /// Returns the certificates in a bundle's resources: DER files with the extension cer, crt or der.
  public static func certificates(in bundle: Bundle = .main) -> [SecCertificate] { bundle.af.certificates }

  /// Returns the public keys of the certificates in a bundle's resources.
  public static func publicKeys(in bundle: Bundle = .main) -> [SecKey] { bundle.af.publicKeys }

  /// Returns whether the policy trusts the server.
  public func evaluate(_ serverTrust: SecTrust, forHost host: String) -> Bool {
    let evaluator: any ServerTrustEvaluating
    switch self {
    case .disableEvaluation: return true
    case .customEvaluation(let decide): return decide(serverTrust, host)
    case .performDefaultEvaluation(let validatesHost): evaluator = DefaultTrustEvaluator(validateHost: validatesHost)
    case .performRevokedEvaluation(let validatesHost, let flags):
      evaluator = RevocationTrustEvaluator(
        validateHost: validatesHost, options: RevocationTrustEvaluator.Options(rawValue: flags))
    // As in Alamofire 4, the host is validated only together with the chain.
    case .pinCertificates(let certificates, let validatesChain, let validatesHost):
      evaluator = PinnedCertificatesTrustEvaluator(
        certificates: certificates, acceptSelfSignedCertificates: validatesChain,
        performDefaultValidation: validatesChain, validateHost: validatesChain && validatesHost)
    case .pinPublicKeys(let keys, let validatesChain, let validatesHost):
      evaluator = PublicKeysTrustEvaluator(
        keys: keys, performDefaultValidation: validatesChain, validateHost: validatesChain && validatesHost)
    }
    do {
      try evaluator.evaluate(serverTrust, forHost: host)
      return true
    } catch {
      return false
    }
  }
}
