// Why a server was not trusted: the reasons, their sentences, and the error beneath.

import Foundation
public import LupineURLSession

extension AFError {
  /// Why a server was not trusted.
  public enum ServerTrustFailureReason: Sendable {
    /// The ``ServerTrustManager`` has no evaluator for the host, and must have one for all.
    case noRequiredEvaluator(host: String)
    /// There are no certificates to compare the server's with.
    case noCertificatesFound
    /// There are no keys to compare the server's with.
    case noPublicKeysFound
    /// OpenSSL refuses the chain, or the chain names another host; its error, a `TLSError`, is attached.
    case trustEvaluationFailed(error: (any Error)?)
    /// None of the certificates of the server's chain is a pinned one.
    case certificatePinningFailed(
      host: String, trust: SecTrust, pinnedCertificates: [SecCertificate], serverCertificates: [SecCertificate])
    /// None of the keys of the server's chain is a pinned one.
    case publicKeyPinningFailed(host: String, trust: SecTrust, pinnedKeys: [SecKey], serverKeys: [SecKey])
    /// An evaluator of the caller's failed with its own error.
    case customEvaluationFailed(error: any Error)
  }
}

extension AFError.ServerTrustFailureReason {
  var sentence: String {
    switch self {
    case .noRequiredEvaluator(let host):
      "\(host) was not trusted, for there is no evaluator for it. Add one to the ServerTrustManager, or make it with "
        + "allHostsMustBeEvaluated: false."
    case .noCertificatesFound:
      "The server was not trusted, for there are no pinned certificates. Pass some, or put them into the main bundle, in "
        + "DER, as .cer files."
    case .noPublicKeysFound:
      "The server was not trusted, for there are no pinned keys. Pass some, or put certificates with them into the main "
        + "bundle, in DER, as .cer files."
    case .trustEvaluationFailed(let error):
      error?.sentence("The server was not trusted") ?? "The server was not trusted; its certificates were refused."
    case .certificatePinningFailed(let host, _, let pinned, let shown):
      "\(host) was not trusted, for none of the \(shown.count) certificates in its chain is one of the \(pinned.count) that "
        + "are pinned. Pin another one if the server's was renewed; if not, somebody may be listening."
    case .publicKeyPinningFailed(let host, _, let pinned, let shown):
      "\(host) was not trusted, for none of the \(shown.count) keys in its chain is one of the \(pinned.count) that are "
        + "pinned. Pin another one if the server's was changed; if not, somebody may be listening."
    case .customEvaluationFailed(let error):
      error.sentence("The server was not trusted by its evaluator")
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
