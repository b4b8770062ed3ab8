// ServerTrustPolicyManager: the trust policies of a session manager's hosts.

import Foundation
import Lupine
import LupineURLSession

/// Chooses the policy that decides whether a host's server is trusted. A subclass may override `serverTrustPolicy(forHost:)` to
/// choose policies differently.
open class ServerTrustPolicyManager {
  /// The server trust policies by host name.
  public let policies: [String: ServerTrustPolicy]
  /// The policies by normalized host name or address, so that another spelling of a host doesn't bypass the host's policy.
  private let policiesBySpelling: [String: ServerTrustPolicy]

  /// Creates a manager of the given policies, by host name.
  public init(policies: [String: ServerTrustPolicy]) {
    self.policies = policies
    policiesBySpelling = Dictionary(
      policies.map { (ServerTrustManager.spelling($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the policy for a host's server, or nil to verify the server's certificate with the trust roots.
  open func serverTrustPolicy(forHost host: String) -> ServerTrustPolicy? {
    policies[host] ?? policiesBySpelling[ServerTrustManager.spelling(host)]
  }

  /// Evaluates the servers' certificates for the session's engine, by the policies of the hosts.
  var evaluation: ServerTrustEvaluation {
    let manager = Transferred(self)
    // A subclass may choose policies that this class doesn't know.
    let isPlain = type(of: self) == ServerTrustPolicyManager.self
    // No decision is made on the event loop, because subclasses and custom policies may block.
    return ServerTrustEvaluation(
      isQuick: { _ in false }, mayDecide: { host in !isPlain || manager.value.serverTrustPolicy(forHost: host) != nil },
      usesStaple: true
    ) { trust, host in
      guard let policy = manager.value.serverTrustPolicy(forHost: host) else { return false }
      guard policy.evaluate(trust, forHost: host) else { throw ServerTrustRefusal(host: host) }
      return true
    }
  }
}

/// The error for a server whose certificate the policy of its host rejected.
struct ServerTrustRefusal: LocalizedError {
  let host: String

  var errorDescription: String? { "The trust policy of \(host) doesn't trust the server's certificate." }
}

extension Error {
  /// The error that a request reports for this error. If a policy doesn't trust the server, the reported error is
  /// `URLError.cancelled`, as on Apple's systems, with the reason as its underlying error.
  var withoutTrustRefusal: any Error {
    guard let refusal = serverTrustRefusal as? ServerTrustRefusal else { return self }
    return URLError(
      .cancelled, userInfo: [NSUnderlyingErrorKey: refusal, NSLocalizedDescriptionKey: refusal.errorDescription ?? ""])
  }
}
