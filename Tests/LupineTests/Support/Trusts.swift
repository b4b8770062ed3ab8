// Functions for tests of trust evaluation: the reason why an evaluator refuses a server.

import LupineTLS
import Testing

@testable import Lupine
@testable import LupineURLSession

/// Returns the reason why trust evaluation failed. Records an issue and throws for any other error.
func trustFailure(
  _ error: (any Error)?, sourceLocation: SourceLocation = #_sourceLocation
) throws -> AFError.ServerTrustFailureReason {
  guard case .serverTrustEvaluationFailed(let reason)? = error as? AFError else {
    Issue.record("not a server trust failure: \(String(describing: error))", sourceLocation: sourceLocation)
    throw error ?? CancellationError()
  }
  return reason
}

/// Evaluates the trust, and returns the reason for which the evaluator refuses the server. Records an issue and throws if the
/// evaluator accepts the server.
func trustFailure(
  of evaluator: some ServerTrustEvaluating, _ trust: SecTrust, _ host: String = "localhost",
  sourceLocation: SourceLocation = #_sourceLocation
) throws -> AFError.ServerTrustFailureReason {
  do {
    try evaluator.evaluate(trust, forHost: host)
  } catch {
    return try trustFailure(error, sourceLocation: sourceLocation)
  }
  return try trustFailure(nil, sourceLocation: sourceLocation)
}

/// Returns OpenSSL's error code if the reason is an error from OpenSSL, and nil for any other reason.
func verdict(_ reason: AFError.ServerTrustFailureReason) -> TLSError.Code? {
  guard case .trustEvaluationFailed(let error) = reason else { return nil }
  return (error as? TLSError)?.code
}
