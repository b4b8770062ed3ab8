// What tests ask of adapters and retriers, and made-up errors for them.

import Foundation

@testable import Lupine
@testable import LupineURLSession

/// An error that tells itself from others.
struct Mishap: Error, Equatable, CustomStringConvertible {
  let name: String

  init(_ name: String) { self.name = name }

  var description: String { name }
}

extension RequestAdapter {
  /// The answer; a second one would trap.
  func adapted(_ request: URLRequest, for session: Session) async -> Result<URLRequest, any Error> {
    await withCheckedContinuation { continuation in
      adapt(request, for: session) { continuation.resume(returning: $0) }
    }
  }

  /// The answer to what sessions ask; a second one would trap.
  func adapted(_ request: URLRequest, using state: RequestAdapterState) async -> Result<URLRequest, any Error> {
    await withCheckedContinuation { continuation in
      adapt(request, using: state) { continuation.resume(returning: $0) }
    }
  }
}

extension RequestRetrier {
  /// The answer in words; a second one would trap.
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
