// ServerTrustPolicyManager: the trust policies of a session manager's hosts.

import Foundation
import LupineURLSession

/// The server trust policies of hosts. A subclass may override `serverTrustPolicy(forHost:)` to choose policies differently.
open class ServerTrustPolicyManager {
  /// The policies by host.
  public let policies: [String: ServerTrustPolicy]

  /// Creates a manager.
  public init(policies: [String: ServerTrustPolicy]) {
    self.policies = policies
  }

  /// Returns the policy of a host, or nil to verify the host with the trust roots.
  open func serverTrustPolicy(forHost host: String) -> ServerTrustPolicy? { policies[host] }

  /// The evaluation with which the session's engine decides whether to trust a server, according to the policy of the server's
  /// host.
  var evaluation: ServerTrustEvaluation {
    let manager = Transferred(self)
    // No decision is made on the event loop, because subclasses and custom policies may block.
    return ServerTrustEvaluation(isQuick: { _ in false }, usesStaple: true) { trust, host in
      guard let policy = manager.value.serverTrustPolicy(forHost: host) else { return false }
      guard policy.evaluate(trust, forHost: host) else { throw ServerTrustRefusal(host: host) }
      return true
    }
  }
}

/// The error for a server whose certificate was rejected by the host's policy.
struct ServerTrustRefusal: LocalizedError {
  let host: String

  var errorDescription: String? { "The trust policy of \(host) doesn't trust the server's certificate." }
}

extension Error {
  /// The error that a request reports. If a policy doesn't trust the server, it is `URLError.cancelled`, as on Apple's systems,
  /// with the reason as its underlying error.
  var withoutTrustRefusal: any Error {
    guard let refusal = serverTrustRefusal as? ServerTrustRefusal else { return self }
    return URLError(
      .cancelled, userInfo: [NSUnderlyingErrorKey: refusal, NSLocalizedDescriptionKey: refusal.errorDescription ?? ""])
  }
}
