// Session+RequestDelegate: the methods that requests call on their session.

public import Foundation
public import LupineURLSession
import Synchronization

extension Session: RequestDelegate {
  /// A copy of the session's configuration. Changing the copy has no effect on the session.
  public var sessionConfiguration: URLSessionConfiguration { session.configuration }

  /// Whether a request is resumed when its first response handler is added.
  public var startImmediately: Bool { startRequestsImmediately }

  /// Retains the request until it has finished. Requests call this method before they create their task.
  public func readyToPerform(request: Request) {
    // A request of another session remains with that session.
    if request.session === self { keep(request) }
  }

  /// Releases the request. Requests call this method when they have finished, before they call their response handlers.
  public func cleanup(after request: Request) {
    _ = activeRequests.withLock { $0.remove(request) }
  }

  /// Calls the session's retriers and then the request's retriers, and passes their decision to `completion` on the root queue.
  public func retryResult(
    for request: Request, dueTo error: AFError, completion: @escaping @Sendable (RetryResult) -> Void
  ) {
    guard hasInterceptor || request.has(.interceptors) else { return completion(.doNotRetry) }
    askRetriers(about: request, dueTo: error) { [root] result in root.perform { completion(result) } }
  }

  /// Retries the request after `timeDelay` seconds, or immediately if `timeDelay` is nil.
  public func retryRequest(_ request: Request, withDelay timeDelay: TimeInterval?) {
    root.perform(.immediate) { request.retry(after: timeDelay) }
  }
}

// The internal methods that requests call.
extension Session {
  /// Runs the closures of the session and its requests on the root queue, in the order in which they are submitted.
  var root: SerialQueue { queues.root }

  /// The monitor that notifies all of the session's monitors, or nil if there are none.
  var requestMonitor: CompositeEventMonitor? { eventMonitor.monitors.isEmpty ? nil : eventMonitor }

  /// Creates the `URLRequest` and the task for the attempt with the given number. Called on the root queue.
  func build(_ request: Request, attempt: Int) {
    RequestBuild(request: request, session: self, attempt: attempt).start()
  }

  /// Returns whether there is a retrier to call after a failure of `request`. Returns false if the session can no longer create
  /// tasks.
  func hasRetrier(for request: Request) -> Bool {
    (hasInterceptor || request.has(.interceptors)) && session.isValid
  }

  /// Calls the retriers after a failure of `request`. Passes the retriers' decision to `completion` once, on any thread.
  func askRetriers(about request: Request, dueTo error: AFError, completion: @escaping @Sendable (RetryResult) -> Void)
  {
    guard let retrier = interceptors(for: request) else { return completion(.doNotRetry) }
    // `interceptors(for:)` captures the session weakly, so that a slow retrier doesn't keep the session alive. When the session
    // is released, its requests end.
    retrier.retry(request, for: self, dueTo: error) { result in
      guard case .doNotRetryWithError(let retryError) = result else { return completion(result) }
      completion(.doNotRetryWithError(AFError.requestRetryFailed(retryError: retryError, originalError: error)))
    }
  }

  /// Returns an interceptor that calls the session's interceptor and then the request's interceptors, or nil if there are none.
  /// Even a single interceptor is wrapped in an `Interceptor`, which ignores all answers after the first.
  func interceptors(for request: Request) -> Interceptor? {
    guard hasInterceptor || request.has(.interceptors) else { return nil }
    let own = request.mutableState.withLock { $0.interceptors }
    return Interceptor(interceptors: (interceptor.map { [$0] } ?? []) + own)
  }
}
