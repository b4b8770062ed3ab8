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

// Unchecked because the class is open. All state is constant.
/// A request for a credential by a server or proxy.
open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
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

  private struct Content {
    var space: URLProtectionSpace
    var proposedCredential: URLCredential?
    var previousFailureCount: Int
    var failureResponse: URLResponse?
    var error: (any Error)?
    var sender: (any URLAuthenticationChallengeSender)?
  }

  private let content: Content

  /// The protection space that requires a credential, including the authentication method.
  open var protectionSpace: URLProtectionSpace { content.space }
  /// The credential that default handling sends. Nil if the session's credential storage has no default credential for the
  /// protection space.
  open var proposedCredential: URLCredential? { content.proposedCredential }
  /// The number of credentials that the server has refused for this request.
  open var previousFailureCount: Int { content.previousFailureCount }
  /// The response that requires a credential, or nil if the challenge doesn't come from a response.
  open var failureResponse: URLResponse? { content.failureResponse }
  /// The error that caused the challenge, or nil if there was none.
  open var error: (any Error)? { content.error }
  /// The sender passed to the initializer, or nil for a challenge created by a session.
  open var sender: (any URLAuthenticationChallengeSender)? { content.sender }
  /// Answers the challenge with a credential, and returns the outcome.
  final let response: @Sendable (URLCredential) -> Outcome

  /// Creates a challenge.
  public init(
    protectionSpace space: URLProtectionSpace, proposedCredential credential: URLCredential?,
    previousFailureCount: Int, failureResponse response: URLResponse?, error: (any Error)?,
    sender: any URLAuthenticationChallengeSender
  ) {
    content = Content(
      space: space, proposedCredential: credential, previousFailureCount: previousFailureCount,
      failureResponse: response, error: error, sender: sender)
    self.response = { _ in .stand }
    super.init()
  }

  /// Creates a copy of a challenge with another sender.
  public init(
    authenticationChallenge challenge: URLAuthenticationChallenge, sender: any URLAuthenticationChallengeSender
  ) {
    content = Content(
      space: challenge.protectionSpace, proposedCredential: challenge.proposedCredential,
      previousFailureCount: challenge.previousFailureCount, failureResponse: challenge.failureResponse,
      error: challenge.error, sender: sender)
    response = challenge.response
    super.init()
  }

  /// A textual description: the protection space, the proposed credential's user name, and the number of refused credentials.
  open override var description: String {
    "URLAuthenticationChallenge(\(protectionSpace), proposed: \(proposedCredential?.description ?? "none"), "
      + "previous failures: \(previousFailureCount))"
  }

  /// Creates a session's challenge, which has no sender. By default, no credential can be sent to it.
  init(
    protectionSpace: URLProtectionSpace, proposedCredential: URLCredential?, previousFailureCount: Int,
    failureResponse: URLResponse?, error: (any Error)? = nil,
    response: @escaping @Sendable (URLCredential) -> Outcome = { _ in .stand }
  ) {
    content = Content(
      space: protectionSpace, proposedCredential: proposedCredential, previousFailureCount: previousFailureCount,
      failureResponse: failureResponse, error: error)
    self.response = response
    super.init()
  }
}
