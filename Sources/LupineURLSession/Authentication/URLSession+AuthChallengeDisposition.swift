// What a session's delegate may answer to a challenge.

extension URLSession {
  /// What is done about a challenge.
  public enum AuthChallengeDisposition: Int, Sendable {
    /// The credential is shown that comes with the answer; without one the response stands as it is.
    case useCredential = 0
    /// The proposed credential is shown once; without one the response stands as it is.
    case performDefaultHandling = 1
    /// The request fails with `URLError.cancelled`.
    case cancelAuthenticationChallenge = 2
    /// No credential is shown: the response stands as it is.
    case rejectProtectionSpace = 3
  }
}
