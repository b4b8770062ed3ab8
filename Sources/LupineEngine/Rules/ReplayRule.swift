// ReplayRule: decides whether the engine replays a request on another connection (RFC 9110 §9.2.2, RFC 9112 §9.3.1).

/// Decides whether the engine replays a request after a reused connection was lost.
///
/// The server may have closed the connection just before the request was sent. The engine replays the request if none of it was
/// sent, or if it is idempotent and no byte of a response was received. The body must be replayable too.
enum ReplayRule {
  static func allows(_ error: EngineError, isIdempotent: Bool, hasReplayableBody: Bool) -> Bool {
    guard error.wasReused, error.code == .connectionLost, hasReplayableBody else { return false }
    switch error.progress {
    case .nothingSent: return true
    case .sent: return isIdempotent
    case .responseBegan: return false
    }
  }
}
