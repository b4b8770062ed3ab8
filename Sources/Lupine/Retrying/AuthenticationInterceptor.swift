// `AuthenticationInterceptor`: applies a credential to requests, and refreshes it once for all requests that need it.

public import Foundation
public import LupineURLSession
import Synchronization

/// A credential for requests, such as an OAuth 2 access token together with its refresh token (RFC 6749 §1.4).
public protocol AuthenticationCredential {
  /// Whether the credential must be refreshed before a request is sent with it, for example because it expires soon.
  ///
  /// Read for each request, on any thread.
  var requiresRefresh: Bool { get }
}

/// A type that adds credentials to requests and refreshes them, for an ``AuthenticationInterceptor``. Each type supports one
/// authentication method.
///
/// Several threads may call the methods at the same time, but an interceptor doesn't call `refresh` again before the previous
/// refresh has completed.
public protocol Authenticator: Sendable {
  /// The type of the credentials that the authenticator uses.
  associatedtype Credential: AuthenticationCredential & Sendable

  /// Adds the credential to `urlRequest`, usually as the Authorization field.
  func apply(_ credential: Credential, to urlRequest: inout URLRequest)

  /// Obtains a new credential to replace `credential`, then calls `completion` once, on any thread.
  ///
  /// Requests wait for `completion`, so call it in every case, if necessary after a time limit. Second and later calls of
  /// `completion` are ignored. A request that this method sends must not use this interceptor, because the request would wait for
  /// its own refresh.
  @preconcurrency
  func refresh(
    _ credential: Credential, for session: Session,
    completion: @escaping @Sendable (_ result: Result<Credential, any Error>) -> Void)

  /// Returns whether `response` means that the server rejected the request's credential, for example with status 401 (RFC 9110
  /// §15.5.2).
  func didRequest(
    _ urlRequest: URLRequest, with response: HTTPURLResponse, failDueToAuthenticationError error: any Error
  ) -> Bool

  /// Returns whether `urlRequest` was sent with `credential`, rather than with an earlier credential.
  func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Credential) -> Bool
}

/// The reason why an ``AuthenticationInterceptor`` makes a request fail.
public enum AuthenticationError: Error {
  /// The interceptor has no credential.
  case missingCredential
  /// The credential has already been refreshed the maximum number of times that the ``AuthenticationInterceptor/RefreshWindow``
  /// allows.
  case excessiveRefresh
}

extension AuthenticationError: LocalizedError {
  /// A description of the failure and of a remedy, in English.
  public var errorDescription: String? {
    switch self {
    case .missingCredential:
      "The request could not be authenticated because the AuthenticationInterceptor has no credential. Set its credential first."
    case .excessiveRefresh:
      """
      The credential has already been refreshed as often as the RefreshWindow permits, and requests still fail. Check that \
      the server accepts the authenticator's credentials, or raise the window's maximumAttempts.
      """
    }
  }
}

/// An interceptor that adds a credential to each request. It refreshes the credential when the credential has expired or a server
/// has rejected it.
///
/// Only one refresh runs at a time, on behalf of all requests. If the credential requires a refresh, every request waits for
/// the refresh. If a server has rejected the credential, only the rejected requests wait; new requests are sent with the
/// current credential. Waiting requests are resumed once, in order.
///
/// If a refresh after a rejection fails, other requests that a server rejects with the same credential fail immediately with the
/// same error. This ends when the credential is replaced or another request is sent with it.
public final class AuthenticationInterceptor<AuthenticatorType: Authenticator>: RequestInterceptor {
  /// The type of the credential that the interceptor adds to requests.
  public typealias Credential = AuthenticatorType.Credential

  /// A limit on how often the credential is refreshed. A refresh beyond the limit fails with `.excessiveRefresh`.
  public struct RefreshWindow: Sendable {
    /// The length, in seconds, of the interval in which refreshes are counted. 30 by default. The interval ends at the current
    /// time.
    public let interval: TimeInterval
    /// The maximum number of refreshes that may begin within the interval. 5 by default.
    public let maximumAttempts: Int

    /// Creates a limit. By default, it allows five refreshes in 30 seconds.
    public init(interval: TimeInterval = 30.0, maximumAttempts: Int = 5) {
      self.interval = interval
      self.maximumAttempts = maximumAttempts
    }
  }

  private typealias Waiter = AuthenticationState<Credential>.Waiter

  private let authenticator: AuthenticatorType
  /// A closure that returns the time of a monotonic clock in seconds.
  private let uptime: @Sendable () -> TimeInterval
  /// The queue on which the interceptor calls `refresh` and resumes waiting requests. Neither happens during a call of one of
  /// the interceptor's methods, or while the interceptor's lock is held.
  private let queue = DispatchQueue(label: "lupine.authentication")
  private let state: Mutex<AuthenticationState<Credential>>

  /// Creates an interceptor that authenticates requests.
  ///
  /// - Parameters:
  ///   - authenticator: Applies and refreshes credentials.
  ///   - credential: The initial credential. If it is nil, requests fail with `.missingCredential`.
  ///   - refreshWindow: The maximum frequency of refreshes. If it is nil, a request to a server that
  ///     rejects every new credential is retried forever.
  public convenience init(
    authenticator: AuthenticatorType, credential: Credential? = nil, refreshWindow: RefreshWindow? = RefreshWindow()
  ) {
    self.init(
      authenticator: authenticator, credential: credential, refreshWindow: refreshWindow,
      uptime: { ProcessInfo.processInfo.systemUptime })
  }

  init(
    authenticator: AuthenticatorType, credential: Credential?, refreshWindow: RefreshWindow?,
    uptime: @escaping @Sendable () -> TimeInterval
  ) {
    self.authenticator = authenticator
    self.uptime = uptime
    state = Mutex(
      AuthenticationState(
        credential: credential, window: refreshWindow.map { ($0.interval, $0.maximumAttempts) }))
  }

  /// The current credential. It may be set at any time. If it is set during a refresh that succeeds, the refreshed credential
  /// replaces it.
  public var credential: Credential? {
    get { state.withLock { $0.current?.credential } }
    set {
      // The previous credential is released outside the lock, because its deinitializer may use the interceptor.
      let old = state.withLock { state in
        let old = state.current
        state.replaceCredential(newValue)
        return old
      }
      withExtendedLifetime(old) {}
    }
  }

  /// Calls `completion` with the request after adding the credential to it. If the credential requires a refresh, refreshes the
  /// credential first.
  ///
  /// If no valid credential is available, calls `completion` with an ``AuthenticationError``, or with the error of the
  /// authenticator's `refresh`.
  @preconcurrency
  public func adapt(
    _ urlRequest: URLRequest, for session: Session,
    completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
  ) {
    let waiter = Waiter.adapt(urlRequest, session, completion)
    while true {
      switch state.withLock({ $0.admit(waiter) }) {
      case .waiting: return
      case .missing: return completion(.failure(AuthenticationError.missingCredential))
      case .current(let current):
        guard current.credential.requiresRefresh else {
          state.withLock { $0.clearFailure(of: current) }
          var authenticated = urlRequest
          authenticator.apply(current.credential, to: &authenticated)
          return completion(.success(authenticated))
        }
        // If the credential was replaced in the meantime, `join` returns false, and the new credential is tried.
        if join(waiter, after: current, for: session) { return }
      }
    }
  }

  /// Retries a request whose credential the server has rejected. If no newer credential is available, refreshes the credential
  /// first.
  ///
  /// Calls `completion` with ``RetryResult/retry``; with ``RetryResult/doNotRetry`` if the request failed for another
  /// reason; or with the ``AuthenticationError`` or the error of the authenticator's `refresh` if no new credential is
  /// available.
  @preconcurrency
  public func retry(
    _ request: Request, for session: Session, dueTo error: any Error,
    completion: @escaping @Sendable (_ result: RetryResult) -> Void
  ) {
    guard let urlRequest = request.request, let response = request.response,
      authenticator.didRequest(urlRequest, with: response, failDueToAuthenticationError: error)
    else { return completion(.doNotRetry) }
    guard let current = state.withLock({ $0.current }) else {
      return completion(.doNotRetryWithError(AuthenticationError.missingCredential))
    }
    guard authenticator.isRequest(urlRequest, authenticatedWith: current.credential) else { return completion(.retry) }
    if !join(.retry(completion), after: current, for: session) {
      // The credential was replaced in the meantime, so the request was sent with an earlier credential.
      completion(credential == nil ? .doNotRetryWithError(AuthenticationError.missingCredential) : .retry)
    }
  }

  /// Makes `waiter` wait for a refresh of `credential`, and begins the refresh unless one is running. If the refresh limit or an
  /// earlier failure prevents the refresh, passes the error to `waiter`. If `credential` is no longer the current credential,
  /// returns false and ignores `waiter`.
  private func join(_ waiter: Waiter, after credential: Numbered<Credential>, for session: Session) -> Bool {
    let now = uptime()
    switch state.withLock({ $0.join(waiter, after: credential, now: now) }) {
    case .outdated: return false
    case .waiting: break
    case .refused(let error): answer(waiter, .failure(error))
    case .begin(let number):
      queue.async {
        self.authenticator.refresh(credential.credential, for: session) { self.finishRefresh(number, $0) }
      }
    }
    return true
  }

  private func finishRefresh(_ number: Int, _ result: Result<Credential, any Error>) {
    let waiters = state.withLock { $0.finishRefresh(number, result) }
    guard !waiters.isEmpty else { return }
    queue.async {
      for waiter in waiters { self.answer(waiter, result.map { _ in () }) }
    }
  }

  private func answer(_ waiter: Waiter, _ result: Result<Void, any Error>) {
    switch (waiter, result) {
    case (.adapt(let urlRequest, let session, let completion), .success):
      adapt(urlRequest, for: session, completion: completion)
    case (.adapt(_, _, let completion), .failure(let error)): completion(.failure(error))
    case (.retry(let completion), .success): completion(.retry)
    case (.retry(let completion), .failure(let error)): completion(.doNotRetryWithError(error))
    }
  }
}
