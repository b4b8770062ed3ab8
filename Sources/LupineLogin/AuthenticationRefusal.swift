// AuthenticationRefusal: the refusal of a request that may succeed with a credential, its challenges, and the verdict on a
// response.

package import LupineAuthentication
package import LupineEngine

/// The reason why a server refused a request that may succeed if the client sends it again with a credential.
package enum AuthenticationRefusal: Sendable {
  /// The origin or the proxy sent a response with status code 401 or 407. The associated value is its head.
  case response(ResponseHead)
  /// The proxy answered CONNECT with 407, so the exchange failed with this error. The 407 response isn't delivered to the caller,
  /// because it isn't the origin's response.
  case tunnel([Challenge], EngineError)
  /// The request wasn't sent, because the authenticated connection that it requires is no longer open, or because its credentials
  /// can't open another tunnel.
  case missingConnection(EngineError)

  /// Creates a refusal from the error of a failed exchange. Returns nil if a credential wouldn't help the request to succeed.
  package init?(_ failure: EngineError) {
    if case .proxy(let error)? = failure.cause, !error.challenges.isEmpty {
      self = .tunnel(error.challenges, failure)
    } else if failure.code == .connectionLost, failure.phase == .poolWait {
      self = .missingConnection(failure)
    } else {
      return nil
    }
  }
}

/// The challenges with which an origin or a proxy refused a request.
package struct AuthenticationQuestion: Sendable {
  /// The origin or the proxy that sent the challenges and receives the credential.
  package let party: AuthenticationParty
  /// The challenges that the client is able and allowed to answer, strongest first.
  package let offers: [AuthenticationOffer]
  /// The refused request.
  package let request: EngineRequest
}

/// Whether a response may be delivered to the caller, according to the authentication.
package enum ResponseVerdict: Sendable, Hashable {
  /// The response may be delivered. If the server has accepted a credential, it has proven its own identity as far as necessary.
  case trusted
  /// The response must not be delivered. The origin or the proxy accepted the credential, but its proof of identity is missing or
  /// wrong.
  case untrusted
  /// The response isn't delivered. Its request carried the first NTLM message, and was therefore sent without its content. The
  /// request is sent again with the content.
  case resend
}
