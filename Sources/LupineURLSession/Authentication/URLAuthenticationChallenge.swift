// URLAuthenticationChallenge: a server's request for a credential, as the session's delegate receives it.

public import Foundation

/// The source of a challenge. It receives the decision about it.
///
/// A session's challenges have no sender: they are answered through the completion handler of the delegate's method.
public protocol URLAuthenticationChallengeSender: NSObjectProtocol, Sendable {
  /// Sends a credential.
  func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge)
  /// Continues without a credential.
  func continueWithoutCredential(for challenge: URLAuthenticationChallenge)
  /// Cancels the request.
  func cancel(_ challenge: URLAuthenticationChallenge)
  /// Handles the challenge as without a delegate.
  func performDefaultHandling(for challenge: URLAuthenticationChallenge)
  /// Rejects this challenge, and continues with the response's next one.
  func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge)
}

/// A server's request for a credential.
public final class URLAuthenticationChallenge: NSObject, Sendable {
  /// The outcome of an answer to a challenge.
  enum Outcome: Sendable, Equatable {
    /// The request is sent again with this value of Authorization.
    case authorize(String)
    /// The 401 response is the final one.
    case stand
    /// The request fails with `URLError.cancelled`.
    case cancel
  }

  /// The space that requires a credential, with the authentication method.
  public let protectionSpace: URLProtectionSpace
  /// The credential that default handling sends, from the session's credential storage, or nil if it contains none.
  public let proposedCredential: URLCredential?
  /// The number of credentials that the server has refused for this request.
  public let previousFailureCount: Int
  /// The response that requires a credential, or nil if the challenge doesn't come from a response.
  public let failureResponse: URLResponse?
  /// The error that caused the challenge, or nil if there was none.
  public let error: (any Error)?
  /// The sender that the caller has set, or nil for a session's own challenges.
  public let sender: (any URLAuthenticationChallengeSender)?
  /// Returns the value of Authorization for a credential, or nil if it can't be sent to this space.
  let authorization: @Sendable (URLCredential) -> String?

  /// Creates a challenge.
  public convenience init(
    protectionSpace space: URLProtectionSpace, proposedCredential credential: URLCredential?,
    previousFailureCount: Int, failureResponse response: URLResponse?, error: (any Error)?,
    sender: any URLAuthenticationChallengeSender
  ) {
    self.init(
      protectionSpace: space, proposedCredential: credential, previousFailureCount: previousFailureCount,
      failureResponse: response, error: error, anySender: sender)
  }

  /// Creates a copy of a challenge with another sender.
  public convenience init(
    authenticationChallenge challenge: URLAuthenticationChallenge, sender: any URLAuthenticationChallengeSender
  ) {
    self.init(
      protectionSpace: challenge.protectionSpace, proposedCredential: challenge.proposedCredential,
      previousFailureCount: challenge.previousFailureCount, failureResponse: challenge.failureResponse,
      error: challenge.error, anySender: sender, authorization: challenge.authorization)
  }

  /// The protection space, the proposed credential's user name, and the number of refused credentials.
  public override var description: String {
    "URLAuthenticationChallenge(\(protectionSpace), proposed: \(proposedCredential?.description ?? "none"), "
      + "previous failures: \(previousFailureCount))"
  }

  /// Creates a challenge: by default one without a sender, to which no credential can be sent.
  init(
    protectionSpace: URLProtectionSpace, proposedCredential: URLCredential?, previousFailureCount: Int,
    failureResponse: URLResponse?, error: (any Error)? = nil, anySender: (any URLAuthenticationChallengeSender)? = nil,
    authorization: @escaping @Sendable (URLCredential) -> String? = { _ in nil }
  ) {
    self.protectionSpace = protectionSpace
    self.proposedCredential = proposedCredential
    self.previousFailureCount = previousFailureCount
    self.failureResponse = failureResponse
    self.error = error
    sender = anySender
    self.authorization = authorization
  }
}
