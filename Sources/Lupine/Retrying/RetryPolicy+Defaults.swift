// RetryPolicy+Defaults: the defaults of `RetryPolicy`, and shorthands for the policies.

public import Foundation

extension RetryPolicy {
  /// The default maximum number of retries for each request: 2, which means at most three attempts.
  public static let defaultRetryLimit: UInt = 2

  /// The default factor by which the delay before a retry grows with each retry: 2.
  public static let defaultExponentialBackoffBase: UInt = 2

  /// The default delay before the first retry, in seconds: 0.5.
  public static let defaultExponentialBackoffScale: Double = 0.5

  /// The request methods that are retried by default: the idempotent methods (RFC 9110 §9.2.2, and RFC 10008 for QUERY).
  public static let defaultRetryableHTTPMethods: Set<HTTPMethod> = [
    .delete, .get, .head, .options, .put, .query, .trace,
  ]

  /// The status codes after which a request is retried by default: 408 (Request Timeout), and the codes of server errors that are
  /// often transient (RFC 9110 §15.5.9 and §15.6).
  public static let defaultRetryableHTTPStatusCodes: Set<Int> = [408, 500, 502, 503, 504]

  /// The transfer errors after which a request is retried by default: errors of the network, the name service or the server that
  /// are often transient. Errors that a retry can't correct, such as `.badURL`, `.cancelled` and `.serverCertificateUntrusted`,
  /// aren't included.
  public static let defaultRetryableURLErrorCodes: Set<URLError.Code> = URLError.Code.transient
}

extension RequestInterceptor where Self == RetryPolicy {
  /// A retry policy with the default settings.
  public static var retryPolicy: RetryPolicy { RetryPolicy() }

  /// A retry policy with the given settings; see ``RetryPolicy``.
  public static func retryPolicy(
    retryLimit: UInt = RetryPolicy.defaultRetryLimit,
    exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
    exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
    retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods,
    retryableHTTPStatusCodes: Set<Int> = RetryPolicy.defaultRetryableHTTPStatusCodes,
    retryableURLErrorCodes: Set<URLError.Code> = RetryPolicy.defaultRetryableURLErrorCodes
  ) -> RetryPolicy {
    RetryPolicy(
      retryLimit: retryLimit, exponentialBackoffBase: exponentialBackoffBase,
      exponentialBackoffScale: exponentialBackoffScale, retryableHTTPMethods: retryableHTTPMethods,
      retryableHTTPStatusCodes: retryableHTTPStatusCodes, retryableURLErrorCodes: retryableURLErrorCodes)
  }
}

extension RequestInterceptor where Self == ConnectionLostRetryPolicy {
  /// A retry policy for lost connections, with the default settings.
  public static var connectionLostRetryPolicy: ConnectionLostRetryPolicy { ConnectionLostRetryPolicy() }

  /// A retry policy for lost connections, with the given settings; see ``ConnectionLostRetryPolicy``.
  public static func connectionLostRetryPolicy(
    retryLimit: UInt = RetryPolicy.defaultRetryLimit,
    exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
    exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
    retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods
  ) -> ConnectionLostRetryPolicy {
    ConnectionLostRetryPolicy(
      retryLimit: retryLimit, exponentialBackoffBase: exponentialBackoffBase,
      exponentialBackoffScale: exponentialBackoffScale, retryableHTTPMethods: retryableHTTPMethods)
  }
}
