// AuthenticationChallenge+Response: creates the challenge for a 401 or 407 response, and interprets the delegate's answer (RFC
// 9110 §11.6). Sends nothing.

package import Foundation
import LupineAuthentication
import LupineEngine
import LupineLogin

extension URLAuthenticationChallenge {
  /// Creates the challenge for one of the authentication schemes that a 401 or 407 response offers. Returns nil if the response
  /// offers no known scheme, if each offer is a downgrade from stronger authentication, or if the delegate has rejected all
  /// offers.
  ///
  /// Offers for which `storage` has a default credential come first, as on Apple's systems. Otherwise, stronger schemes come
  /// first. If `answering` is nil, the delegate's credential isn't sent. If the response names no realm, the host is the realm.
  ///
  /// - Parameters:
  ///   - challenges: The challenges in the response's WWW-Authenticate or Proxy-Authenticate fields.
  ///   - party: The origin or the proxy that has sent the response.
  ///   - rejectedCount: The number of offers that the delegate has rejected.
  ///   - previousFailureCount: The number of credentials that the party has refused for this request.
  ///   - storage: The storage that is searched for default credentials.
  ///   - response: The response as the delegate sees it.
  ///   - answering: The task's authentication, and the request to send again with a credential.
  convenience init?(
    _ challenges: [Challenge], from party: AuthenticationParty, rejectedCount: Int = 0, previousFailureCount: Int,
    storage: URLCredentialStorage?, response: HTTPURLResponse?,
    answering: (task: any ChallengeAnswering, request: EngineRequest)?
  ) {
    let offers = answering?.task.offers(in: challenges, from: party) ?? AuthenticationOffer.ranked(challenges)
    func space(_ offer: AuthenticationOffer) -> URLProtectionSpace {
      party.space(realm: offer.realm, method: offer.scheme.authenticationMethod)
    }
    let proposals = offers.map { (offer: $0, credential: storage?.defaultCredential(for: space($0))) }
    let ordered = proposals.filter { $0.credential != nil } + proposals.filter { $0.credential == nil }
    guard let (offer, credential) = ordered.dropFirst(rejectedCount).first else { return nil }
    self.init(
      protectionSpace: space(offer), proposedCredential: credential, previousFailureCount: previousFailureCount,
      failureResponse: response
    ) { credential in
      answering.map { $0.task.respond(to: offer, with: credential, for: $0.request) } ?? .stand
    }
  }

  /// Creates the challenge of a server that requests a client certificate in the TLS handshake.
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

  /// Returns the outcome of the delegate's answer to the challenge. Without a delegate, the answer is `performDefaultHandling`.
  ///
  /// Default handling sends the proposed credential only once, because a server that has refused it would refuse it again. If the
  /// scheme can't send the credential, the 401 or 407 response becomes the task's response. For example, Basic can't send a user
  /// name with a colon (RFC 7617 §2).
  func outcome(of disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?) -> Outcome {
    let isForIdentity = protectionSpace.authenticationMethod == NSURLAuthenticationMethodClientCertificate
    let chosen: URLCredential?
    switch disposition {
    case .useCredential: chosen = credential
    case .performDefaultHandling: chosen = previousFailureCount == 0 ? proposedCredential : nil
    case .rejectProtectionSpace: return isForIdentity ? .presenting(nil) : .reject
    case .cancelAuthenticationChallenge: return .cancel
    }
    return isForIdentity ? .presenting(chosen) : chosen.map(response) ?? .stand
  }
}

extension URLAuthenticationChallenge.Outcome {
  /// Returns the outcome of a request for a client certificate. If the credential is nil or has no certificate, the client
  /// presents none.
  fileprivate static func presenting(_ credential: URLCredential?) -> Self {
    guard let identity = credential?.tlsIdentity else { return .identify(.anonymous, isRemembered: false) }
    return .identify(.present(identity), isRemembered: credential?.persistence != URLCredential.Persistence.none)
  }
}

extension HTTPURLResponse {
  /// The text for an error message about a 401 or 407 response: the authentication schemes that it offers, and a remedy. Nil for
  /// other status codes.
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
  /// Creates a protection space of an origin. If `realm` is nil, the host is the realm.
  convenience init(_ origin: Origin, realm: String?, method: String, distinguishedNames: [Data]? = nil) {
    // Each Unix socket counts as a separate host, so that no service receives the credential of another.
    let host = origin.socketPath ?? origin.host
    self.init(
      host: host, port: Int(origin.port), protocol: origin.scheme.rawValue, proxyType: nil, realm: realm ?? host,
      authenticationMethod: method, distinguishedNames: distinguishedNames)
  }

  /// Returns whether the space belongs to the URL's origin. For an http URL with port 80, a space of https on the same host with
  /// port 443 also counts.
  package func isAt(_ url: URL) -> Bool {
    guard let origin = (try? URI(url.absoluteString))?.origin else { return false }
    let method = authenticationMethod
    if self == URLProtectionSpace(origin, realm: realm, method: method) { return true }
    let isUpgrade = origin.scheme == .http && origin.port == origin.scheme.defaultPort && origin.socketPath == nil
    let secure = Origin(scheme: .https, host: origin.host, port: Scheme.https.defaultPort)
    return isUpgrade && self == URLProtectionSpace(secure, realm: realm, method: method)
  }
}

extension URLCredential {
  /// The value of an Authorization field with the Basic scheme. Nil if there is no password, or if the user name contains a
  /// colon, which Basic can't send (RFC 7617 §2).
  package var basicAuthorization: String? {
    guard let user, let password else { return nil }
    return BasicCredentials.fieldValue(user: user, password: password)
  }
}
