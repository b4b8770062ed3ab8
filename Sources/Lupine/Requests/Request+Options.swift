// What a request can be given on its way: adapters, retriers, handlers, a credential, monitors.

public import Foundation
public import LupineURLSession
import Synchronization

extension Request {
  /// Adds what adapts and retries this request, behind the session's interceptor and those that were added before.
  @discardableResult
  public func interceptor(_ interceptor: any RequestInterceptor) -> Self {
    mutableState.withLock { $0.append(interceptor) }
    return self
  }

  /// Adds what adapts this request, behind those that were added before.
  @discardableResult
  public func adapt(using adapter: any RequestAdapter) -> Self {
    interceptor(Interceptor(adapters: [adapter]))
  }

  /// Adds what decides about sending this request again, behind those that were added before.
  @discardableResult
  public func retry(using retrier: any RequestRetrier) -> Self {
    interceptor(Interceptor(retriers: [retrier]))
  }

  /// Lets `handler` decide about this request's redirects, in place of the session's handler.
  @discardableResult
  public func redirect(using handler: any RedirectHandler) -> Self {
    set(\.redirectHandler, to: handler)
    return self
  }

  /// Lets `handler` decide about storing this request's response, in place of the session's handler.
  @discardableResult
  public func cacheResponse(using handler: any CachedResponseHandler) -> Self {
    set(\.cachedResponseHandler, to: handler)
    return self
  }

  /// Offers a user's name and password to a server that asks for them by Basic, the only scheme that is supported.
  @discardableResult
  public func authenticate(
    username: String, password: String, persistence: URLCredential.Persistence = .forSession
  ) -> Self {
    authenticate(with: URLCredential(user: username, password: password, persistence: persistence))
  }

  /// Offers a credential to a server that asks for one by Basic, the only scheme that is supported.
  @discardableResult
  public func authenticate(with credential: URLCredential) -> Self {
    set(\.credential, to: credential)
    return self
  }

  /// Lets go of the old value outside the lock, since it may be anybody's, with a `deinit` that asks the request.
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

  /// Calls `handler` on `queue` with each `URLRequest` that is made, before it is sent, and with the latest if there is
  /// one already.
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

  /// Calls `handler` on `queue` with each task that is made, before it is resumed, and with the latest if there is one
  /// already.
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

  /// Calls `handler` on the underlying queue with each request when it is built, or couldn't be, and with the latest if
  /// that was before.
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
