// Doubles for tests of `AuthenticationInterceptor`: an authenticator whose refreshes the test answers, and refused
// requests.

import Foundation
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

/// A mock credential for AuthenticationInterceptor: a bearer token, and a closure that decides whether it requires a refresh.
struct Token: AuthenticationCredential, Sendable {
  let name: String
  private let mustRefresh: @Sendable () -> Bool

  init(_ name: String, requiresRefresh: Bool = false) {
    self.init(name) { requiresRefresh }
  }

  init(_ name: String, requiresRefresh: @escaping @Sendable () -> Bool) {
    self.name = name
    mustRefresh = requiresRefresh
  }

  var requiresRefresh: Bool { mustRefresh() }
}

/// A mock authenticator that applies bearer tokens (RFC 6750) to requests, and regards a 401 as an authentication failure.
final class TokenAuthenticator: Authenticator {
  enum Refreshing: Sendable {
    /// The authenticator doesn't complete refreshes. The test completes each refresh that `nextRefresh` returns.
    case byTest
    /// The authenticator completes each refresh with the closure's result, before its method `refresh` returns.
    case immediate(@Sendable (Token) -> Result<Token, any Error>)
  }

  struct Refresh: Sendable {
    let credential: Token
    let completion: @Sendable (Result<Token, any Error>) -> Void
  }

  private let refreshing: Refreshing
  private let onCall: @Sendable () -> Void
  private let refreshes = Recorder<Refresh>()
  private let count = Atomic(0)

  init(_ refreshing: Refreshing = .byTest, onCall: @escaping @Sendable () -> Void = {}) {
    self.refreshing = refreshing
    self.onCall = onCall
  }

  /// The number of token refreshes that the interceptor has started so far.
  var refreshCount: Int { count.load(ordering: .relaxed) }

  /// Waits until the interceptor starts the next refresh, and returns that refresh.
  func nextRefresh() async throws -> Refresh { try #require(await refreshes.next()) }

  func apply(_ credential: Token, to urlRequest: inout URLRequest) {
    onCall()
    urlRequest.headers.add(.authorization(bearerToken: credential.name))
  }

  func refresh(
    _ credential: Token, for session: Session, completion: @escaping @Sendable (Result<Token, any Error>) -> Void
  ) {
    count.add(1, ordering: .relaxed)
    switch refreshing {
    case .byTest: refreshes.record(Refresh(credential: credential, completion: completion))
    case .immediate(let answer): completion(answer(credential))
    }
  }

  func didRequest(
    _ urlRequest: URLRequest, with response: HTTPURLResponse, failDueToAuthenticationError error: any Error
  ) -> Bool {
    onCall()
    return response.statusCode == 401
  }

  func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Token) -> Bool {
    onCall()
    return urlRequest.headers["Authorization"] == "Bearer \(credential.name)"
  }
}

/// An AuthenticationInterceptor with a mock authenticator, a session and a clock that the test sets.
final class InterceptorFixture: Sendable {
  typealias Interceptor = AuthenticationInterceptor<TokenAuthenticator>

  let session = Session(startRequestsImmediately: false)
  let authenticator: TokenAuthenticator
  let interceptor: Interceptor
  private let clock: Clock

  private final class Clock: Sendable {
    let seconds = Mutex(0.0)
  }

  init(_ authenticator: TokenAuthenticator, _ interceptor: Interceptor) {
    self.authenticator = authenticator
    self.interceptor = interceptor
    clock = Clock()
  }

  init(
    _ token: Token?, refresh: TokenAuthenticator.Refreshing = .byTest,
    window: Interceptor.RefreshWindow? = .init(), onCall: @escaping @Sendable () -> Void = {}
  ) {
    let clock = Clock()
    self.clock = clock
    authenticator = TokenAuthenticator(refresh, onCall: onCall)
    interceptor = Interceptor(
      authenticator: authenticator, credential: token, refreshWindow: window,
      uptime: { clock.seconds.withLock { $0 } })
  }

  func setTime(_ seconds: Double) { clock.seconds.withLock { $0 = seconds } }

  /// Adapts a new request with the interceptor, and returns the adapted request's Authorization field, or nil without one.
  func adapted() async throws -> String? {
    let request = try URLRequest(url: "http://localhost/", method: .get)
    return try await interceptor.adapted(request, for: session).get().headers["Authorization"]
  }

  /// Adapts a new request with the interceptor. Calls `completion` with the adapted request's Authorization field, with "none",
  /// or with the error's description.
  func adapt(_ completion: @escaping @Sendable (String) -> Void) {
    interceptor.adapt(URLRequest(url: URL(filePath: "/")), for: session) { result in
      switch result {
      case .success(let request): completion(request.headers["Authorization"] ?? "none")
      case .failure(let error): completion("failed: \(error)")
      }
    }
  }

  func retry(_ request: Request, _ completion: @escaping @Sendable (String) -> Void) {
    interceptor.retry(request, for: session, dueTo: Mishap("refused")) { completion($0.words) }
  }
}

/// Calls `body` with a session, and with a request that was sent with the bearer token and was answered with `status`.
func withRefused(
  status: Int = 401, token: String, _ body: (Session, Request) async throws -> Void
) async throws {
  try await withServer { _ in
    Reply(status: status)
  } _: { origin in
    try await withSession { session in
      let request = session.request(origin.url, headers: [.authorization(bearerToken: token)])
      #expect(await request.outcome().response?.statusCode == status)
      try await body(session, request)
    }
  }
}
