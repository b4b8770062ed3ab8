// Retriers that go by method, status code and URLError, and wait longer each time.

public import Foundation

// Unchecked since the class is open: all of it is constant.
/// Retries requests that may be sent twice and have met what may pass, after a delay that grows exponentially.
///
/// A policy retries nothing that isn't safe to send again unless it is told to; see ``shouldRetry(request:dueTo:)``.
open class RetryPolicy: RequestInterceptor, @unchecked Sendable {
  /// How often a request is retried at most.
  public let retryLimit: UInt
  /// By what each delay is longer than the one before it; at least 2.
  public let exponentialBackoffBase: UInt
  /// Seconds before the first retry.
  public let exponentialBackoffScale: Double
  /// The methods that may be sent again.
  public let retryableHTTPMethods: Set<HTTPMethod>
  /// The status codes after which it is worth trying again.
  public let retryableHTTPStatusCodes: Set<Int>
  /// The transfer's errors after which it is worth trying again.
  public let retryableURLErrorCodes: Set<URLError.Code>

  /// Creates a policy; a base below 2, with which delays wouldn't grow, is a mistake and traps.
  ///
  /// - Parameters:
  ///   - retryLimit: how often a request is retried at most.
  ///   - exponentialBackoffBase: by what each delay is longer than the one before it; at least 2.
  ///   - exponentialBackoffScale: seconds before the first retry.
  ///   - retryableHTTPMethods: the methods that may be sent again.
  ///   - retryableHTTPStatusCodes: the status codes after which it is worth trying again.
  ///   - retryableURLErrorCodes: the transfer's errors after which it is worth trying again.
  public init(
    retryLimit: UInt = RetryPolicy.defaultRetryLimit,
    exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
    exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
    retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods,
    retryableHTTPStatusCodes: Set<Int> = RetryPolicy.defaultRetryableHTTPStatusCodes,
    retryableURLErrorCodes: Set<URLError.Code> = RetryPolicy.defaultRetryableURLErrorCodes
  ) {
    precondition(exponentialBackoffBase >= 2, "exponentialBackoffBase is \(exponentialBackoffBase); make it at least 2")
    self.retryLimit = retryLimit
    self.exponentialBackoffBase = exponentialBackoffBase
    self.exponentialBackoffScale = exponentialBackoffScale
    self.retryableHTTPMethods = retryableHTTPMethods
    self.retryableHTTPStatusCodes = retryableHTTPStatusCodes
    self.retryableURLErrorCodes = retryableURLErrorCodes
  }

  /// Answers ``RetryResult/retryWithDelay(_:)`` if the limit isn't reached and ``shouldRetry(request:dueTo:)`` agrees,
  /// otherwise ``RetryResult/doNotRetry``.
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

  /// Whether the request's method is retryable, and its response's status code or the error too.
  ///
  /// The error may be a `URLError`, or an ``AFError`` with one inside.
  open func shouldRetry(request: Request, dueTo error: any Error) -> Bool {
    guard let method = request.request?.method, retryableHTTPMethods.contains(method) else { return false }
    if let statusCode = request.response?.statusCode, retryableHTTPStatusCodes.contains(statusCode) { return true }
    return Self.urlErrorCode(of: error).map(retryableURLErrorCodes.contains) ?? false
  }

  /// Seconds before the next retry, or nil if there have been enough.
  func delay(afterRetries count: Int) -> TimeInterval? {
    guard count < retryLimit else { return nil }
    return pow(Double(exponentialBackoffBase), Double(count)) * exponentialBackoffScale
  }

  /// The code of the `URLError` that the error is or has inside.
  private static func urlErrorCode(of error: any Error) -> URLError.Code? {
    var innermost = error
    while let underlying = innermost.asAFError?.underlyingError { innermost = underlying }
    return (innermost as? URLError)?.code
  }
}

// Unchecked for the same reason as its superclass; it has no state of its own.
/// Retries requests whose connection was lost, as RFC 9110 §9.2.2 allows for idempotent methods.
open class ConnectionLostRetryPolicy: RetryPolicy, @unchecked Sendable {
  /// Creates a policy that retries after `URLError.networkConnectionLost` alone; the rest is as in ``RetryPolicy``.
  ///
  /// - Parameters:
  ///   - retryLimit: how often a request is retried at most.
  ///   - exponentialBackoffBase: by what each delay is longer than the one before it; at least 2.
  ///   - exponentialBackoffScale: seconds before the first retry.
  ///   - retryableHTTPMethods: the methods that may be sent again.
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
