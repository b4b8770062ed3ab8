// `RequestInterceptor`: adapts requests before they are sent, and retries them after failures.

public import Foundation
public import LupineURLSession

/// The context of a call of an adapter: the request and the session.
public struct RequestAdapterState: Sendable {
  /// The `id` of the ``Request`` to which the `URLRequest` belongs.
  public let requestID: UUID
  /// The session of the request.
  public let session: Session
}

/// A type that can change the `URLRequest` of each attempt to send a request.
public protocol RequestAdapter: Sendable {
  /// Adapts `urlRequest`, then calls `completion` once, on any thread, with the request to send or the error with which to fail.
  ///
  /// The request waits until `completion` is called. Further calls of `completion` are ignored.
  @preconcurrency
  func adapt(
    _ urlRequest: URLRequest, for session: Session,
    completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void)

  /// Adapts `urlRequest`. Unlike `adapt(_:for:completion:)`, this method also receives the ID of the ``Request``. Sessions call
  /// this method. By default, it calls `adapt(_:for:completion:)`.
  @preconcurrency
  func adapt(
    _ urlRequest: URLRequest, using state: RequestAdapterState,
    completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void)
}

extension RequestAdapter {
  /// Calls `adapt(_:for:completion:)` with the session that `state` contains.
  @preconcurrency
  public func adapt(
    _ urlRequest: URLRequest, using state: RequestAdapterState,
    completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
  ) {
    adapt(urlRequest, for: state.session, completion: completion)
  }
}

/// A type that decides whether a failed request is sent again.
public protocol RequestRetrier: Sendable {
  /// Decides whether `request` is retried, then calls `completion` once, on any thread.
  ///
  /// The request waits until `completion` is called. Further calls of `completion` are ignored.
  @preconcurrency
  func retry(
    _ request: Request, for session: Session, dueTo error: any Error,
    completion: @escaping @Sendable (_ result: RetryResult) -> Void)
}

/// A type that is both an adapter and a retrier. By default, it neither changes nor retries requests.
///
/// ```swift
/// struct APIKey: RequestInterceptor {
///   func adapt(
///     _ urlRequest: URLRequest, for session: Session,
///     completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
///   ) {
///     var urlRequest = urlRequest
///     urlRequest.headers.add(name: "X-API-Key", value: "secret")
///     completion(.success(urlRequest))
///   }
/// }
/// ```
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
  /// Calls `completion` with `urlRequest` unchanged.
  @preconcurrency
  public func adapt(
    _ urlRequest: URLRequest, for session: Session,
    completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
  ) {
    completion(.success(urlRequest))
  }

  /// Calls `completion` with ``RetryResult/doNotRetry``, so that the request isn't retried.
  @preconcurrency
  public func retry(
    _ request: Request, for session: Session, dueTo error: any Error,
    completion: @escaping @Sendable (_ result: RetryResult) -> Void
  ) {
    completion(.doNotRetry)
  }
}

/// A closure that adapts a `URLRequest` for an ``Adapter``. It must call its completion once.
public typealias AdaptHandler =
  @Sendable (
    _ urlRequest: URLRequest, _ session: Session,
    _ completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
  ) -> Void

/// A closure that decides about a retry for a ``Retrier``. It must call its completion once.
public typealias RetryHandler =
  @Sendable (
    _ request: Request, _ session: Session, _ error: any Error,
    _ completion: @escaping @Sendable (_ result: RetryResult) -> Void
  ) -> Void
