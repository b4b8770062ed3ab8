// URLAuthenticationChallenge: a request for a credential by a server or proxy, which the session's delegate answers.

public import Foundation
import LupineEngine

/// The source of a challenge, to which the receiver sends its decision.
///
/// The challenges of a session have no sender. A delegate answers them by calling the completion handler of its method.
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

/// A request for a credential by a server or proxy.
public final class URLAuthenticationChallenge: NSObject, Sendable {
  /// The outcome of an answer to a challenge.
  enum Outcome: Sendable, Equatable {
    /// The request is sent again with this value in its Authorization field.
    case authorize(String)
    /// The request is sent again; the task's authentication adds the credential.
    case resend
    /// The request is sent with this client certificate, or with none. The session remembers it if `isRemembered` is true.
    case identify(IdentityChoice, isRemembered: Bool)
    /// The delegate receives a challenge for the next scheme that the response offers. If there is none, the response is the
    /// task's response.
    case reject
    /// The 401 or 407 response is the task's response.
    case stand
    /// The request fails with `URLError.cancelled`.
    case cancel
  }

  /// The protection space that requires a credential, including the authentication method.
  public let protectionSpace: URLProtectionSpace
  /// The credential that default handling sends. Nil if the session's credential storage has no default credential for the
  /// protection space.
  public let proposedCredential: URLCredential?
  /// The number of credentials that the server has refused for this request.
  public let previousFailureCount: Int
  /// The response that requires a credential, or nil if the challenge doesn't come from a response.
  public let failureResponse: URLResponse?
  /// The error that caused the challenge, or nil if there was none.
  public let error: (any Error)?
  /// The sender passed to the initializer, or nil for a challenge created by a session.
  public let sender: (any URLAuthenticationChallengeSender)?
  /// Answers the challenge with a credential, and returns the outcome.
  let response: @Sendable (URLCredential) -> Outcome

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
      error: challenge.error, anySender: sender, response: challenge.response)
  }

  /// A textual description: the protection space, the proposed credential's user name, and the number of refused credentials.
  public override var description: String {
    "URLAuthenticationChallenge(\(protectionSpace), proposed: \(proposedCredential?.description ?? "none"), "
      + "previous failures: \(previousFailureCount))"
  }

  /// Creates a challenge. By default, it has no sender, and no credential can be sent to it.
  init(
    protectionSpace: URLProtectionSpace, proposedCredential: URLCredential?, previousFailureCount: Int,
    failureResponse: URLResponse?, error: (any Error)? = nil, anySender: (any URLAuthenticationChallengeSender)? = nil,
    response: @escaping @Sendable (URLCredential) -> Outcome = { _ in .stand }
  ) {
    self.protectionSpace = protectionSpace
    self.proposedCredential = proposedCredential
    self.previousFailureCount = previousFailureCount
    self.failureResponse = failureResponse
    self.error = error
    sender = anySender
    self.response = response
  }
}
