// Session as the delegate of its requests.

public import Foundation
public import LupineURLSession
import Synchronization

extension Session: RequestDelegate {
  /// A copy of the session's configuration. Changing it has no effect on the session.
  public var sessionConfiguration: URLSessionConfiguration { session.configuration }

  /// Whether a request is resumed when its first response handler is added.
  public var startImmediately: Bool { startRequestsImmediately }

  /// Called before a request is built. Retains the request until it has finished.
  public func readyToPerform(request: Request) {
    // A request of another session stays with that session.
    if request.session === self { keep(request) }
  }

  /// Releases a request that has finished and whose response handlers have run.
  public func cleanup(after request: Request) {
    _ = activeRequests.withLock { $0.remove(request) }
  }

  /// Asks the session's retriers, then the request's, and calls `completion` with their decision on the root queue.
  public func retryResult(
    for request: Request, dueTo error: AFError, completion: @escaping @Sendable (RetryResult) -> Void
  ) {
    guard interceptor != nil || !request.interceptors.isEmpty else { return completion(.doNotRetry) }
    askRetriers(about: request, dueTo: error) { [root] result in root.perform { completion(result) } }
  }

  /// Retries the request after a delay in seconds; nil for no delay.
  public func retryRequest(_ request: Request, withDelay timeDelay: TimeInterval?) {
    root.perform(.atOnce) { request.retry(after: timeDelay) }
  }
}

extension Session: RequestSession {
  var requestMonitor: (any RequestMonitor)? { eventMonitor.monitors.isEmpty ? nil : eventMonitor }

  func build(_ request: Request, attempt: Int) {
    RequestBuild(request: request, session: self, attempt: attempt).start()
  }

  func hasRetrier(for request: Request) -> Bool {
    (interceptor != nil || !request.interceptors.isEmpty) && session.isValid
  }

  func askRetriers(about request: Request, dueTo error: AFError, completion: @escaping @Sendable (RetryResult) -> Void)
  {
    guard let retrier = interceptors(for: request) else { return completion(.doNotRetry) }
    // `interceptors(for:)` captures the session weakly: a slow retrier doesn't keep it alive, and its requests end with it.
    retrier.retry(request, for: self, dueTo: error) { result in
      guard case .doNotRetryWithError(let retryError) = result else { return completion(result) }
      completion(.doNotRetryWithError(AFError.requestRetryFailed(retryError: retryError, originalError: error)))
    }
  }

  /// Returns the interceptors of the session and the request, in order; nil if there are none. Wraps even a single one in an
  /// `Interceptor`, which ignores all answers after the first.
  func interceptors(for request: Request) -> Interceptor? {
    let interceptors = (interceptor.map { [$0] } ?? []) + request.interceptors
    return interceptors.isEmpty ? nil : Interceptor(interceptors: interceptors)
  }
}
