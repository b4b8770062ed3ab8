// ServerTrustEvaluating: the protocol of trust evaluators.

public import LupineURLSession

/// A type that decides, during the TLS handshake, whether a server is trusted.
public protocol ServerTrustEvaluating: Sendable {
  /// Throws any error to reject the server. If the method returns, the server is accepted, even if OpenSSL rejects its
  /// certificates. An error that isn't an ``AFError`` becomes `AFError.ServerTrustFailureReason.customEvaluationFailed(error:)`.
  ///
  /// The method is called during a TLS handshake, which waits for it within the handshake's time limit. It may block, because it
  /// runs on a thread that serves no connections. Several threads may call it at the same time. It isn't called for resumed TLS
  /// sessions.
  func evaluate(_ trust: SecTrust, forHost host: String) throws
}
