// Awaitable results of adapters and retriers, and an error for tests.

import Foundation
import LupineEngine

@testable import Lupine
@testable import LupineURLSession

/// An error for tests. Two errors are equal if their names are.
struct Mishap: Error, Equatable, CustomStringConvertible {
  let name: String

  init(_ name: String) { self.name = name }

  var description: String { name }
}

extension RequestAdapter {
  /// Calls the adapter's `adapt(_:for:completion:)`, and returns the result. Traps if the adapter completes twice.
  func adapted(_ request: URLRequest, for session: Session) async -> Result<URLRequest, any Error> {
    await firstValue { adapt(request, for: session, completion: $0) }
  }

  /// Calls the adapter's `adapt(_:using:completion:)`, as sessions do, and returns the result. Traps if it completes twice.
  func adapted(_ request: URLRequest, using state: RequestAdapterState) async -> Result<URLRequest, any Error> {
    await firstValue { adapt(request, using: state, completion: $0) }
  }
}

extension RequestRetrier {
  /// Calls the retrier, and returns its decision as text, such as "retry". Traps if the retrier completes twice.
  func decision(
    on request: Request, for session: Session, dueTo error: any Error = Mishap("failure")
  ) async -> String {
    await firstValue { completion in retry(request, for: session, dueTo: error) { completion($0.words) } }
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
