// CertificateVerifier+ServerTrust: trust evaluation by the layer above, and the way in which its error reaches the request.

import Foundation
import LupineEngine

/// Evaluates a server's trust during the handshake, on the loop's thread.
///
/// Returns true if the server is accepted, and false if there is no evaluator for this
/// host. Throws the reason why the server is refused.
package typealias ServerTrustEvaluation = @Sendable (_ trust: SecTrust, _ host: String) throws -> Bool

/// The reason why an evaluation refused a server, in the form in which it passes through the engine.
private struct ServerTrustRefusal: Error, CustomStringConvertible {
  let reason: any Error
  var description: String { reason.localizedDescription }
}

extension CertificateVerifier {
  /// Creates a verifier that calls `own` and then, unless `own` has refused the server, `evaluate`. If `evaluate` returns false,
  /// the decision of `own` applies, or OpenSSL's if `own` is nil.
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
  /// The reason why a ``ServerTrustEvaluation`` refused the server, if this ended the task, or nil.
  package var serverTrustRefusal: (any Error)? {
    guard let error = (self as? URLError)?.userInfo[NSUnderlyingErrorKey] as? EngineError,
      case .tls(let error) = error.cause
    else { return nil }
    return (error.verifierError as? ServerTrustRefusal)?.reason
  }
}
