// OAuth 2: an expired token is refreshed once for all requests that need it.

import Alamofire
import Foundation

struct OAuthCredential: AuthenticationCredential {
  let accessToken: String
  let expiration: Date

  // A minute early, so that the token doesn't expire while the request is in flight.
  var requiresRefresh: Bool { Date(timeIntervalSinceNow: 60) > expiration }
}

final class OAuthAuthenticator: Authenticator, @unchecked Sendable {
  private let lock = NSLock()
  private var count = 0

  var refreshCount: Int { lock.withLock { count } }

  func apply(_ credential: OAuthCredential, to urlRequest: inout URLRequest) {
    urlRequest.headers.add(.authorization(bearerToken: credential.accessToken))
  }

  func refresh(
    _ credential: OAuthCredential, for session: Session,
    completion: @escaping @Sendable (Result<OAuthCredential, any Error>) -> Void
  ) {
    lock.withLock { count += 1 }
    AF.request(Router.base + "/uuid").responseDecodable(of: [String: String].self) { response in
      completion(
        response.result.mapError { $0 }.map { _ in
          OAuthCredential(accessToken: "fresh", expiration: Date(timeIntervalSinceNow: 3600))
        })
    }
  }

  func didRequest(
    _ urlRequest: URLRequest, with response: HTTPURLResponse, failDueToAuthenticationError error: any Error
  ) -> Bool {
    response.statusCode == 401
  }

  func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: OAuthCredential) -> Bool {
    urlRequest.headers["Authorization"] == HTTPHeader.authorization(bearerToken: credential.accessToken).value
  }
}
