// Who decides whether a server is to be trusted: a session's manager has an evaluator for each host.

import Foundation
public import LupineURLSession

// Unchecked since the class is open: all state is constant.
/// The evaluators of a session by host. Subclasses may choose in another way.
open class ServerTrustManager: @unchecked Sendable {
  /// Whether a request by https to a host without an evaluator fails.
  public let allHostsMustBeEvaluated: Bool
  /// The evaluators by host, a name or an address.
  public let evaluators: [String: any ServerTrustEvaluating]
  /// The same by the hosts' one spelling, so that no other leaves a host without its evaluator.
  private let evaluatorsBySpelling: [String: any ServerTrustEvaluating]

  /// Makes a manager. If not all hosts must be evaluated, those without an evaluator are verified as without a manager.
  public init(allHostsMustBeEvaluated: Bool = true, evaluators: [String: any ServerTrustEvaluating]) {
    self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
    self.evaluators = evaluators
    evaluatorsBySpelling = Dictionary(
      evaluators.map { (Self.spelling($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
  }

  /// In lower case, an IPv6 address without brackets, a name without the root's dot.
  private static func spelling(_ host: String) -> String {
    var host = host.lowercased()
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    if host.hasSuffix(".") { host.removeLast() }
    return host
  }

  /// The evaluator of a host, or nil if it is verified as without a manager.
  ///
  /// Called on the engine's thread in each handshake that isn't resumed. Throws
  /// `AFError.ServerTrustFailureReason.noRequiredEvaluator(host:)` if there is none and all hosts must be evaluated.
  open func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
    if let evaluator = evaluators[host] ?? evaluatorsBySpelling[Self.spelling(host)] { return evaluator }
    guard !allHostsMustBeEvaluated else {
      throw AFError.serverTrustEvaluationFailed(reason: .noRequiredEvaluator(host: host))
    }
    return nil
  }
}

/// Decides whether a server is to be trusted.
public protocol ServerTrustEvaluating: Sendable {
  /// Throws to refuse the server; another error than an ``AFError`` becomes
  /// `AFError.ServerTrustFailureReason.customEvaluationFailed(error:)`. What doesn't throw accepts the server, also one
  /// that OpenSSL refuses.
  ///
  /// It is called on the engine's thread in the middle of a handshake, while every other connection waits: it must return
  /// quickly, and wait for nothing. A resumed session isn't evaluated again.
  func evaluate(_ trust: SecTrust, forHost host: String) throws
}

/// Evaluates the chain with OpenSSL, as a session without a manager does.
public final class DefaultTrustEvaluator: ServerTrustEvaluating {
  private let validateHost: Bool

  /// Makes an evaluator; without `validateHost`, the certificate may name another host.
  public init(validateHost: Bool = true) {
    self.validateHost = validateHost
  }

  /// Throws if the chain isn't good, or names another host.
  public func evaluate(_ trust: SecTrust, forHost host: String) throws {
    if validateHost { try trust.af.performValidation(forHost: host) }
    try trust.af.performDefaultValidation(forHost: host)
  }
}

/// Accepts every server: anybody on the path can read and change what is sent. Meant for tests.
public final class DisabledTrustEvaluator: ServerTrustEvaluating {
  /// Makes an evaluator.
  public init() {}

  /// Never throws.
  public func evaluate(_ trust: SecTrust, forHost host: String) throws {}
}

/// An earlier name.
@available(*, deprecated, renamed: "DisabledTrustEvaluator")
public typealias DisabledEvaluator = DisabledTrustEvaluator

/// Accepts what all of several evaluators accept.
public final class CompositeTrustEvaluator: ServerTrustEvaluating {
  private let evaluators: [any ServerTrustEvaluating]

  /// Makes an evaluator of others.
  public init(evaluators: [any ServerTrustEvaluating]) {
    self.evaluators = evaluators
  }

  /// Asks one after the other, and throws the first error.
  public func evaluate(_ trust: SecTrust, forHost host: String) throws {
    try evaluators.evaluate(trust, forHost: host)
  }
}

extension ServerTrustEvaluating where Self == CompositeTrustEvaluator {
  /// Accepts what all of these accept.
  public static func composite(evaluators: [any ServerTrustEvaluating]) -> Self {
    CompositeTrustEvaluator(evaluators: evaluators)
  }
}

extension [any ServerTrustEvaluating] {
  /// Asks one after the other, and throws the first error; none accept everything.
  public func evaluate(_ trust: SecTrust, forHost host: String) throws {
    for evaluator in self { try evaluator.evaluate(trust, forHost: host) }
  }
}

extension ServerTrustManager {
  /// The manager's decision about a server, for the session's engine: hosts without an evaluator are left to the engine.
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
