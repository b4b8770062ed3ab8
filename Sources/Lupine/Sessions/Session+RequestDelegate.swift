// What a session's requests ask of it.

public import Foundation
public import LupineURLSession
import Synchronization

extension Session: RequestDelegate {
  /// The configuration as it was when the session was made; changing it has no effect.
  public var sessionConfiguration: URLSessionConfiguration { session.configuration }

  /// Whether a request is resumed when it gets its first response handler.
  public var startImmediately: Bool { startRequestsImmediately }

  /// The request begins to be made ready. Nothing has to be done; here for those who stand in for a session.
  public func readyToPerform(request: Request) {
    // Another session's is in that one's registry.
    if request.session === self { keep(request) }
  }

  /// The request has ended, and its response handlers have run: it is let go of.
  public func cleanup(after request: Request) {
    _ = activeRequests.withLock { $0.remove(request) }
  }

  /// Asks the session's retrier, then the request's, whether the request is to be sent again.
  public func retryResult(
    for request: Request, dueTo error: AFError, completion: @escaping @Sendable (RetryResult) -> Void
  ) {
    guard interceptor != nil || !request.interceptors.isEmpty else { return completion(.doNotRetry) }
    askRetriers(about: request, dueTo: error) { [root] result in root.perform { completion(result) } }
  }

  /// Sends the request again, after a delay in seconds.
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
    // A slow retrier doesn't keep the session alive: the session's requests end with it.
    retrier.retry(request, for: self, dueTo: error) { result in
      guard case .doNotRetryWithError(let retryError) = result else { return completion(result) }
      completion(.doNotRetryWithError(AFError.requestRetryFailed(retryError: retryError, originalError: error)))
    }
  }

  /// The interceptors of the session and the request, in order; nil if there are none. It is a chain even of one, since a
  /// chain takes only the first answer.
  func interceptors(for request: Request) -> Interceptor? {
    let interceptors = (interceptor.map { [$0] } ?? []) + request.interceptors
    return interceptors.isEmpty ? nil : Interceptor(interceptors: interceptors)
  }
}
