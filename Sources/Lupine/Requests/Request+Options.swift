// Request+Options: the options of a request: adapters, retriers, handlers, a credential and monitors.

public import Foundation
public import LupineURLSession
import Synchronization

extension Request {
  /// An interceptor that combines the adapters and retriers added to this request, or nil if there are none. The session's
  /// interceptor isn't included.
  public var interceptor: (any RequestInterceptor)? {
    let interceptors = mutableState.withLock { $0.interceptors }
    return interceptors.count > 1 ? Interceptor(interceptors: interceptors) : interceptors.first
  }
  /// The handler that decides about this request's redirects, or nil to use the session's handler.
  public var redirectHandler: (any RedirectHandler)? { mutableState.withLock { $0.redirectHandler } }
  /// The handler that decides whether this request's response is cached, or nil to use the session's handler.
  public var cachedResponseHandler: (any CachedResponseHandler)? {
    has(.cachedResponseHandler) ? mutableState.withLock { $0.cachedResponseHandler } : nil
  }
  /// The credential with which the request answers authentication challenges, or nil if none was set.
  public var credential: URLCredential? { mutableState.withLock { $0.credential } }

  /// Adds an interceptor to this request. The interceptor runs after the session's interceptor and after those added earlier.
  @discardableResult
  public func interceptor(_ interceptor: any RequestInterceptor) -> Self {
    mutableState.withLock { $0.interceptors.append(interceptor) }
    didAdd(.interceptors)
    return self
  }

  /// Adds an adapter to this request. The adapter runs after those added earlier.
  @discardableResult
  public func adapt(using adapter: any RequestAdapter) -> Self {
    interceptor(Interceptor(adapters: [adapter]))
  }

  /// Adds a retrier to this request. The retrier is called after those added earlier.
  @discardableResult
  public func retry(using retrier: any RequestRetrier) -> Self {
    interceptor(Interceptor(retriers: [retrier]))
  }

  /// Changes the settings of this request that have no counterpart in Alamofire, such as a time limit for each phase, a proxy, or
  /// TLS settings. This method is Lupine's addition to Alamofire's API.
  ///
  /// ```swift
  /// AF.request("https://example.com/report").lupine { $0.timeouts = Timeouts(everyPhase: .seconds(20), total: .seconds(300)) }
  /// ```
  ///
  /// This method adds an adapter: `change` is called for each attempt, after the adapters added before, with the settings of
  /// the `URLRequest`.
  ///
  /// - Parameter change: Changes the settings. Called on an internal queue.
  @discardableResult
  public func lupine(_ change: @escaping @Sendable (inout RequestSettings) -> Void) -> Self {
    adapt(
      using: Adapter { urlRequest, _, completion in
        var urlRequest = urlRequest
        change(&urlRequest.lupine)
        completion(.success(urlRequest))
      })
  }

  /// Sets the handler that decides about this request's redirects, in place of the session's handler.
  @discardableResult
  public func redirect(using handler: any RedirectHandler) -> Self {
    set(\.redirectHandler, to: handler)
    return self
  }

  /// Sets the handler that decides whether this request's response is cached, in place of the session's handler.
  @discardableResult
  public func cacheResponse(using handler: any CachedResponseHandler) -> Self {
    set(\.cachedResponseHandler, to: handler)
    didAdd(.cachedResponseHandler)
    return self
  }

  /// Sets the user name and password with which the request answers authentication challenges from its own origin.
  ///
  /// The user name and the password are used for Basic, Digest and NTLM. An empty user name permits Negotiate with the Kerberos
  /// ticket of the process.
  ///
  /// - Parameters:
  ///   - username: The user's name.
  ///   - password: The user's password.
  ///   - persistence: How long the credential is stored. By default, until the session ends.
  @discardableResult
  public func authenticate(
    username: String, password: String, persistence: URLCredential.Persistence = .forSession
  ) -> Self {
    authenticate(with: URLCredential(user: username, password: password, persistence: persistence))
  }

  /// Sets the credential with which the request answers authentication challenges from its own origin.
  @discardableResult
  public func authenticate(with credential: URLCredential) -> Self {
    set(\.credential, to: credential)
    return self
  }

  /// Adds an event monitor to this request. The monitor is notified after the session's monitors and the monitors added earlier.
  ///
  /// The monitor receives the `request…` events. Only the session's monitors receive the events of the
  /// `URLSession` and its tasks (`urlSession(…)`).
  @discardableResult
  public func eventMonitor(_ monitor: any EventMonitor) -> Self {
    mutableState.withLock { state in
      let monitors = CompositeEventMonitor(
        queue: underlyingQueue, monitors: (state.eventMonitor?.monitors ?? []) + [monitor])
      state.eventMonitor = monitors
      if monitors.hasListeners { state.endIsQueued = true }
    }
    return self
  }

  /// Calls `handler` on `queue` with each `URLRequest` created for this request, before it is sent. If `URLRequest`s have already
  /// been created, calls `handler` immediately with the latest one.
  @preconcurrency
  @discardableResult
  public func onURLRequestCreation(
    on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (URLRequest) -> Void
  ) -> Self {
    onCreation { result in
      if case .success(let request) = result { queue.async { handler(request) } }
    }
    return self
  }

  /// Calls `handler` on `queue` with each task created for this request, before the task is resumed. If tasks have already been
  /// created, calls `handler` immediately with the latest one.
  @preconcurrency
  @discardableResult
  public func onURLSessionTaskCreation(
    on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (URLSessionTask) -> Void
  ) -> Self {
    let handler: TaskHandler = { task in queue.async { handler(task) } }
    let existing = mutableState.withLock { state in
      state.taskHandlers.append(handler)
      state.endIsQueued = true
      return state.tasks.last
    }
    if let existing { handler(existing) }
    return self
  }

  /// Calls `handler` on the underlying queue with the result of each attempt to create a `URLRequest`. If there are earlier
  /// results, begins with the latest one.
  func onCreation(_ handler: @escaping CreationHandler) {
    let latest = mutableState.withLock { state -> Result<URLRequest, BuildFailure>? in
      state.creationHandlers.append(handler)
      state.endIsQueued = true
      // While an attempt adapts its `URLRequest`, that one isn't reported here, because the attempt will report the result.
      let count = state.isBuilding(state.retryCount) ? state.announcedRequestCount : state.requests.count
      if count > 0 { return .success(state.requests[count - 1]) }
      return state.hasFailedToBuild ? .failure(BuildFailure(initialRequest: nil)) : nil
    }
    if let latest { root.perform { handler(latest) } }
  }
}
