// URLAuthenticationChallenge: a request for a credential by a server or proxy, which the session's delegate answers.

public import Foundation
import LupineEngine

/// The object that created an authentication challenge. The receiver of the challenge answers it by calling one of these methods.
///
/// A challenge that a session creates has no sender: the session's delegate answers it by calling a completion handler instead.
public protocol URLAuthenticationChallengeSender: NSObjectProtocol, Sendable {
  /// Answers the challenge with a credential.
  func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge)
  /// Continues the request without a credential.
  func continueWithoutCredential(for challenge: URLAuthenticationChallenge)
  /// Cancels the request that caused the challenge.
  func cancel(_ challenge: URLAuthenticationChallenge)
  /// Handles the challenge as if the session had no delegate.
  func performDefaultHandling(for challenge: URLAuthenticationChallenge)
  /// Rejects this challenge, and continues with the next authentication scheme that the response offers.
  func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge)
}

// Unchecked because the class is open. All state is constant.
/// A request of a server or proxy for a credential, which the session passes to its delegate.
open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
  /// The session's next step after the delegate has answered a challenge.
  enum Outcome: Sendable, Equatable {
    /// The session sends the request again, with this value in the Authorization field.
    case authorize(String)
    /// The session sends the request again, and the task's authentication adds the credential.
    case resend
    /// The session sends the request with this client certificate, or without a client certificate. If `isRemembered` is true, the
    /// session's other tasks use the same certificate for this origin.
    case identify(IdentityChoice, isRemembered: Bool)
    /// The delegate receives a challenge for the next scheme that the 401 or 407 response offers. If no scheme is left, the 401 or
    /// 407 response becomes the task's response.
    case reject
    /// The session sends no credential, so the 401 or 407 response becomes the task's response.
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

  /// The protection space (server or proxy, realm and authentication method) for which a credential is required.
  open var protectionSpace: URLProtectionSpace { content.space }
  /// The credential that the session sends if the delegate answers with `performDefaultHandling`: the user name and password in the
  /// request's URL, or else the storage's default credential for the protection space. Nil if there is neither. With Basic, the
  /// request has sent those in the URL without a challenge, so they aren't proposed.
  open var proposedCredential: URLCredential? { content.proposedCredential }
  /// The number of credentials that the server or proxy has refused for this request.
  open var previousFailureCount: Int { content.previousFailureCount }
  /// The 401 or 407 response that requires a credential, or nil if the challenge comes from a TLS handshake.
  open var failureResponse: URLResponse? { content.failureResponse }
  /// The error that caused the challenge, or nil if there was none.
  open var error: (any Error)? { content.error }
  /// The sender passed to the initializer, or nil for a challenge created by a session.
  open var sender: (any URLAuthenticationChallengeSender)? { content.sender }
  /// The number of credentials that the session can propose for this challenge. It proposes the next one after the server or proxy
  /// has refused the previous one.
  final let proposalCount: Int
  /// A closure that answers the challenge with a credential, and returns what the session does next.
  final let response: @Sendable (URLCredential) -> Outcome

  /// Creates a challenge with the given properties, for example to test a delegate.
  public init(
    protectionSpace space: URLProtectionSpace, proposedCredential credential: URLCredential?,
    previousFailureCount: Int, failureResponse response: URLResponse?, error: (any Error)?,
    sender: any URLAuthenticationChallengeSender
  ) {
    content = Content(
      space: space, proposedCredential: credential, previousFailureCount: previousFailureCount,
      failureResponse: response, error: error, sender: sender)
    proposalCount = 1
    self.response = { _ in .stand }
    super.init()
  }

  /// Creates a copy of a challenge with the given sender.
  public init(
    authenticationChallenge challenge: URLAuthenticationChallenge, sender: any URLAuthenticationChallengeSender
  ) {
    content = Content(
      space: challenge.protectionSpace, proposedCredential: challenge.proposedCredential,
      previousFailureCount: challenge.previousFailureCount, failureResponse: challenge.failureResponse,
      error: challenge.error, sender: sender)
    proposalCount = challenge.proposalCount
    response = challenge.response
    super.init()
  }

  /// A textual description of the challenge: the protection space, the proposed credential, and the number of refused credentials.
  /// It doesn't contain the password.
  open override var description: String {
    "URLAuthenticationChallenge(\(protectionSpace), proposed: \(proposedCredential?.description ?? "none"), "
      + "previous failures: \(previousFailureCount))"
  }

  /// Creates a challenge that a session passes to its delegate. Such a challenge has no sender. `response` returns what the session
  /// does with the delegate's credential. By default, the session ignores the credential, and the 401 or 407 response becomes the
  /// task's response.
  init(
    protectionSpace: URLProtectionSpace, proposedCredential: URLCredential?, proposalCount: Int = 1,
    previousFailureCount: Int, failureResponse: URLResponse?, error: (any Error)? = nil,
    response: @escaping @Sendable (URLCredential) -> Outcome = { _ in .stand }
  ) {
    content = Content(
      space: protectionSpace, proposedCredential: proposedCredential, previousFailureCount: previousFailureCount,
      failureResponse: failureResponse, error: error)
    self.proposalCount = proposalCount
    self.response = response
    super.init()
  }
}
