// AuthenticationChallenge+Response: creates the challenge for a 401 or 407 response, and interprets the delegate's answer (RFC
// 9110 §11.6). Sends nothing.

package import Foundation
import LupineAuthentication
import LupineEngine
import LupineLogin

extension URLAuthenticationChallenge {
  /// Creates the challenge that asks the delegate for a credential after a 401 or 407 response, for one of the authentication
  /// schemes that the response offers. Returns nil if the response offers no known scheme, if the server has previously used a
  /// stronger scheme than any of these, or if the delegate has rejected all offered schemes.
  ///
  /// The delegate receives one challenge for each offered scheme, until it accepts one. Schemes for which the session has a
  /// credential, in the request's URL or as a default in `storage`, come first, as on Apple's systems. Within each group, stronger
  /// schemes come first. If the response names no realm, the challenge's realm is the host.
  ///
  /// The URL's login is proposed first. After the party has refused it, the default credential in `storage` is proposed.
  ///
  /// - Parameters:
  ///   - question: The offered schemes, the server that offers them, and the refused request.
  ///   - rejectedCount: The number of offered schemes that the delegate has already rejected. They are skipped.
  ///   - previousFailureCount: The number of credentials that the party has refused for this request.
  ///   - storage: The session's credential storage. Nil if the session has none.
  ///   - response: The 401 or 407 response, which the delegate finds in `failureResponse`.
  ///   - respond: Called with the delegate's credential, or with nil if it has no password. Returns how the session continues.
  convenience init?(
    _ question: AuthenticationQuestion, rejectedCount: Int = 0, previousFailureCount: Int,
    storage: URLCredentialStorage?, response: HTTPURLResponse?,
    respond: @escaping @Sendable (AuthenticationOffer, PasswordCredential?) -> AuthenticationAnswer
  ) {
    let party = question.party
    func space(_ offer: AuthenticationOffer) -> URLProtectionSpace {
      party.space(realm: offer.realm, method: offer.scheme.authenticationMethod)
    }
    let proposals = question.offers.map { offer in
      let login = question.request.login(for: offer.scheme, of: party)
      let stored = storage?.defaultCredential(for: space(offer))
      return (offer: offer, credentials: [login, stored?.isLogin(login) == true ? nil : stored].compactMap { $0 })
    }
    let ordered = proposals.filter { !$0.credentials.isEmpty } + proposals.filter { $0.credentials.isEmpty }
    guard let (offer, credentials) = ordered.dropFirst(rejectedCount).first else { return nil }
    self.init(
      protectionSpace: space(offer),
      proposedCredential: credentials.dropFirst(previousFailureCount).first ?? credentials.last,
      proposalCount: credentials.count, previousFailureCount: previousFailureCount, failureResponse: response
    ) { credential in
      switch respond(offer, PasswordCredential(credential)) {
      case .authorize(let value): .authorize(value)
      case .resend: .resend
      case .reject: .reject
      case .stand: .stand
      }
    }
  }

  /// Creates the challenge that the delegate receives after a server has requested a client certificate in the TLS handshake.
  ///
  /// - Parameters:
  ///   - origin: The server's origin.
  ///   - authorities: The DER-encoded names of the authorities whose certificates the server accepts.
  convenience init(identityRequestedBy origin: Origin, from authorities: [[UInt8]]) {
    self.init(
      protectionSpace: URLProtectionSpace(
        origin, realm: nil, method: NSURLAuthenticationMethodClientCertificate,
        distinguishedNames: authorities.map { Data($0) }),
      proposedCredential: nil, previousFailureCount: 0, failureResponse: nil)
  }

  /// Returns what the session does after the delegate has answered this challenge with a disposition and a credential. A session
  /// without a delegate passes `performDefaultHandling`.
  ///
  /// With `performDefaultHandling`, the session sends each proposed credential only once, because a server that has refused a
  /// credential would refuse it again. If the authentication scheme can't send the chosen credential, the 401 or 407 response
  /// becomes the task's response. For example, Basic can't send a user name with a colon (RFC 7617 §2).
  func outcome(of disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?) -> Outcome {
    let isForIdentity = protectionSpace.authenticationMethod == NSURLAuthenticationMethodClientCertificate
    let chosen: URLCredential?
    switch disposition {
    case .useCredential: chosen = credential
    case .performDefaultHandling: chosen = previousFailureCount < proposalCount ? proposedCredential : nil
    case .rejectProtectionSpace: return isForIdentity ? .presenting(nil) : .reject
    case .cancelAuthenticationChallenge: return .cancel
    }
    return isForIdentity ? .presenting(chosen) : chosen.map(response) ?? .stand
  }
}

extension EngineRequest {
  /// Returns the user name and password in the request's URL if they can answer a challenge of `party` for `scheme`. They belong to
  /// the URL's origin, so a proxy or another origin doesn't receive them. Returns nil for Basic, because the request sends them
  /// with Basic without waiting for a challenge.
  fileprivate func login(for scheme: AuthenticationOffer.Scheme, of party: AuthenticationParty) -> URLCredential? {
    guard scheme != .basic, let login = uri.login?.credential, login.suits(scheme), party == .origin(uri.origin) else {
      return nil
    }
    return URLCredential(user: login.user, password: login.password, persistence: .none)
  }
}

extension URLAuthenticationChallenge.Outcome {
  /// Returns the outcome for a TLS server that requested a client certificate: the session presents the certificate in
  /// `credential`. If `credential` is nil or has no certificate, the session continues without a client certificate.
  fileprivate static func presenting(_ credential: URLCredential?) -> Self {
    guard let identity = credential?.tlsIdentity else { return .identify(.anonymous, isRemembered: false) }
    return .identify(.present(identity), isRemembered: credential?.persistence != URLCredential.Persistence.none)
  }
}

extension HTTPURLResponse {
  /// For a 401 or 407 response, the part of an error message that lists the authentication schemes offered by the response and
  /// tells the user how to authenticate. Nil for other status codes.
  package var authenticationAdvice: String? {
    switch statusCode {
    case 401:
      let (offer, schemes) = offer(in: "WWW-Authenticate")
      let remedy =
        if !schemes.isDisjoint(with: [.basic, .digest, .ntlm]) {
          "Pass a valid user name and password to authenticate(username:password:)."
        } else if schemes.contains(.negotiate) {
          "Log in to Kerberos with kinit, and pass an empty user name and password to authenticate(username:password:)."
        } else {
          "authenticate(username:password:) supports only Basic, Digest, NTLM and Negotiate. Enable one of them on the "
            + "server, or set the Authorization field."
        }
      return "The server requires a credential and \(offer). \(remedy)"
    case 407:
      let (offer, schemes) = offer(in: "Proxy-Authenticate")
      let remedy =
        schemes.isEmpty
        ? "Only Basic, Digest, NTLM and Negotiate are supported. Enable one of them on the proxy."
        : "Add a valid user name and password to the proxy's URL: http://user:password@host:port."
      return "The proxy requires a credential and \(offer). \(remedy)"
    default: return nil
    }
  }

  private func offer(in field: String) -> (words: String, schemes: Set<AuthenticationOffer.Scheme>) {
    let challenges = Challenge.parse(value(forHTTPHeaderField: field) ?? "")
    let names = AuthenticationSchemes.names(challenges)
    let words = names.isEmpty ? "names no scheme" : "offers \(names.joined(separator: ", "))"
    return (words, Set(AuthenticationOffer.ranked(challenges).map(\.scheme)))
  }
}

extension URLProtectionSpace {
  /// Creates the protection space of an origin. If `realm` is nil, its realm is the origin's host, or its socket's path.
  convenience init(_ origin: Origin, realm: String?, method: String, distinguishedNames: [Data]? = nil) {
    // Each Unix socket counts as a separate host, so that a credential for one service is never sent to another service.
    let host = origin.socketPath ?? origin.host
    self.init(
      host: host, port: Int(origin.port), protocol: origin.scheme.rawValue, proxyType: nil, realm: realm ?? host,
      authenticationMethod: method, distinguishedNames: distinguishedNames)
  }

  /// Returns whether this protection space belongs to the URL's origin. An http URL with port 80 also matches a protection space
  /// for https on port 443 of the same host. A ws or wss URL counts as http or https.
  package func isAt(_ url: URL) -> Bool {
    guard let origin = (try? URI(url.inHTTPForm.absoluteString))?.origin else { return false }
    let method = authenticationMethod
    if self == URLProtectionSpace(origin, realm: realm, method: method) { return true }
    let isUpgrade = origin.scheme == .http && origin.port == origin.scheme.defaultPort && origin.socketPath == nil
    let secure = Origin(scheme: .https, host: origin.host, port: Scheme.https.defaultPort)
    return isUpgrade && self == URLProtectionSpace(secure, realm: realm, method: method)
  }
}

extension URLCredential {
  /// Returns whether this credential has the same user name and password as `login`. Returns false if `login` is nil.
  fileprivate func isLogin(_ login: URLCredential?) -> Bool {
    guard let login else { return false }
    return user == login.user && password == login.password
  }

  /// The value of the Authorization field that sends this credential with the Basic scheme. Nil if there is no password, or if the
  /// user name contains a colon, which Basic can't send (RFC 7617 §2).
  package var basicAuthorization: String? {
    guard let user, let password else { return nil }
    return BasicCredentials.fieldValue(user: user, password: password)
  }
}
