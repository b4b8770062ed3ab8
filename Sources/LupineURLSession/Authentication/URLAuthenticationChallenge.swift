// A server's or a proxy's demand for a credential, as a session hands it to its delegate.

public import Foundation

/// Who made a challenge, and is told what to do about it.
public protocol URLAuthenticationChallengeSender: NSObjectProtocol, Sendable {
  /// Shows a credential.
  func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge)
  /// Goes on without one.
  func continueWithoutCredential(for challenge: URLAuthenticationChallenge)
  /// Gives the request up.
  func cancel(_ challenge: URLAuthenticationChallenge)
  /// Does what is done if nobody is asked.
  func performDefaultHandling(for challenge: URLAuthenticationChallenge)
  /// Goes on to the response's next challenge.
  func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge)
}

/// A demand for a credential.
public final class URLAuthenticationChallenge: NSObject, Sendable {
  /// What follows from an answer.
  enum Outcome: Sendable, Equatable {
    /// The request is sent again, with that value of Authorization.
    case authorize(String)
    /// The response that asked stands as it is.
    case stand
    /// The request fails with `URLError.cancelled`.
    case cancel
  }

  /// Where the credential is asked for, and how it would be shown.
  public let protectionSpace: URLProtectionSpace
  /// The credential that is shown if nobody says otherwise; nil if none is known.
  public let proposedCredential: URLCredential?
  /// How many credentials the request has shown in vain.
  public let previousFailureCount: Int
  /// The response that asks for a credential; nil if it isn't a response that does.
  public let failureResponse: URLResponse?
  /// What went wrong before, if it was an error.
  public let error: (any Error)?
  /// Who made the challenge; nil for a session's own, which are answered by the completion handler.
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

  /// Creates a challenge like another one, but of that sender.
  public convenience init(
    authenticationChallenge challenge: URLAuthenticationChallenge, sender: any URLAuthenticationChallengeSender
  ) {
    self.init(
      protectionSpace: challenge.protectionSpace, proposedCredential: challenge.proposedCredential,
      previousFailureCount: challenge.previousFailureCount, failureResponse: challenge.failureResponse,
      error: challenge.error, anySender: sender)
  }

  /// The protection space, the user of the proposed credential, and how many credentials were refused before.
  public override var description: String {
    "URLAuthenticationChallenge(\(protectionSpace), proposed: \(proposedCredential?.description ?? "none"), "
      + "previous failures: \(previousFailureCount))"
  }

  /// A session's own challenge has no sender.
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
