// `ServerTrustFailureReason`: the reasons why a server was not trusted, with descriptions and underlying errors.

import Foundation
public import LupineURLSession

extension AFError {
  /// The reason why a server was not trusted.
  public enum ServerTrustFailureReason: Sendable {
    /// The ``ServerTrustManager`` requires an evaluator for each host, but has none for this one.
    case noRequiredEvaluator(host: String)
    /// The evaluator has no pinned certificates.
    case noCertificatesFound
    /// The evaluator has no pinned keys.
    case noPublicKeysFound
    /// OpenSSL rejected the certificate chain, or the chain is for another host. `error` is a `TLSError`.
    case trustEvaluationFailed(error: (any Error)?)
    /// None of the certificates in the server's chain is pinned.
    case certificatePinningFailed(
      host: String, trust: SecTrust, pinnedCertificates: [SecCertificate], serverCertificates: [SecCertificate])
    /// None of the keys in the server's chain is pinned.
    case publicKeyPinningFailed(host: String, trust: SecTrust, pinnedKeys: [SecKey], serverKeys: [SecKey])
    /// A custom evaluator failed with its own error.
    case customEvaluationFailed(error: any Error)
  }
}

extension AFError.ServerTrustFailureReason {
  var sentence: String {
    switch self {
    case .noRequiredEvaluator(let host):
      "\(host) was not trusted because it has no evaluator. Add one to the ServerTrustManager, or create it with "
        + "allHostsMustBeEvaluated: false."
    case .noCertificatesFound:
      "The server was not trusted because there are no pinned certificates. Pass some, or add them to the main bundle "
        + "as .cer files in DER."
    case .noPublicKeysFound:
      "The server was not trusted because there are no pinned keys. Pass some, or add certificates with them to the "
        + "main bundle as .cer files in DER."
    case .trustEvaluationFailed(let error):
      error?.sentence("The server was not trusted") ?? "The server was not trusted: its certificates were rejected."
    case .certificatePinningFailed(let host, _, let pinned, let shown):
      "\(host) was not trusted because none of the \(shown.count) certificates in its chain is among the "
        + "\(pinned.count) pinned ones. If the server's certificate was renewed, pin the new one; otherwise, the "
        + "connection may be intercepted."
    case .publicKeyPinningFailed(let host, _, let pinned, let shown):
      "\(host) was not trusted because none of the \(shown.count) keys in its chain is among the \(pinned.count) "
        + "pinned ones. If the server's key was changed, pin the new one; otherwise, the connection may be intercepted."
    case .customEvaluationFailed(let error):
      error.sentence("The server's evaluator did not trust it")
    }
  }

  var underlyingError: (any Error)? {
    switch self {
    case .trustEvaluationFailed(let error): error
    case .customEvaluationFailed(let error): error
    case .noRequiredEvaluator, .noCertificatesFound, .noPublicKeysFound, .certificatePinningFailed,
      .publicKeyPinningFailed:
      nil
    }
  }
}
