// Awaitable results of adapters and retriers, and an error for tests.

import Foundation

@testable import Lupine
@testable import LupineURLSession

/// An error identified by its name.
struct Mishap: Error, Equatable, CustomStringConvertible {
  let name: String

  init(_ name: String) { self.name = name }

  var description: String { name }
}

extension RequestAdapter {
  /// Returns the adapter's result. A second call of the completion handler traps.
  func adapted(_ request: URLRequest, for session: Session) async -> Result<URLRequest, any Error> {
    await withCheckedContinuation { continuation in
      adapt(request, for: session) { continuation.resume(returning: $0) }
    }
  }

  /// Returns the result of the method that sessions call. A second call of the completion handler traps.
  func adapted(_ request: URLRequest, using state: RequestAdapterState) async -> Result<URLRequest, any Error> {
    await withCheckedContinuation { continuation in
      adapt(request, using: state) { continuation.resume(returning: $0) }
    }
  }
}

extension RequestRetrier {
  /// Returns the retrier's decision as text. A second call of the completion handler traps.
  func decision(
    on request: Request, for session: Session, dueTo error: any Error = Mishap("failure")
  ) async -> String {
    await withCheckedContinuation { continuation in
      retry(request, for: session, dueTo: error) { continuation.resume(returning: $0.words) }
    }
  }
}

extension RetryResult {
  var words: String {
    switch self {
    case .retry: "retry"
    case .retryWithDelay(let delay): "retry after \(delay)"
    case .doNotRetry: "no"
    case .doNotRetryWithError(let error): "no: \(error)"
    }
  }
}
