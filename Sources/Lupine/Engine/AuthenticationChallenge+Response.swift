// Which credential a response asks for, and what is done about it (RFC 9110 §11.6). Pure: no request is sent from here.

import Foundation
import LupineEngine

extension URLAuthenticationChallenge {
  /// The challenge of a 401 response that can be answered; nil if there is none.
  ///
  /// Basic is the one scheme that is answered. The first Basic challenge counts, and one without a realm has the host
  /// for it.
  ///
  /// - Parameters:
  ///   - status: the response's status code.
  ///   - fields: the response's fields.
  ///   - uri: what was asked for.
  ///   - previousFailureCount: how many credentials the request has shown before.
  ///   - storage: where the default credential for the space is looked for.
  ///   - response: the response as the delegate sees it.
  convenience init?(
    status: Int, fields: Fields, from uri: URI, previousFailureCount: Int, storage: URLCredentialStorage?,
    response: HTTPURLResponse?
  ) {
    guard status == 401,
      let basic = fields.challenges("WWW-Authenticate").first(where: { $0.isOf(scheme: "Basic") })
    else { return nil }
    let space = URLProtectionSpace(uri.origin, realm: basic.realm)
    self.init(
      protectionSpace: space, proposedCredential: storage?.defaultCredential(for: space),
      previousFailureCount: previousFailureCount, failureResponse: response)
  }

  /// What follows from an answer.
  enum Outcome: Sendable, Equatable {
    /// The request is sent again, with that value of Authorization.
    case authorize(String)
    /// The response that asked stands as it is.
    case stand
    /// The request fails with `URLError.cancelled`.
    case cancel
  }

  /// What is done when somebody has answered, or nobody was there to ask: `performDefaultHandling` then.
  ///
  /// By default the proposed credential is shown once, since a server that refused it would refuse it again.
  func outcome(of disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?) -> Outcome {
    let shown: URLCredential?
    switch disposition {
    case .useCredential: shown = credential
    case .performDefaultHandling: shown = previousFailureCount == 0 ? proposedCredential : nil
    case .rejectProtectionSpace: shown = nil
    case .cancelAuthenticationChallenge: return .cancel
    }
    return shown?.basicAuthorization.map { .authorize($0) } ?? .stand
  }
}

extension URLProtectionSpace {
  /// A space of an origin's that is asked for by Basic.
  fileprivate convenience init(_ origin: Origin, realm: String?) {
    // Each Unix socket is a host of its own, so that no service gets what was meant for another.
    let host = origin.socketPath ?? origin.host
    self.init(
      host: host, port: Int(origin.port), protocol: origin.scheme.rawValue, realm: realm ?? host,
      authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
  }

  /// Whether it is at the URL's origin, or at the same host by https where http was asked for, at their own ports.
  func isAt(_ url: URL) -> Bool {
    guard let origin = (try? URI(url.absoluteString))?.origin else { return false }
    if self == URLProtectionSpace(origin, realm: realm) { return true }
    let isUpgrade = origin.scheme == .http && origin.port == origin.scheme.defaultPort && origin.socketPath == nil
    let secure = Origin(scheme: .https, host: origin.host, port: Scheme.https.defaultPort)
    return isUpgrade && self == URLProtectionSpace(secure, realm: realm)
  }
}

extension URLCredential {
  /// The value of an Authorization field; nil if the name has a colon, which the Basic scheme can't send (RFC 7617 §2).
  var basicAuthorization: String? {
    guard let user, let password else { return nil }
    return BasicCredentials.fieldValue(user: user, password: password)
  }
}
