// URLSession.AuthChallengeDisposition: a delegate's decision about a challenge.

extension URLSession {
  /// A delegate's decision about a challenge.
  public enum AuthChallengeDisposition: Int, Sendable {
    /// The credential passed with the answer is sent. Without one, the 401 response is the final one.
    case useCredential = 0
    /// The proposed credential is sent once. Without one, or after a refusal, the 401 response is the final one.
    case performDefaultHandling = 1
    /// The request fails with `URLError.cancelled`.
    case cancelAuthenticationChallenge = 2
    /// No credential is sent: the 401 response is the final one.
    case rejectProtectionSpace = 3
  }
}
