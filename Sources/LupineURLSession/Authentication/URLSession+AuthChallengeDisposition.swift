// URLSession.AuthChallengeDisposition: the answers of a session's delegate to a challenge.

extension URLSession {
  /// The answer of a delegate to a challenge.
  public enum AuthChallengeDisposition: Int, Sendable {
    /// Sends the credential in the answer; without one, delivers the response with the challenge.
    case useCredential = 0
    /// Sends the proposed credential once; without one, delivers the response with the challenge.
    case performDefaultHandling = 1
    /// Fails the request with `URLError.cancelled`.
    case cancelAuthenticationChallenge = 2
    /// Sends no credential, and delivers the response with the challenge.
    case rejectProtectionSpace = 3
  }
}
