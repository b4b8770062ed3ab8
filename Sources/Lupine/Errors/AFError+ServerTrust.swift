// `ServerTrustFailureReason`: the reasons why a server was not trusted, with descriptions and underlying errors.

import Foundation
public import LupineURLSession

extension AFError {
  /// The reason why a server was not trusted.
  public enum ServerTrustFailureReason: Sendable {
    /// The ``ServerTrustManager`` requires an evaluator for each host, but has none for `host`.
    case noRequiredEvaluator(host: String)
    /// A ``PinnedCertificatesTrustEvaluator`` has no pinned certificates.
    case noCertificatesFound
    /// A ``PublicKeysTrustEvaluator`` has no pinned keys.
    case noPublicKeysFound
    /// OpenSSL rejected the certificate chain, or the chain is for another host. `error` is a `TLSError`.
    case trustEvaluationFailed(error: (any Error)?)
    /// None of the certificates in the server's certificate chain is pinned.
    case certificatePinningFailed(
      host: String, trust: SecTrust, pinnedCertificates: [SecCertificate], serverCertificates: [SecCertificate])
    /// None of the public keys in the server's certificate chain is pinned.
    case publicKeyPinningFailed(host: String, trust: SecTrust, pinnedKeys: [SecKey], serverKeys: [SecKey])
    /// A certificate in the server's chain has been revoked, or no verified answer about a certificate was received although
    /// `options` require one.
    case revocationCheckFailed(output: Output, options: RevocationTrustEvaluator.Options)
    /// The options of a ``RevocationTrustEvaluator`` select no method of checking, or contain an unknown bit.
    case revocationPolicyCreationFailed
    /// A custom ``ServerTrustEvaluating`` type threw `error` to reject the server.
    case customEvaluationFailed(error: any Error)

    /// The details of a failed revocation check.
    public struct Output: Sendable {
      /// The host whose server was evaluated.
      public let host: String
      /// The trust object with the server's certificates.
      public let trust: SecTrust
      /// The Security framework's code for the failure, such as -67820 for a revoked certificate.
      public let status: OSStatus
      /// The Security framework's result of the evaluation.
      public let result: SecTrustResultType

      init(_ host: String, _ trust: SecTrust, _ status: OSStatus, _ result: SecTrustResultType) {
        self.host = host
        self.trust = trust
        self.status = status
        self.result = result
      }
    }
  }
}

extension AFError.ServerTrustFailureReason {
  var sentence: String {
    switch self {
    case .noRequiredEvaluator(let host):
      "\(host) was not trusted because the ServerTrustManager has no evaluator for it. Add one, or create the manager with "
        + "allHostsMustBeEvaluated: false."
    case .noCertificatesFound:
      "The server was not trusted because there are no pinned certificates. Pass certificates to the evaluator, or add them to "
        + "the main bundle as DER-encoded .cer files."
    case .noPublicKeysFound:
      "The server was not trusted because there are no pinned keys. Pass keys to the evaluator, or add certificates with these "
        + "keys to the main bundle as DER-encoded .cer files."
    case .trustEvaluationFailed(let error):
      error?.sentence("The server was not trusted")
        ?? "The server was not trusted: its certificates were rejected. Inspect them with openssl s_client -showcerts."
    case .certificatePinningFailed(let host, _, let pinned, let shown):
      "\(host) was not trusted because none of the \(shown.count) certificates in its chain is pinned (pinned "
        + "certificates: \(pinned.count)). If the server's certificate was renewed, pin the new certificate; otherwise, an "
        + "attacker may be intercepting the connection."
    case .publicKeyPinningFailed(let host, _, let pinned, let shown):
      "\(host) was not trusted because none of the \(shown.count) keys in its chain is pinned (pinned keys: "
        + "\(pinned.count)). If the server's key was changed, pin the new key; otherwise, an attacker "
        + "may be intercepting the connection."
    case .revocationCheckFailed(let output, _):
      output.trust.revocationFailure.map { "\(output.host) was not trusted: \($0.description)" }
        ?? "\(output.host) was not trusted: its certificates failed the revocation check."
    case .revocationPolicyCreationFailed:
      "The server was not trusted because the options of the revocation check contain no method, or an unknown flag. "
        + "Pass .ocsp, .crl or .any."
    case .customEvaluationFailed(let error):
      error.sentence(
        "The trust evaluator rejected the server",
        remedy: "Inspect the server's certificates with openssl s_client -showcerts.")
    }
  }
}
