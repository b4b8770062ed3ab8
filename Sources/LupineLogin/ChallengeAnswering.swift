// ChallengeAnswering: how a task answers the challenges of an origin or a proxy, and which credentials a scheme can use.

package import LupineAuthentication
package import LupineEngine

/// Answers the challenges that one task receives from origins or proxies.
package protocol ChallengeAnswering: Sendable {
  /// Returns the challenges of a response that the client is able and allowed to answer, strongest first. `party` is the server
  /// that sent the response.
  func offers(in challenges: [Challenge], from party: AuthenticationParty) -> [AuthenticationOffer]
  /// Answers a challenge with the credential that the caller has chosen, and returns the next step for `request`. `credential` is
  /// nil if the chosen credential has no password.
  func respond(
    to offer: AuthenticationOffer, with credential: PasswordCredential?, for request: EngineRequest
  ) -> AuthenticationAnswer
}

/// The next step for a request after the caller has chosen a credential for a challenge.
package enum AuthenticationAnswer: Sendable, Hashable {
  /// The request is sent again with this value of Authorization.
  case authorize(String)
  /// The request is sent again; `TransferAuthentication.prepare` adds the credential.
  case resend
  /// The challenge's scheme can't use the credential. The next challenge in the same response is tried.
  case reject
  /// The request isn't sent again. The 401 or 407 response is delivered.
  case stand
}

/// The credentials that a transfer may send without calling the delegate.
package struct KnownCredentials: Sendable {
  /// Returns the credential that may be sent preemptively to an origin or a proxy, for a realm and a scheme, or nil if no
  /// credential may be sent. If the closure itself is nil, no credentials are sent preemptively.
  package var credential:
    (@Sendable (AuthenticationParty, _ realm: String?, AuthenticationOffer.Scheme) -> PasswordCredential?)?
  /// Returns the credential of a proxy's URL in normalization form C, or nil if the URL has none.
  package var proxyCredential: @Sendable (Proxy) -> PasswordCredential?
  /// The authentication schemes that may use the credential of a proxy's URL. All by default.
  package var proxySchemes: Set<AuthenticationOffer.Scheme> = [.basic, .digest, .ntlm, .negotiate]
  /// Whether the credential of a proxy's URL is sent preemptively with Basic, without waiting for the proxy's challenge. True by
  /// default.
  package var sendsProxyCredentialFirst = true

  /// Creates known credentials that consist only of the credentials in the URLs of proxies.
  package init(proxyCredential: @escaping @Sendable (Proxy) -> PasswordCredential?) {
    self.proxyCredential = proxyCredential
  }
}

extension PasswordCredential {
  /// Returns whether a scheme can use the credential. NTLM requires a user name. Negotiate requires an empty user name, because
  /// it uses the Kerberos ticket of the process's user.
  func suits(_ scheme: AuthenticationOffer.Scheme) -> Bool {
    switch scheme {
    case .basic, .digest: true
    case .ntlm: !user.isEmpty
    case .negotiate: user.isEmpty
    }
  }
}

extension BasicCredentials {
  /// Returns the value of Authorization or Proxy-Authorization for the Basic scheme, or nil if the user name contains a colon.
  static func fieldValue(_ credential: PasswordCredential) -> String? {
    fieldValue(user: credential.user, password: credential.password)
  }
}
