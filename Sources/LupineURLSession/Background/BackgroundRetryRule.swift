// BackgroundRetryRule: decides after which errors a background task tries again, and after which delay.

import Foundation

/// Decides whether and when a background task tries again after a failed attempt. It has no side effects.
struct BackgroundRetryRule: Sendable {
  let delayMin: Duration
  let delayMax: Duration

  /// Returns whether another attempt may succeed after an error with this code, because the connection failed rather than the
  /// request.
  static func isTransient(_ code: URLError.Code) -> Bool {
    switch code {
    case .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed: true
    default: false
    }
  }

  /// Returns the delay before the next attempt after the n-th consecutive failure. The delay doubles with each failure, up to the
  /// maximum. `number` is n, at least 1.
  ///
  /// - Parameter jitter: A random number in 0...1, which determines up to half of the delay. Without randomness, all clients of a
  ///   server that was down would return at the same time.
  func delay(afterFailure number: Int, jitter: Double) -> Duration {
    // 2^30 times the minimum exceeds any maximum in use; a larger exponent could overflow.
    let longest = min(delayMin * (1 << min(max(0, number - 1), 30)), max(delayMin, delayMax))
    return longest / 2 + longest / 2 * min(max(0, jitter), 1)
  }
}

extension Duration {
  /// The duration in seconds.
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
