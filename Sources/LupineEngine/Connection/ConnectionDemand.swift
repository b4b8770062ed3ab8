// ConnectionDemand: a request's requirements of its connection, for authentication of the connection or to a proxy.

package import LupineWire
internal import Synchronization

/// The requirements that a request has of its connection if it authenticates the connection (NTLM, Negotiate) or authenticates
/// to a proxy. Most requests have none.
///
/// This is a class, so that a request without requirements stores only a nil reference.
package final class ConnectionDemand: Sendable {
  /// The number of the request's group. Only requests with the same number share a connection. Nil for a connection that all
  /// requests without a group may share.
  package let group: UInt64?
  /// Whether the request needs the group's open connection, because it continues an authentication that an earlier request
  /// began on it. If that connection is closed, no other one is opened, and the request fails with `.connectionLost` in the
  /// phase `.poolWait`.
  package let needsOpenConnection: Bool
  /// The credentials for the proxy, or nil to use those in the proxy's URL. A tunnel with such credentials requires a `group`.
  /// If the credentials can't open another tunnel, the request fails with `.connectionLost` in the phase `.poolWait`.
  package let proxyAuthorization: ProxyAuthorization?

  /// Creates a request's requirements of its connection.
  package init(
    group: UInt64? = nil, needsOpenConnection: Bool = false, proxyAuthorization: ProxyAuthorization? = nil
  ) {
    self.group = group
    self.needsOpenConnection = needsOpenConnection
    self.proxyAuthorization = proxyAuthorization
  }
}

/// The credentials of one request for its HTTP proxy.
package struct ProxyAuthorization: Sendable {
  /// The reaction to a proxy's response to CONNECT.
  package enum Reaction: Sendable, Hashable {
    /// Send CONNECT again on the same connection, with this value of Proxy-Authorization.
    case send(String)
    /// Accept the response: a 2xx opens the tunnel, and a 407 fails it.
    case accept
    /// Fail the tunnel, because the proxy hasn't proven its identity.
    case distrust
  }

  /// The value of Proxy-Authorization, or nil to send none.
  package let value: String?
  /// Creates the closure that chooses the reaction to each 2xx and 407 response to CONNECT on one connection. Nil for an
  /// authentication scheme with a single message, such as Basic. Both closures are called on the loop's thread, so they must
  /// not block.
  package let makeReaction: (@Sendable () -> (ResponseHead) -> Reaction)?
  private let claim: Claim?

  /// Creates credentials.
  ///
  /// - Parameters:
  ///   - value: The value of Proxy-Authorization, or nil to send none.
  ///   - isSingleUse: Whether the value may open one connection only, because a proxy refuses a token that it has already
  ///     received.
  ///   - makeReaction: Creates the closure that chooses the reaction to each response. The closure starts in the state after
  ///     `value` was sent.
  package init(
    _ value: String?, isSingleUse: Bool = false, makeReaction: (@Sendable () -> (ResponseHead) -> Reaction)? = nil
  ) {
    self.value = value
    self.makeReaction = makeReaction
    claim = isSingleUse ? Claim() : nil
  }

  /// Claims the credentials for a new connection. Returns false if they are single-use and already claimed.
  package func claimForConnection() -> Bool { claim?.take() ?? true }

  private final class Claim: Sendable {
    private let isTaken = Atomic(false)

    /// Claims the credentials' only use. Returns false if it has already been claimed.
    func take() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }
  }
}
