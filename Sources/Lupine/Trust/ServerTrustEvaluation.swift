// `ServerTrustManager` and its evaluators, which decide for each host whether its server is trusted.

import Foundation
import LupineEngine
public import LupineURLSession

// Unchecked because the class is open. All state is constant.
/// Holds the evaluators that decide, for each host, whether a session trusts the host's server. Subclasses may choose evaluators
/// differently.
open class ServerTrustManager: @unchecked Sendable {
  /// Whether HTTPS requests to a host without an evaluator fail. True by default.
  public let allHostsMustBeEvaluated: Bool
  /// The evaluators of servers' certificates, by host name or address.
  public let evaluators: [String: any ServerTrustEvaluating]
  /// The evaluators by normalized host name or address. Normalizing ensures that another spelling of a host doesn't bypass the
  /// host's evaluator.
  private let evaluatorsBySpelling: [String: any ServerTrustEvaluating]

  /// Creates a manager with the evaluators of the given hosts.
  ///
  /// - Parameters:
  ///   - allHostsMustBeEvaluated: Whether HTTPS requests to a host without an evaluator fail. If false, the session verifies such
  ///     hosts as it would without a manager.
  ///   - evaluators: The evaluator for each host name or address.
  public init(allHostsMustBeEvaluated: Bool = true, evaluators: [String: any ServerTrustEvaluating]) {
    self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
    self.evaluators = evaluators
    evaluatorsBySpelling = Dictionary(
      evaluators.map { (Self.spelling($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the spelling of `host` by which evaluators are found. All forms of an IP address have the same one. That of a name is in
  /// lowercase, without a trailing dot.
  package static func spelling(_ host: String) -> String {
    var host = host.lowercased()
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    if host.hasSuffix(".") { host.removeLast() }
    return AddressPolicy.canonicalAddress(host) ?? host
  }

  /// Returns the evaluator of a host, or nil to verify the host as in a session without a manager.
  ///
  /// Called once or twice in each TLS handshake that doesn't resume a TLS session, on any thread. An overriding method may block.
  ///
  /// - Throws: `AFError.ServerTrustFailureReason.noRequiredEvaluator(host:)` if there is
  ///   no evaluator and all hosts must be evaluated.
  open func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
    if let evaluator = evaluators[host] ?? evaluatorsBySpelling[Self.spelling(host)] { return evaluator }
    guard !allHostsMustBeEvaluated else {
      throw AFError.serverTrustEvaluationFailed(reason: .noRequiredEvaluator(host: host))
    }
    return nil
  }
}

extension ServerTrustEvaluating {
  /// Whether this evaluator is known never to block, so that it can run on the event loop.
  var isQuick: Bool {
    switch self {
    case is DefaultTrustEvaluator, is DisabledTrustEvaluator, is PinnedCertificatesTrustEvaluator,
      is PublicKeysTrustEvaluator:
      true
    case let composite as CompositeTrustEvaluator: composite.evaluators.allSatisfy(\.isQuick)
    default: false
    }
  }
}

/// An evaluator that validates the certificate chain with OpenSSL, as a session without a ``ServerTrustManager`` does.
public final class DefaultTrustEvaluator: ServerTrustEvaluating {
  private let validateHost: Bool

  /// Creates an evaluator that validates the certificate chain. If `validateHost` is false, the server's certificate may be for
  /// another host.
  public init(validateHost: Bool = true) {
    self.validateHost = validateHost
  }

  /// Throws `AFError.serverTrustEvaluationFailed` with the reason `.trustEvaluationFailed` if the certificate chain isn't valid or
  /// if, unless `validateHost` is false, the certificate is for another host.
  public func evaluate(_ trust: SecTrust, forHost host: String) throws {
    if validateHost { try trust.af.performValidation(forHost: host) }
    try trust.af.performDefaultValidation(forHost: host)
  }
}

/// An evaluator that accepts every server, so that anyone on the network path can read and change the data. For tests only.
public final class DisabledTrustEvaluator: ServerTrustEvaluating {
  /// Creates an evaluator that accepts every server.
  public init() {}

  /// Accepts the server. Never throws an error.
  public func evaluate(_ trust: SecTrust, forHost host: String) throws {}
}

/// The earlier name of ``DisabledTrustEvaluator``.
@available(*, deprecated, renamed: "DisabledTrustEvaluator")
public typealias DisabledEvaluator = DisabledTrustEvaluator

/// An evaluator that combines several evaluators. It accepts a server only if all of them accept the server.
public final class CompositeTrustEvaluator: ServerTrustEvaluating {
  fileprivate let evaluators: [any ServerTrustEvaluating]

  /// Creates an evaluator that calls `evaluators` in order.
  public init(evaluators: [any ServerTrustEvaluating]) {
    self.evaluators = evaluators
  }

  /// Calls the evaluators in order, and throws the error of the first one that rejects the server.
  public func evaluate(_ trust: SecTrust, forHost host: String) throws {
    try evaluators.evaluate(trust, forHost: host)
  }
}

extension ServerTrustEvaluating where Self == CompositeTrustEvaluator {
  /// An evaluator that accepts a server only if all of `evaluators` accept the server.
  public static func composite(evaluators: [any ServerTrustEvaluating]) -> Self {
    CompositeTrustEvaluator(evaluators: evaluators)
  }
}

extension [any ServerTrustEvaluating] {
  /// Calls the evaluators in order, and throws the error of the first one that rejects the server. If the array is empty, every
  /// server is accepted.
  public func evaluate(_ trust: SecTrust, forHost host: String) throws {
    for evaluator in self { try evaluator.evaluate(trust, forHost: host) }
  }
}

extension ServerTrustManager {
  /// The closures with which the session's engine calls this manager's evaluators. The evaluating closure returns false for a host
  /// without an evaluator, and the engine then verifies that host itself.
  var evaluation: ServerTrustEvaluation {
    // A subclass may choose evaluators that this class doesn't know.
    let isPlain = type(of: self) == ServerTrustManager.self
    return ServerTrustEvaluation(
      isQuick: { host in
        guard isPlain else { return false }
        return (try? self.serverTrustEvaluator(forHost: host))?.isQuick ?? true
      },
      mayDecide: { host in
        guard isPlain else { return true }
        do { return try self.serverTrustEvaluator(forHost: host) != nil } catch { return true }
      },
      usesStaple: !isPlain || !evaluators.values.allSatisfy(\.isQuick)
    ) { trust, host in
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
