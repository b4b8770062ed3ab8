// `RetryPolicy`: retries requests by method, status code and URLError, with increasing delays.

public import Foundation

// Unchecked because the class is open. All state is constant.
/// A retrier that retries requests after transient failures, with exponentially increasing delays.
///
/// By default, only idempotent methods are retried; see ``shouldRetry(request:dueTo:)``.
open class RetryPolicy: RequestInterceptor, @unchecked Sendable {
  /// The maximum number of retries for each request. 2 by default, so a request is sent at most three times.
  public let retryLimit: UInt
  /// The factor by which the delay before a retry grows with each retry. At least 2, and 2 by default.
  public let exponentialBackoffBase: UInt
  /// The delay before the first retry, in seconds. 0.5 by default.
  public let exponentialBackoffScale: Double
  /// The request methods that may be retried. By default, the idempotent methods; see ``defaultRetryableHTTPMethods``.
  public let retryableHTTPMethods: Set<HTTPMethod>
  /// The status codes after which a request is retried. By default, 408, 500, 502, 503 and 504.
  public let retryableHTTPStatusCodes: Set<Int>
  /// The transfer errors after which a request is retried. By default, those in ``defaultRetryableURLErrorCodes``.
  public let retryableURLErrorCodes: Set<URLError.Code>

  /// Creates a retry policy. A base below 2 is a programming error, which stops the program.
  ///
  /// - Parameters:
  ///   - retryLimit: The maximum number of retries per request. 2 by default.
  ///   - exponentialBackoffBase: The factor between two consecutive delays, at least 2. 2 by default.
  ///   - exponentialBackoffScale: The delay before the first retry, in seconds. 0.5 by default.
  ///   - retryableHTTPMethods: The methods that may be retried. By default, the idempotent methods.
  ///   - retryableHTTPStatusCodes: The status codes after which a request is retried. By default, 408, 500, 502, 503 and 504.
  ///   - retryableURLErrorCodes: The transfer errors after which a request is retried. See ``defaultRetryableURLErrorCodes``.
  public init(
    retryLimit: UInt = RetryPolicy.defaultRetryLimit,
    exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
    exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
    retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods,
    retryableHTTPStatusCodes: Set<Int> = RetryPolicy.defaultRetryableHTTPStatusCodes,
    retryableURLErrorCodes: Set<URLError.Code> = RetryPolicy.defaultRetryableURLErrorCodes
  ) {
    precondition(
      exponentialBackoffBase >= 2, "exponentialBackoffBase is \(exponentialBackoffBase). Pass at least 2.")
    self.retryLimit = retryLimit
    self.exponentialBackoffBase = exponentialBackoffBase
    self.exponentialBackoffScale = exponentialBackoffScale
    self.retryableHTTPMethods = retryableHTTPMethods
    self.retryableHTTPStatusCodes = retryableHTTPStatusCodes
    self.retryableURLErrorCodes = retryableURLErrorCodes
  }

  /// Calls `completion` with ``RetryResult/retryWithDelay(_:)`` if the request hasn't reached ``retryLimit`` and
  /// ``shouldRetry(request:dueTo:)`` returns true. Otherwise, calls it with ``RetryResult/doNotRetry``.
  ///
  /// The delay is `exponentialBackoffScale * pow(exponentialBackoffBase, retryCount)` seconds.
  @preconcurrency
  open func retry(
    _ request: Request, for session: Session, dueTo error: any Error,
    completion: @escaping @Sendable (_ result: RetryResult) -> Void
  ) {
    guard let delay = delay(afterRetries: request.retryCount), shouldRetry(request: request, dueTo: error) else {
      return completion(.doNotRetry)
    }
    completion(.retryWithDelay(delay))
  }

  /// Returns whether the request may be retried after `error`. The request's method must be retryable, and so must the response's
  /// status code or the error.
  ///
  /// The error may be a `URLError`, or an ``AFError`` that wraps one.
  open func shouldRetry(request: Request, dueTo error: any Error) -> Bool {
    guard let method = request.request?.method, retryableHTTPMethods.contains(method) else { return false }
    if let statusCode = request.response?.statusCode, retryableHTTPStatusCodes.contains(statusCode) { return true }
    return error.urlErrorCode.map(retryableURLErrorCodes.contains) ?? false
  }

  /// Returns the delay, in seconds, before the next retry of a request that was already retried `count` times, or nil if
  /// ``retryLimit`` is reached.
  func delay(afterRetries count: Int) -> TimeInterval? {
    guard count < retryLimit else { return nil }
    return pow(Double(exponentialBackoffBase), Double(count)) * exponentialBackoffScale
  }
}

// Unchecked for the same reason as the superclass. This class adds no state.
/// A retrier that retries requests whose connection was lost, as RFC 9110 §9.2.2 allows for idempotent methods.
open class ConnectionLostRetryPolicy: RetryPolicy, @unchecked Sendable {
  /// Creates a policy that retries only after `URLError.networkConnectionLost`. In all
  /// other respects, it behaves like ``RetryPolicy``.
  ///
  /// - Parameters:
  ///   - retryLimit: The maximum number of retries per request. 2 by default.
  ///   - exponentialBackoffBase: The factor between two consecutive delays, at least 2. 2 by default.
  ///   - exponentialBackoffScale: The delay before the first retry, in seconds. 0.5 by default.
  ///   - retryableHTTPMethods: The methods that may be retried. By default, the idempotent methods.
  public init(
    retryLimit: UInt = RetryPolicy.defaultRetryLimit,
    exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
    exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
    retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods
  ) {
    super.init(
      retryLimit: retryLimit, exponentialBackoffBase: exponentialBackoffBase,
      exponentialBackoffScale: exponentialBackoffScale, retryableHTTPMethods: retryableHTTPMethods,
      retryableHTTPStatusCodes: [], retryableURLErrorCodes: [.networkConnectionLost])
  }
}
