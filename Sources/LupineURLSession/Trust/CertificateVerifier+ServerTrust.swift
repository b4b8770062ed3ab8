// CertificateVerifier+ServerTrust: trust evaluation by the layer above, whose error is carried back to the request.

import Foundation
import LupineEngine

/// Evaluates a server's trust during the handshake, on the loop's thread.
///
/// Returns true to accept the server, or false to leave the decision to the default verification. Throws the reason for
/// refusing the server.
package typealias ServerTrustEvaluation = @Sendable (_ trust: SecTrust, _ host: String) throws -> Bool

/// An evaluation's reason for refusing a server, as it passes through the engine.
private struct ServerTrustRefusal: Error, CustomStringConvertible {
  let reason: any Error
  var description: String { reason.localizedDescription }
}

extension CertificateVerifier {
  /// Creates a verifier that calls `evaluate` unless `own` refuses the server. If `evaluate` returns false, `own` decides,
  /// or OpenSSL if `own` is nil.
  convenience init(_ evaluate: @escaping ServerTrustEvaluation, after own: CertificateVerifier?) {
    self.init { evidence in
      let decision = try own?.decide(evidence) ?? .asFound
      if case .refuse = decision { return decision }
      do {
        return try evaluate(SecTrust(evidence), evidence.host) ? .accept : decision
      } catch {
        throw ServerTrustRefusal(reason: error)
      }
    }
  }
}

extension Error {
  /// The reason with which a ``ServerTrustEvaluation`` refused the server, or nil if something else ended the task.
  package var serverTrustRefusal: (any Error)? {
    guard let error = (self as? URLError)?.userInfo[NSUnderlyingErrorKey] as? EngineError,
      case .tls(let error) = error.cause
    else { return nil }
    return (error.verifierError as? ServerTrustRefusal)?.reason
  }
}
