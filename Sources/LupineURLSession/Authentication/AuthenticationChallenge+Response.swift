// AuthenticationChallenge+Response: creates the challenge of a response, and interprets the delegate's answer to it (RFC 9110
// §11.6). It sends nothing.

package import Foundation
import LupineAuthentication
import LupineEngine

extension URLAuthenticationChallenge {
  /// Creates the challenge of a 401 response. Returns nil if the response offers no known scheme, or only downgrades.
  ///
  /// The strongest offer that can be answered with a default credential is chosen, or the strongest offer that can be answered if
  /// there is no default credential. Basic can always be answered, and Digest if `authentication` isn't nil. If no offer can be
  /// answered, the delegate and the monitors receive the strongest offer, but no answer sends a credential. The realm of a
  /// challenge without a realm is the host.
  ///
  /// - Parameters:
  ///   - status: The response's status code.
  ///   - fields: The response's fields.
  ///   - uri: The request's URI.
  ///   - previousFailureCount: The number of credentials that the server has refused for this request.
  ///   - storage: The storage in which default credentials are searched.
  ///   - response: The response as the delegate sees it.
  ///   - digest: The task's use of Digest, and the request that will answer the challenge.
  convenience init?(
    status: Int, fields: Fields, from uri: URI, previousFailureCount: Int, storage: URLCredentialStorage?,
    response: HTTPURLResponse?, digest: (authentication: TaskAuthentication, request: EngineRequest)? = nil
  ) {
    guard status == 401 else { return nil }
    let challenges = fields.challenges("WWW-Authenticate")
    let offers =
      digest?.authentication.offers(in: challenges, from: uri.origin) ?? AuthenticationOffer.ranked(challenges)
    let answerable = offers.filter { $0.scheme == .basic || ($0.scheme == .digest && digest != nil) }
    func credential(_ offer: AuthenticationOffer) -> URLCredential? {
      storage?.defaultCredential(for: URLProtectionSpace(uri.origin, offer))
    }
    guard let offer = answerable.first(where: { credential($0) != nil }) ?? answerable.first ?? offers.first else {
      return nil
    }
    self.init(
      protectionSpace: URLProtectionSpace(uri.origin, offer), proposedCredential: credential(offer),
      previousFailureCount: previousFailureCount, failureResponse: response
    ) { credential in
      switch offer.content {
      case .basic: credential.basicAuthorization
      case .digest(let challenge):
        digest.flatMap { $0.authentication.answer(challenge, with: credential, to: $0.request) }
      case .ntlm, .negotiate: nil
      }
    }
  }

  /// Returns the outcome of the delegate's answer. Without a delegate, the answer is `performDefaultHandling`.
  ///
  /// By default, the proposed credential is sent once, because a server that has refused it would refuse it again. No credential
  /// is sent for NTLM and Negotiate, nor if its user name contains a colon, which Basic can't send (RFC 7617 §2).
  func outcome(of disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?) -> Outcome {
    let chosen: URLCredential?
    switch disposition {
    case .useCredential: chosen = credential
    case .performDefaultHandling: chosen = previousFailureCount == 0 ? proposedCredential : nil
    case .rejectProtectionSpace: chosen = nil
    case .cancelAuthenticationChallenge: return .cancel
    }
    return chosen.flatMap(authorization).map { .authorize($0) } ?? .stand
  }
}

extension AuthenticationOffer.Scheme {
  /// Foundation's name of the scheme.
  fileprivate var authenticationMethod: String {
    switch self {
    case .basic: NSURLAuthenticationMethodHTTPBasic
    case .digest: NSURLAuthenticationMethodHTTPDigest
    case .ntlm: NSURLAuthenticationMethodNTLM
    case .negotiate: NSURLAuthenticationMethodNegotiate
    }
  }
}

extension HTTPURLResponse {
  /// The schemes that a 401 or 407 response offers, with a remedy, or nil for other responses.
  package var authenticationAdvice: String? {
    switch statusCode {
    case 401:
      let (offer, schemes) = offer(in: "WWW-Authenticate")
      let remedy =
        schemes.contains(.basic) || schemes.contains(.digest)
        ? "Pass a valid user name and password to authenticate(username:password:)."
        : "authenticate(username:password:) supports only Basic and Digest. Enable one of them on the server, or set the "
          + "Authorization field."
      return "The server requires a credential and \(offer). \(remedy)"
    case 407:
      let (offer, schemes) = offer(in: "Proxy-Authenticate")
      let remedy =
        schemes.contains(.basic)
        ? "Add a valid user name and password to the proxy's URL: http://user:password@host:port."
        : "Only Basic is supported. Enable Basic on the proxy."
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
  /// Creates the protection space of an origin's offer.
  fileprivate convenience init(_ origin: Origin, _ offer: AuthenticationOffer) {
    self.init(origin, realm: offer.realm, method: offer.scheme.authenticationMethod)
  }

  /// Creates a protection space of an origin.
  convenience init(_ origin: Origin, realm: String?, method: String) {
    // Each Unix socket counts as a separate host, so that no service receives the credential of another.
    let host = origin.socketPath ?? origin.host
    self.init(
      host: host, port: Int(origin.port), protocol: origin.scheme.rawValue, realm: realm ?? host,
      authenticationMethod: method)
  }

  /// Returns whether the space belongs to the URL's origin or, for an http URL with the default port, to https on the same
  /// host with its default port.
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
  /// The value of an Authorization field, or nil if the user name contains a colon, which Basic can't send (RFC 7617 §2).
  package var basicAuthorization: String? {
    guard let user, let password else { return nil }
    return BasicCredentials.fieldValue(user: user, password: password)
  }
}
