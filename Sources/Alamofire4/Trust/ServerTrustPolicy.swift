// ServerTrustPolicy: decides during the TLS handshake whether a server is trusted.

public import Foundation
import Lupine
public import LupineURLSession

// Unchecked because closures of Alamofire 4's programs aren't Sendable. They are called on an engine thread.
/// The rule that decides whether a server is trusted. It is evaluated during the TLS handshake.
public enum ServerTrustPolicy: @unchecked Sendable {
  /// Trusts a server whose certificate chain is valid. If `validateHost` is true, the chain must be valid for the host.
  case performDefaultEvaluation(validateHost: Bool)
  /// Trusts a server if the default evaluation succeeds and no certificate of the chain is revoked. The flags are those of Apple's
  /// SecPolicyCreateRevocation, such as 1 for OCSP and 2 for revocation lists.
  case performRevokedEvaluation(validateHost: Bool, revocationFlags: UInt)
  /// Trusts a server whose certificate chain contains one of these certificates. If `validateCertificateChain` is true, the chain
  /// must also be valid, with these certificates as the only trust anchors.
  case pinCertificates(certificates: [SecCertificate], validateCertificateChain: Bool, validateHost: Bool)
  /// Trusts a server whose certificate chain contains one of these public keys. If `validateCertificateChain` is true, the chain
  /// must also be valid.
  case pinPublicKeys(publicKeys: [SecKey], validateCertificateChain: Bool, validateHost: Bool)
  /// Trusts every server, so that anyone on the network path can read and change the data.
  case disableEvaluation
  /// Trusts a server if the closure returns true. The closure receives the server's certificates and the host.
  case customEvaluation((_ serverTrust: SecTrust, _ host: String) -> Bool)

  /// Returns the certificates in a bundle's resources: DER files with the extension cer, crt or der.
  public static func certificates(in bundle: Bundle = .main) -> [SecCertificate] { bundle.af.certificates }

  /// Returns the public keys of the certificates in a bundle's resources.
  public static func publicKeys(in bundle: Bundle = .main) -> [SecKey] { bundle.af.publicKeys }

  /// Returns whether this policy trusts the server with the certificates `serverTrust`.
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
