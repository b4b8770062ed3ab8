// RequestAdapter and RequestRetrier: change a session manager's requests before they are sent, and retry failed ones.

public import Foundation
public import LupineURLSession

/// Changes each request before it is sent.
public protocol RequestAdapter {
  /// Returns the request to send in place of `urlRequest`. If the method throws an error, the request fails with it.
  func adapt(_ urlRequest: URLRequest) throws -> URLRequest
}

/// A closure that receives a retrier's decision: whether to retry the request, and after how many seconds.
public typealias RequestRetryCompletion = (_ shouldRetry: Bool, _ timeDelay: TimeInterval) -> Void

/// Decides for each failed request whether it is sent again.
public protocol RequestRetrier {
  /// Decides whether to retry a request that has failed. It must call `completion` once, on any thread.
  func should(
    _ manager: SessionManager, retry request: Request, with error: any Error,
    completion: @escaping RequestRetryCompletion)
}
