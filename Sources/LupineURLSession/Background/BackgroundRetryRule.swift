// BackgroundRetryRule: decides after which errors a background task tries again, and after which delay.

import Foundation
import LupineEngine

/// Decides whether a background task tries again after a failed attempt, and after which delay. This type has no side effects.
struct BackgroundRetryRule: Sendable {
  let delayMin: Duration
  let delayMax: Duration

  /// Returns whether another attempt may succeed after `error`. This is true if the connection has failed, or if this process
  /// lacked resources for a connection. It is false if the error lies in the request, or if a proxy has refused the connection
  /// permanently.
  static func isTransient(_ error: URLError) -> Bool {
    let failure = error.userInfo[NSUnderlyingErrorKey] as? EngineError
    switch error.code {
    case .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed,
      .notConnectedToInternet:
      guard case .proxy(let cause)? = failure?.cause else { return true }
      return cause.isTransient
    case .cannotLoadFromNetwork: return failure?.code == .outOfResources || failure?.code == .tooManyWaiting
    default: return false
    }
  }

  /// Returns the delay before the next attempt, after `number` consecutive attempts (at least 1) have failed. The delay doubles
  /// with each failure, from `delayMin` up to `delayMax`.
  ///
  /// - Parameter jitter: A random number in 0...1, which determines up to half of the delay. Without it, all clients of a server
  ///   that was down would reconnect at the same time.
  func delay(afterFailure number: Int, jitter: Double) -> Duration {
    // A delay of 2^30 times the minimum exceeds any maximum in use. A larger exponent could overflow.
    let longest = min(delayMin * (1 << min(max(0, number - 1), 30)), max(delayMin, delayMax))
    return longest / 2 + longest / 2 * min(max(0, jitter), 1)
  }
}

extension ProxyError {
  /// Whether another attempt to connect through the proxy may succeed after this error. False if the proxy's settings are wrong, or
  /// if the proxy has refused this client or the destination.
  fileprivate var isTransient: Bool {
    switch cause {
    case .truncated, .refusedBySOCKS(.generalFailure), .refusedBySOCKS(.networkUnreachable),
      .refusedBySOCKS(.hostUnreachable), .refusedBySOCKS(.connectionRefused), .refusedBySOCKS(.timeToLiveExpired),
      .refusedBySOCKS(.unassigned):
      true
    // SOCKS4 proxies also reply with code 91 if they can't reach the destination.
    case .refusedBySOCKS4(let code): code != 92 && code != 93
    // Request Timeout, Too Many Requests, and the failures of the proxy or of the origin server (RFC 9110 §15.5.9 and §15.6,
    // RFC 6585 §4).
    case .refused(let status): status == 408 || status == 429 || (500..<600).contains(status)
    case .malformedHost, .malformedPort, .unsupportedScheme, .malformedCredentials, .colonInUser, .credentialsLength,
      .notSOCKS4, .noIPv6, .hostNameHasNUL, .hostNameTooLong, .notSOCKS5, .noAcceptableMethod, .unexpectedMethod,
      .unexpectedAuthenticationVersion, .credentialsRefused, .refusedBySOCKS(.notAllowed),
      .refusedBySOCKS(.commandNotSupported), .refusedBySOCKS(.addressTypeNotSupported), .unexpectedAddressType,
      .credentialsRequired, .identityUnproven, .wire:
      false
    }
  }
}
