// RetryResult: the decision of a retrier.

public import Foundation

/// The decision of a retrier about a failed request.
public enum RetryResult: Sendable {
  /// Retries the request immediately.
  case retry
  /// Retries the request after this delay, in seconds.
  case retryWithDelay(TimeInterval)
  /// Doesn't retry the request, unless a later retrier decides otherwise.
  case doNotRetry
  /// Doesn't retry the request, and fails it with this error. Later retriers aren't called.
  case doNotRetryWithError(any Error)

  var retryRequired: Bool {
    switch self {
    case .retry, .retryWithDelay: true
    case .doNotRetry, .doNotRetryWithError: false
    }
  }

  /// The delay before the retry, in seconds. Nil if the request is retried immediately, or not at all.
  var delay: TimeInterval? {
    if case .retryWithDelay(let delay) = self { delay } else { nil }
  }

  /// The error that replaces the request's error, or nil if the request keeps its error.
  var error: (any Error)? {
    if case .doNotRetryWithError(let error) = self { error } else { nil }
  }
}
