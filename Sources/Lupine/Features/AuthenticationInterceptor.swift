// Keeps a credential that expires: applies it to requests, and has it refreshed once for all that need it.

public import Foundation
public import LupineURLSession
import Synchronization

/// What requests are authenticated with, such as an OAuth 2 access token (RFC 6749 §1.4) with its refresh token.
public protocol AuthenticationCredential {
  /// Whether it has to be refreshed before a request is sent with it, as when it has expired or soon will.
  ///
  /// Asked for each request, from several threads.
  var requiresRefresh: Bool { get }
}

/// What an ``AuthenticationInterceptor`` has to know of a kind of authentication.
///
/// Its methods are called on several threads, but none of them while `refresh` is called.
public protocol Authenticator: Sendable {
  /// What requests are authenticated with.
  associatedtype Credential: AuthenticationCredential & Sendable

  /// Writes the credential into the request, usually into its Authorization field.
  func apply(_ credential: Credential, to urlRequest: inout URLRequest)

  /// Gets a new credential in place of `credential`, then calls `completion` once, on any thread, at once or later.
  ///
  /// Requests wait for it, so call it whatever happens, after a time of your own choice at last; a second call is
  /// ignored. A request that is made here must not go through the interceptor that asks: it would wait for itself.
  @preconcurrency
  func refresh(
    _ credential: Credential, for session: Session,
    completion: @escaping @Sendable (_ result: Result<Credential, any Error>) -> Void)

  /// Whether the server refused the request for want of a valid credential, as by status 401 (RFC 9110 §15.5.2).
  func didRequest(
    _ urlRequest: URLRequest, with response: HTTPURLResponse, failDueToAuthenticationError error: any Error
  ) -> Bool

  /// Whether the request was sent with this credential, and not with one before it.
  func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Credential) -> Bool
}

/// Why an ``AuthenticationInterceptor`` lets a request fail.
public enum AuthenticationError: Error {
  /// There is no credential.
  case missingCredential
  /// The credential was refreshed as often as the ``AuthenticationInterceptor/RefreshWindow`` allows.
  case excessiveRefresh
}

extension AuthenticationError: LocalizedError {
  /// What happened and what to do about it.
  public var errorDescription: String? {
    switch self {
    case .missingCredential:
      "The request could not be authenticated without a credential. Set the interceptor's credential first."
    case .excessiveRefresh:
      """
      The credential was refreshed too often within the refresh window, and requests still fail. See that the server \
      accepts what the authenticator gets, or allow more attempts.
      """
    }
  }
}

/// Applies a credential to each request, and has it refreshed when it has expired or a server has refused it.
///
/// There is one refresh at a time, whoever needs it. Requests wait for it if the credential requires a refresh; if it
/// is a server that has refused it, only those requests wait that were refused, and new ones are sent with the
/// credential as it is. Who waits is answered once, in order. When a refresh after a refusal has failed, further
/// refusals of that credential fail with the same error at once, until there is another credential or another request
/// has been sent with this one.
public final class AuthenticationInterceptor<AuthenticatorType: Authenticator>: RequestInterceptor {
  /// What requests are authenticated with.
  public typealias Credential = AuthenticatorType.Credential

  /// How many refreshes there may be in how much time; more than that fail with `.excessiveRefresh`.
  public struct RefreshWindow: Sendable {
    /// Seconds that count, back from now.
    public let interval: TimeInterval
    /// Refreshes that may begin within them.
    public let maximumAttempts: Int

    /// A window; by default of five refreshes in half a minute.
    public init(interval: TimeInterval = 30.0, maximumAttempts: Int = 5) {
      self.interval = interval
      self.maximumAttempts = maximumAttempts
    }
  }

  private enum Waiter {
    case adapt(URLRequest, Session, @Sendable (Result<URLRequest, any Error>) -> Void)
    case retry(@Sendable (RetryResult) -> Void)

    var isAdapt: Bool {
      if case .adapt = self { true } else { false }
    }
  }

  private let authenticator: AuthenticatorType
  /// Seconds on a clock that is never set.
  private let uptime: @Sendable () -> TimeInterval
  /// Where refreshes begin and waiters are answered, so that neither happens within somebody's call or under the lock.
  private let queue = DispatchQueue(label: "lupine.authentication")
  private let state: Mutex<AuthenticationState<Credential, Waiter>>

  /// An interceptor that goes by `authenticator`.
  ///
  /// - Parameters:
  ///   - authenticator: knows the kind of authentication.
  ///   - credential: what to begin with; requests fail with `.missingCredential` while there is none.
  ///   - refreshWindow: how many refreshes there may be; with nil nothing ends a server's refusing what it has granted.
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

  /// What requests are authenticated with; it may be set at any time. A refresh that is under way replaces it later.
  public var credential: Credential? {
    get { state.withLock { $0.current?.credential } }
    set { state.withLock { $0.replaceCredential(newValue) } }
  }

  /// Answers with the request and the credential in it, after a refresh if it is required.
  ///
  /// Fails with an ``AuthenticationError`` or with the authenticator's error from `refresh`.
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
          return completion(.success(applying(current.credential, to: urlRequest)))
        }
        // If it was replaced just now, the one in its place may do.
        if join(waiter, after: current, for: session) { return }
      }
    }
  }

  /// Answers ``RetryResult/retry`` if the server has refused the request's credential and there is another one, after
  /// a refresh if need be; ``RetryResult/doNotRetry`` if the request has failed otherwise; and with the
  /// ``AuthenticationError`` or the authenticator's error from `refresh` if there is no credential to be had.
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
      // It was replaced just now, so the request was sent with one before it.
      completion(credential == nil ? .doNotRetryWithError(AuthenticationError.missingCredential) : .retry)
    }
  }

  private func applying(_ credential: Credential, to urlRequest: URLRequest) -> URLRequest {
    var authenticated = urlRequest
    authenticator.apply(credential, to: &authenticated)
    return authenticated
  }

  /// Has the waiter answered after a refresh, which is begun if none runs; false if the credential isn't current.
  private func join(_ waiter: Waiter, after credential: Numbered<Credential>, for session: Session) -> Bool {
    let now = uptime()
    switch state.withLock({ $0.join(waiter, isAdapt: waiter.isAdapt, after: credential, now: now) }) {
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
