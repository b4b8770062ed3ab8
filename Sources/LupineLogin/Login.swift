// Login: a credential with the server and the scheme that it is for; the credentials that a task may send without asking the
// delegate; and the decision about a challenge.

package import LupineAuthentication
package import LupineEngine

/// A credential for one origin or proxy, and the authentication scheme that uses it.
package struct Login: Sendable, Hashable {
  package let party: AuthenticationParty
  package let scheme: AuthenticationOffer.Scheme
  /// The realm in which the credential is valid. Nil if the challenge had none, and for an authenticated connection, which serves
  /// all realms.
  package var realm: String?
  package let credential: PasswordCredential

  /// This login in the form that identifies authenticated connections and tunnels, which serve all realms.
  var ofConnection: Login { Login(party: party, scheme: scheme, credential: credential) }
}

/// The decision about a refused request after the caller has chosen a credential for the challenge: whether the request is sent
/// again, and how.
package enum AuthenticationAnswer: Sendable, Hashable {
  /// Send the request again, with this value of the Authorization field.
  case authorize(String)
  /// Send the request again. `TaskAuthentication.prepare` adds the credential to it.
  case resend
  /// The challenge's scheme can't use the credential. Try the next challenge in the same response.
  case reject
  /// Don't send the request again. Deliver the 401 or 407 response to the caller.
  case stand
}

/// The credentials that a task may send without asking the delegate.
package struct KnownCredentials: Sendable {
  /// Returns the credential that may be sent preemptively to an origin or a proxy, for a realm and a scheme. Returns nil if none
  /// may be sent. If the closure itself is nil, no credentials are sent preemptively. It may run the code of a caller, so it is
  /// never called under a lock.
  package var credential:
    (@Sendable (AuthenticationParty, _ realm: String?, AuthenticationOffer.Scheme) -> PasswordCredential?)?
  /// Returns the user name and password in the proxy's URL, in Unicode's normalization form C. Returns nil if the URL has none.
  package var proxyCredential: @Sendable (Proxy) -> PasswordCredential?
  /// The authentication schemes for which the credential in the proxy's URL may be used. By default, all schemes.
  package var proxySchemes: Set<AuthenticationOffer.Scheme> = [.basic, .digest, .ntlm, .negotiate]
  /// Whether the credential in the proxy's URL is sent preemptively with Basic, before the proxy sends a challenge. True by
  /// default.
  package var sendsProxyCredentialFirst = true

  /// Creates a value whose only credentials are the user names and passwords in the URLs of proxies, which `proxyCredential`
  /// returns.
  package init(proxyCredential: @escaping @Sendable (Proxy) -> PasswordCredential?) {
    self.proxyCredential = proxyCredential
  }

  /// Returns whether the task may send a login of its session, which the server has accepted earlier, with a request through
  /// `proxy`.
  package func permits(_ login: Login, via proxy: Proxy?) -> Bool {
    if credential?(login.party, login.realm, login.scheme) == login.credential { return true }
    guard case .proxy = login.party else { return false }
    return proxy.flatMap(proxyCredential) == login.credential
  }
}

extension PasswordCredential {
  /// Returns whether an authentication scheme can use this credential. NTLM requires a user name. Negotiate requires an empty user
  /// name, because it uses the Kerberos ticket of the process's user.
  package func suits(_ scheme: AuthenticationOffer.Scheme) -> Bool {
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
