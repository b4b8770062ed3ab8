// How a server trust manager has its say in a handshake, and how its error finds back to the request.

import Foundation
import LupineEngine

/// Why an evaluator has refused a server, on its way through the engine.
private struct ServerTrustRefusal: Error, CustomStringConvertible {
  let reason: AFError
  var description: String { reason.localizedDescription }
}

extension CertificateVerifier {
  /// Asks the manager. Where it has no evaluator, `own` decides, or OpenSSL without it; what `own` refuses is refused.
  convenience init(asking manager: ServerTrustManager, after own: CertificateVerifier?) {
    self.init { evidence in
      let decision = try own?.decide(evidence) ?? .asFound
      if case .refuse = decision { return decision }
      do {
        guard let evaluator = try manager.serverTrustEvaluator(forHost: evidence.host) else { return decision }
        try evaluator.evaluate(SecTrust(evidence), forHost: evidence.host)
        return .accept
      } catch {
        throw ServerTrustRefusal(
          reason: error.asAFError(or: .serverTrustEvaluationFailed(reason: .customEvaluationFailed(error: error))))
      }
    }
  }
}

extension Error {
  /// Why an evaluator has refused the server, if that is what ended a task.
  var serverTrustFailure: AFError? {
    guard let error = (self as? URLError)?.userInfo[NSUnderlyingErrorKey] as? EngineError,
      case .tls(let error) = error.cause
    else { return nil }
    return (error.verifierError as? ServerTrustRefusal)?.reason
  }
}
