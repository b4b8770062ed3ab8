// URLAuthenticationChallenge: a request of a server for a credential, as a session passes it to its delegate.

public import Foundation

/// The object that created a challenge and receives the answer to it.
public protocol URLAuthenticationChallengeSender: NSObjectProtocol, Sendable {
  /// Answers the challenge with a credential.
  func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge)
  /// Continues without a credential.
  func continueWithoutCredential(for challenge: URLAuthenticationChallenge)
  /// Cancels the request.
  func cancel(_ challenge: URLAuthenticationChallenge)
  /// Continues as if there were no delegate.
  func performDefaultHandling(for challenge: URLAuthenticationChallenge)
  /// Rejects this challenge and continues with the response's next one.
  func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge)
}

/// A server's request for a credential.
public final class URLAuthenticationChallenge: NSObject, Sendable {
  /// The consequence of the delegate's answer to a challenge.
  enum Outcome: Sendable, Equatable {
    /// Sends the request again with this value of Authorization.
    case authorize(String)
    /// Delivers the response that contains the challenge.
    case stand
    /// Fails the request with `URLError.cancelled`.
    case cancel
  }

  /// The server, realm and authentication method that the credential is for.
  public let protectionSpace: URLProtectionSpace
  /// The credential that is sent by default; nil if none is known.
  public let proposedCredential: URLCredential?
  /// The number of credentials that the server has rejected.
  public let previousFailureCount: Int
  /// The response with the challenge; nil if the challenge didn't come from a response.
  public let failureResponse: URLResponse?
  /// The error of the previous attempt, if any.
  public let error: (any Error)?
  /// The object that created the challenge. Nil if a session created it; the completion handler answers those.
  public let sender: (any URLAuthenticationChallengeSender)?

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
      error: challenge.error, anySender: sender)
  }

  /// The protection space, the user of the proposed credential, and the number of rejected credentials.
  public override var description: String {
    "URLAuthenticationChallenge(\(protectionSpace), proposed: \(proposedCredential?.description ?? "none"), "
      + "previous failures: \(previousFailureCount))"
  }

  /// Creates a challenge. A session's challenges have no sender.
  init(
    protectionSpace: URLProtectionSpace, proposedCredential: URLCredential?, previousFailureCount: Int,
    failureResponse: URLResponse?, error: (any Error)? = nil, anySender: (any URLAuthenticationChallengeSender)? = nil
  ) {
    self.protectionSpace = protectionSpace
    self.proposedCredential = proposedCredential
    self.previousFailureCount = previousFailureCount
    self.failureResponse = failureResponse
    self.error = error
    sender = anySender
  }
}
