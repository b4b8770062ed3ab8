// RequestAdapter and RequestRetrier: change a session manager's requests before they are sent, and retry failed ones.

public import Foundation
public import LupineURLSession

/// A type that changes each `URLRequest` of a session manager before it is sent.
public protocol RequestAdapter {
  /// Returns the `URLRequest` to send in place of `urlRequest`. If the method throws an error, the request fails with that error.
  func adapt(_ urlRequest: URLRequest) throws -> URLRequest
}

/// A closure that a retrier calls with its decision: whether to retry the request, and after how many seconds.
public typealias RequestRetryCompletion = (_ shouldRetry: Bool, _ timeDelay: TimeInterval) -> Void

/// A type that decides for each failed request whether it is sent again.
public protocol RequestRetrier {
  /// Decides whether to retry a failed request. The method must call `completion` once, on any thread.
  func should(
    _ manager: SessionManager, retry request: Request, with error: any Error,
    completion: @escaping RequestRetryCompletion)
}
