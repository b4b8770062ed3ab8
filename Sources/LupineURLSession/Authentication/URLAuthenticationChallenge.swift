// URLAuthenticationChallenge: a server's request for a credential, as the session's delegate receives it.

public import Foundation

/// The source of a challenge, which receives the decision about it.
///
/// A session's challenges have no sender. They are answered through the completion handler of the delegate's method.
public protocol URLAuthenticationChallengeSender: NSObjectProtocol, Sendable {
  /// Sends a credential.
  func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge)
  /// Continues without a credential.
  func continueWithoutCredential(for challenge: URLAuthenticationChallenge)
  /// Cancels the request.
  func cancel(_ challenge: URLAuthenticationChallenge)
  /// Handles the challenge as if there were no delegate.
  func performDefaultHandling(for challenge: URLAuthenticationChallenge)
  /// Rejects this challenge and continues with the next challenge of the response.
  func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge)
}

/// A server's request for a credential.
public final class URLAuthenticationChallenge: NSObject, Sendable {
  /// The outcome of an answer to a challenge.
  enum Outcome: Sendable, Equatable {
    /// The request is sent again with this value of Authorization.
    case authorize(String)
    /// The 401 response is delivered as the final response.
    case stand
    /// The request fails with `URLError.cancelled`.
    case cancel
  }

  /// The space that requires a credential, and the authentication method.
  public let protectionSpace: URLProtectionSpace
  /// The credential from the session's credential storage that default handling sends, or nil if the storage contains none.
  public let proposedCredential: URLCredential?
  /// The number of credentials that the server has refused for this request.
  public let previousFailureCount: Int
  /// The response that requires a credential, or nil if the challenge doesn't come from a response.
  public let failureResponse: URLResponse?
  /// The error that caused the challenge, or nil if there was none.
  public let error: (any Error)?
  /// The sender that the caller has set, or nil for the challenges of a session.
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

  /// Creates a challenge. By default, it has no sender, and no credential can be sent to it.
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
