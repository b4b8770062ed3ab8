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
    guard let retrier = interceptors(for: request) else { return completion(.doNotRetry) }
    // The session isn't kept by a retrier that takes its time: its requests end with it.
    retrier.retry(request, for: self, dueTo: error) { [rootQueue] result in
      // Wherever the retrier has made up its mind.
      rootQueue.async {
        guard case .doNotRetryWithError(let retryError) = result else { return completion(result) }
        completion(.doNotRetryWithError(AFError.requestRetryFailed(retryError: retryError, originalError: error)))
      }
    }
  }

  /// Sends the request again, after a delay in seconds.
  public func retryRequest(_ request: Request, withDelay timeDelay: TimeInterval?) {
    session.delivery.performHere { request.retry(after: timeDelay) }
  }
}
