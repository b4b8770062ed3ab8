// `ServerTrustManager` and its evaluators: decide for each host whether its server is trusted.

import Foundation
public import LupineURLSession

// Unchecked because the class is open: all state is constant.
/// The trust evaluators of a session's hosts. Subclasses may choose evaluators differently.
open class ServerTrustManager: @unchecked Sendable {
  /// Whether HTTPS requests to a host without an evaluator fail.
  public let allHostsMustBeEvaluated: Bool
  /// The evaluators by host name or address.
  public let evaluators: [String: any ServerTrustEvaluating]
  /// The evaluators by normalized host, so that another spelling of a host doesn't bypass its evaluator.
  private let evaluatorsBySpelling: [String: any ServerTrustEvaluating]

  /// Creates a manager.
  ///
  /// - Parameters:
  ///   - allHostsMustBeEvaluated: Whether HTTPS requests to a host without an evaluator fail. If false, those hosts are verified
  ///     as in a session without a manager.
  ///   - evaluators: The evaluators by host name or address.
  public init(allHostsMustBeEvaluated: Bool = true, evaluators: [String: any ServerTrustEvaluating]) {
    self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
    self.evaluators = evaluators
    evaluatorsBySpelling = Dictionary(
      evaluators.map { (Self.spelling($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the host in lowercase, an IPv6 address without brackets, a name without the trailing dot.
  private static func spelling(_ host: String) -> String {
    var host = host.lowercased()
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    if host.hasSuffix(".") { host.removeLast() }
    return host
  }

  /// Returns the evaluator of a host; nil to verify it as in a session without a manager.
  ///
  /// Called on an engine thread in each handshake that isn't a resumption.
  ///
  /// - Throws: `AFError.ServerTrustFailureReason.noRequiredEvaluator(host:)` if there is none and all hosts must be
  ///   evaluated.
  open func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
    if let evaluator = evaluators[host] ?? evaluatorsBySpelling[Self.spelling(host)] { return evaluator }
    guard !allHostsMustBeEvaluated else {
      throw AFError.serverTrustEvaluationFailed(reason: .noRequiredEvaluator(host: host))
    }
    return nil
  }
}

/// Decides whether a server is trusted during the TLS handshake.
public protocol ServerTrustEvaluating: Sendable {
  /// Throws an error to reject the server. Returning accepts it, even if OpenSSL rejects its certificates. An error
  /// that isn't an ``AFError`` becomes `AFError.ServerTrustFailureReason.customEvaluationFailed(error:)`.
  ///
  /// Called on an engine thread during a handshake, while all other connections of that thread wait: return quickly,
  /// and don't block. Resumed sessions aren't evaluated again.
  func evaluate(_ trust: SecTrust, forHost host: String) throws
}

/// Evaluates the chain with OpenSSL, as a session without a manager does.
public final class DefaultTrustEvaluator: ServerTrustEvaluating {
  private let validateHost: Bool

  /// Creates an evaluator. Without `validateHost`, the certificate may be for another host.
  public init(validateHost: Bool = true) {
    self.validateHost = validateHost
  }

  /// Throws if the chain isn't valid, or is for another host.
  public func evaluate(_ trust: SecTrust, forHost host: String) throws {
    if validateHost { try trust.af.performValidation(forHost: host) }
    try trust.af.performDefaultValidation(forHost: host)
  }
}

/// Accepts every server, so that anyone on the network path can read and change the data. For tests only.
public final class DisabledTrustEvaluator: ServerTrustEvaluating {
  /// Creates an evaluator.
  public init() {}

  /// Never throws.
  public func evaluate(_ trust: SecTrust, forHost host: String) throws {}
}

/// The earlier name of ``DisabledTrustEvaluator``.
@available(*, deprecated, renamed: "DisabledTrustEvaluator")
public typealias DisabledEvaluator = DisabledTrustEvaluator

/// Accepts a server that all of several evaluators accept.
public final class CompositeTrustEvaluator: ServerTrustEvaluating {
  private let evaluators: [any ServerTrustEvaluating]

  /// Creates an evaluator from others.
  public init(evaluators: [any ServerTrustEvaluating]) {
    self.evaluators = evaluators
  }

  /// Calls the evaluators in order, and throws the first error.
  public func evaluate(_ trust: SecTrust, forHost host: String) throws {
    try evaluators.evaluate(trust, forHost: host)
  }
}

extension ServerTrustEvaluating where Self == CompositeTrustEvaluator {
  /// Accepts a server that all of `evaluators` accept.
  public static func composite(evaluators: [any ServerTrustEvaluating]) -> Self {
    CompositeTrustEvaluator(evaluators: evaluators)
  }
}

extension [any ServerTrustEvaluating] {
  /// Calls the evaluators in order, and throws the first error. An empty array accepts every server.
  public func evaluate(_ trust: SecTrust, forHost host: String) throws {
    for evaluator in self { try evaluator.evaluate(trust, forHost: host) }
  }
}

extension ServerTrustManager {
  /// The manager's decision about a server, as a closure for the session's engine. It returns false for a host without an
  /// evaluator, which the engine then verifies itself.
  var evaluation: ServerTrustEvaluation {
    { trust, host in
      do {
        guard let evaluator = try self.serverTrustEvaluator(forHost: host) else { return false }
        try evaluator.evaluate(trust, forHost: host)
        return true
      } catch {
        throw error.asAFError(or: .serverTrustEvaluationFailed(reason: .customEvaluationFailed(error: error)))
      }
    }
  }
}
