// What may change a request before it is sent, and what may send it again after it has failed.

public import Foundation
public import LupineURLSession

/// What an adapter may know of the request that it adapts.
public struct RequestAdapterState: Sendable {
  /// The `id` of the ``Request`` that the `URLRequest` is for.
  public let requestID: UUID
  /// The session that runs the request.
  public let session: Session
}

/// Changes a request each time before it is sent, retries included.
public protocol RequestAdapter: Sendable {
  /// Looks at `urlRequest` and calls `completion` once, on any thread, with what is to be sent in its place or with the
  /// error to fail with.
  ///
  /// Nothing goes on until then. An answer after the first is ignored.
  @preconcurrency
  func adapt(
    _ urlRequest: URLRequest, for session: Session,
    completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void)

  /// The same with more to know; sessions call this one. Unless it is implemented, it calls the other.
  @preconcurrency
  func adapt(
    _ urlRequest: URLRequest, using state: RequestAdapterState,
    completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void)
}

extension RequestAdapter {
  /// Calls `adapt(_:for:completion:)` with the state's session.
  @preconcurrency
  public func adapt(
    _ urlRequest: URLRequest, using state: RequestAdapterState,
    completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
  ) {
    adapt(urlRequest, for: state.session, completion: completion)
  }
}

/// Decides about sending a request again after it has failed.
public protocol RequestRetrier: Sendable {
  /// Looks at what failed and why, and calls `completion` once, on any thread.
  ///
  /// The request hasn't ended until then. An answer after the first is ignored.
  @preconcurrency
  func retry(
    _ request: Request, for session: Session, dueTo error: any Error,
    completion: @escaping @Sendable (_ result: RetryResult) -> Void)
}

/// An adapter and a retrier in one; what a type doesn't implement leaves the request alone.
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
  /// Answers with the request as it is.
  @preconcurrency
  public func adapt(
    _ urlRequest: URLRequest, for session: Session,
    completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
  ) {
    completion(.success(urlRequest))
  }

  /// Answers ``RetryResult/doNotRetry``.
  @preconcurrency
  public func retry(
    _ request: Request, for session: Session, dueTo error: any Error,
    completion: @escaping @Sendable (_ result: RetryResult) -> Void
  ) {
    completion(.doNotRetry)
  }
}

/// An adapter as a closure; it calls its completion once.
public typealias AdaptHandler =
  @Sendable (
    _ urlRequest: URLRequest, _ session: Session,
    _ completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
  ) -> Void

/// A retrier as a closure; it calls its completion once.
public typealias RetryHandler =
  @Sendable (
    _ request: Request, _ session: Session, _ error: any Error,
    _ completion: @escaping @Sendable (_ result: RetryResult) -> Void
  ) -> Void
