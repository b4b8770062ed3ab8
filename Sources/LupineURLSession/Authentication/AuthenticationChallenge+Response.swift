// The challenge of a response, and what follows from the delegate's answer (RFC 9110 §11.6). Pure: this code sends no request.

package import Foundation
import LupineEngine

extension URLAuthenticationChallenge {
  /// Creates the challenge of a 401 response; nil if the response offers no scheme that has an authentication method.
  ///
  /// Basic is the only scheme that sessions can answer, so the first Basic challenge is used. Without one, it is the first of
  /// Digest, NTLM or Negotiate: the delegate and the monitors receive that challenge, but no answer sends a credential. If a
  /// challenge has no realm, the host is its realm.
  ///
  /// - Parameters:
  ///   - status: The response's status code.
  ///   - fields: The response's fields.
  ///   - uri: The URI of the request.
  ///   - previousFailureCount: The number of credentials that the server has rejected.
  ///   - storage: The storage with the space's default credential.
  ///   - response: The response as the delegate sees it.
  convenience init?(
    status: Int, fields: Fields, from uri: URI, previousFailureCount: Int, storage: URLCredentialStorage?,
    response: HTTPURLResponse?
  ) {
    guard status == 401 else { return nil }
    let offers = fields.challenges("WWW-Authenticate").compactMap { challenge in
      challenge.authenticationMethod.map { (realm: challenge.realm, method: $0) }
    }
    guard let offer = offers.first(where: { $0.method == NSURLAuthenticationMethodHTTPBasic }) ?? offers.first else {
      return nil
    }
    let space = URLProtectionSpace(uri.origin, realm: offer.realm, method: offer.method)
    self.init(
      protectionSpace: space, proposedCredential: storage?.defaultCredential(for: space),
      previousFailureCount: previousFailureCount, failureResponse: response)
  }

  /// Returns the consequence of the delegate's answer. Without a delegate, `disposition` is `performDefaultHandling`.
  ///
  /// Default handling sends the proposed credential once, because a server that has rejected it would reject it again. Only a
  /// Basic challenge gets a credential, because Basic sends the password itself.
  func outcome(of disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?) -> Outcome {
    let shown: URLCredential?
    switch disposition {
    case .useCredential: shown = credential
    case .performDefaultHandling: shown = previousFailureCount == 0 ? proposedCredential : nil
    case .rejectProtectionSpace: shown = nil
    case .cancelAuthenticationChallenge: return .cancel
    }
    guard protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic else { return .stand }
    return shown?.basicAuthorization.map { .authorize($0) } ?? .stand
  }
}

extension Challenge {
  /// Foundation's name of the scheme; nil if it has none.
  fileprivate var authenticationMethod: String? {
    switch scheme.lowercased() {
    case "basic": NSURLAuthenticationMethodHTTPBasic
    case "digest": NSURLAuthenticationMethodHTTPDigest
    case "ntlm": NSURLAuthenticationMethodNTLM
    case "negotiate": NSURLAuthenticationMethodNegotiate
    default: nil
    }
  }
}

extension HTTPURLResponse {
  /// The schemes that a 401 or 407 response offers, with a remedy; nil for other responses.
  package var authenticationAdvice: String? {
    switch statusCode {
    case 401:
      authenticationAdvice(
        from: "server", in: "WWW-Authenticate",
        ifBasic: "Pass a valid user name and password to authenticate(username:password:).",
        otherwise: "authenticate(username:password:) supports only Basic. Enable Basic on the server, or set the "
          + "Authorization field.")
    case 407:
      authenticationAdvice(
        from: "proxy", in: "Proxy-Authenticate",
        ifBasic: "Add a valid user name and password to the proxy's URL: http://user:password@host:port.",
        otherwise: "Only Basic is supported. Enable Basic on the proxy.")
    default: nil
    }
  }

  /// Describes the schemes in `field`, followed by the remedy for a peer that offers Basic or for one that doesn't.
  private func authenticationAdvice(
    from peer: String, in field: String, ifBasic remedy: String, otherwise otherRemedy: String
  ) -> String {
    let challenges = Challenge.parse(value(forHTTPHeaderField: field) ?? "")
    let names = AuthenticationSchemes.names(challenges)
    let offer = names.isEmpty ? "names no scheme" : "offers \(names.joined(separator: ", "))"
    let hasBasic = challenges.contains { $0.isOf(scheme: "Basic") }
    return "The \(peer) requires a credential and \(offer). \(hasBasic ? remedy : otherRemedy)"
  }
}

extension URLProtectionSpace {
  /// Creates the protection space of an origin.
  fileprivate convenience init(_ origin: Origin, realm: String?, method: String) {
    // Each Unix socket counts as a separate host, so that no service receives the credentials of another.
    let host = origin.socketPath ?? origin.host
    self.init(
      host: host, port: Int(origin.port), protocol: origin.scheme.rawValue, realm: realm ?? host,
      authenticationMethod: method)
  }

  /// Returns whether the space is at the URL's origin, or at the same host over https if the URL is http, with default ports.
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
  /// The value of an Authorization field; nil if the name has a colon, which the Basic scheme can't send (RFC 7617 §2).
  package var basicAuthorization: String? {
    guard let user, let password else { return nil }
    return BasicCredentials.fieldValue(user: user, password: password)
  }
}
