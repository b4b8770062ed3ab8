// When a request is sent again without asking (RFC 9110 §9.2.2, RFC 9112 §9.3.1).

/// A kept connection may have been closed by the server just when it was used again. Then, and only then, is the
/// request repeated: if nothing of it was sent, or if repeating does no harm and no byte of a response came. The body
/// has to be there again.
enum ReplayRule {
  static func allows(_ error: EngineError, isIdempotent: Bool, hasReplayableBody: Bool) -> Bool {
    guard error.wasReused, error.code == .connectionLost, hasReplayableBody else { return false }
    switch error.delivery {
    case .nothingSent: return true
    case .sent: return isIdempotent
    case .responseBegan: return false
    }
  }
}
