// The options of a request: adapters, retriers, handlers, a credential, monitors.

public import Foundation
public import LupineURLSession
import Synchronization

extension Request {
  /// Adds an interceptor, which runs after the session's interceptor and those added before.
  @discardableResult
  public func interceptor(_ interceptor: any RequestInterceptor) -> Self {
    mutableState.withLock { $0.append(interceptor) }
    return self
  }

  /// Adds an adapter, which runs after those added before.
  @discardableResult
  public func adapt(using adapter: any RequestAdapter) -> Self {
    interceptor(Interceptor(adapters: [adapter]))
  }

  /// Adds a retrier, which decides after those added before.
  @discardableResult
  public func retry(using retrier: any RequestRetrier) -> Self {
    interceptor(Interceptor(retriers: [retrier]))
  }

  /// Sets the handler of this request's redirects, which replaces the session's.
  @discardableResult
  public func redirect(using handler: any RedirectHandler) -> Self {
    set(\.redirectHandler, to: handler)
    return self
  }

  /// Sets the handler that decides about storing this request's response, which replaces the session's.
  @discardableResult
  public func cacheResponse(using handler: any CachedResponseHandler) -> Self {
    set(\.cachedResponseHandler, to: handler)
    return self
  }

  /// Sets the user name and password for servers that request Basic authentication, the only supported scheme.
  ///
  /// - Parameters:
  ///   - username: The user's name.
  ///   - password: The user's password.
  ///   - persistence: How long the session keeps the credential; until its end by default.
  @discardableResult
  public func authenticate(
    username: String, password: String, persistence: URLCredential.Persistence = .forSession
  ) -> Self {
    authenticate(with: URLCredential(user: username, password: password, persistence: persistence))
  }

  /// Sets the credential for servers that request Basic authentication, the only supported scheme.
  @discardableResult
  public func authenticate(with credential: URLCredential) -> Self {
    set(\.credential, to: credential)
    return self
  }

  /// Sets an option. Releases the old value after the lock, because its `deinit` may access the request.
  func set<Value: Sendable>(_ path: WritableKeyPath<MutableState, Value>, to value: Value) {
    _ = mutableState.withLock { state in
      let old = state[keyPath: path]
      state[keyPath: path] = value
      return old
    }
  }

  /// Adds a monitor of this request, notified after the session's monitors and those that were added before.
  ///
  /// It receives the `request…` events. Those of the `URLSession` and its tasks (`urlSession(…)`) go to the session's
  /// monitors only.
  @discardableResult
  public func eventMonitor(_ monitor: any EventMonitor) -> Self {
    mutableState.withLock { state in
      let monitors = CompositeEventMonitor(
        queue: underlyingQueue, monitors: ((state.eventMonitor as? CompositeEventMonitor)?.monitors ?? []) + [monitor])
      state.eventMonitor = monitors
      if monitors.hasListeners { state.endsInLine = true }
    }
    return self
  }

  /// Calls `handler` on `queue` with each `URLRequest` created for this request, before it is sent. If there is one already,
  /// calls it with the latest at once.
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

  /// Calls `handler` on `queue` with each task created for this request, before it is resumed. If there is one already, calls it
  /// with the latest at once.
  @preconcurrency
  @discardableResult
  public func onURLSessionTaskCreation(
    on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (URLSessionTask) -> Void
  ) -> Self {
    let handler: TaskHandler = { task in queue.async { handler(task) } }
    let existing = mutableState.withLock { state in
      state.taskHandlers.append(handler)
      state.endsInLine = true
      return state.tasks.last
    }
    if let existing { handler(existing) }
    return self
  }

  /// Calls `handler` on the underlying queue each time that a `URLRequest` is created, or can't be. If there was such an event
  /// before, calls it with the latest.
  func onCreation(_ handler: @escaping CreationHandler) {
    let latest = mutableState.withLock { state -> Result<URLRequest, BuildFailure>? in
      state.creationHandlers.append(handler)
      state.endsInLine = true
      if let request = state.requests.last { return .success(request) }
      return state.hasFailedToBuild ? .failure(BuildFailure(initialRequest: nil)) : nil
    }
    if let latest { root.perform { handler(latest) } }
  }
}
