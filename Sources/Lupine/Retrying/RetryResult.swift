// The answer of a retrier.

public import Foundation

/// What becomes of a request that has failed.
public enum RetryResult: Sendable {
  /// It is made and sent again at once.
  case retry
  /// It is made and sent again after so many seconds.
  case retryWithDelay(TimeInterval)
  /// It has failed, unless the next retrier thinks otherwise.
  case doNotRetry
  /// It has failed with this error, and no other retrier is asked.
  case doNotRetryWithError(any Error)

  /// Whether the request is to be sent again.
  var retryRequired: Bool {
    switch self {
    case .retry, .retryWithDelay: true
    case .doNotRetry, .doNotRetryWithError: false
    }
  }

  /// Seconds to wait before, if there is something to wait for.
  var delay: TimeInterval? {
    if case .retryWithDelay(let delay) = self { delay } else { nil }
  }

  /// The error to fail with in place of the request's own.
  var error: (any Error)? {
    if case .doNotRetryWithError(let error) = self { error } else { nil }
  }
}
