// ConnectionDemand: a request's requirements for its connection, to authenticate the connection or to authenticate to a proxy.

package import LupineWire
internal import Synchronization

/// A request's requirements for its connection. Only requests that authenticate their connection (NTLM, Negotiate) or authenticate
/// to a proxy have requirements.
///
/// This is a class, so that a request without requirements stores only a nil reference.
package final class ConnectionDemand: Sendable {
  /// The number of the group to which the request belongs. Only requests of the same group share a connection. If nil, the request
  /// uses connections that all requests without a group may share.
  package let group: UInt64?
  /// Whether the request needs the open connection of its group, because it continues an authentication that an earlier request
  /// began on that connection. If that connection is closed, the engine doesn't open another one, and the request fails with
  /// `.connectionLost` in the phase `.poolWait`.
  package let needsOpenConnection: Bool
  /// The credentials for the proxy, or nil to use the credentials in the proxy's URL. A tunnel with such credentials requires a
  /// `group`. If the credentials are valid for one connection only and have already been used, the request fails with
  /// `.connectionLost` in the phase `.poolWait`.
  package let proxyAuthorization: ProxyAuthorization?

  /// Creates a request's requirements for its connection.
  package init(
    group: UInt64? = nil, needsOpenConnection: Bool = false, proxyAuthorization: ProxyAuthorization? = nil
  ) {
    self.group = group
    self.needsOpenConnection = needsOpenConnection
    self.proxyAuthorization = proxyAuthorization
  }
}

/// The credentials with which one request authenticates to its HTTP proxy.
package struct ProxyAuthorization: Sendable {
  /// The client's reaction to a proxy's response to CONNECT.
  package enum Reaction: Sendable, Hashable {
    /// Send CONNECT again on the same connection, with the associated value as Proxy-Authorization.
    case send(String)
    /// Don't send CONNECT again. A 2xx response opens the tunnel, and a 407 response makes the request fail.
    case accept
    /// Make the request fail, because the proxy hasn't proven its identity.
    case distrust
  }

  /// The value of the Proxy-Authorization field, or nil to send none.
  package let value: String?
  /// Called once for each new connection. Returns a closure that chooses the reaction to a 2xx or 407 response to CONNECT on that
  /// connection. Nil for an authentication scheme with a single message, such as Basic. The loop's thread calls this closure and
  /// the returned one, so neither may block.
  package let makeReaction: (@Sendable () -> (ResponseHead) -> Reaction)?
  private let claim: Claim?

  /// Creates the credentials of a request for its HTTP proxy.
  ///
  /// - Parameters:
  ///   - value: The value of Proxy-Authorization, or nil to send none.
  ///   - isSingleUse: Whether the value may open one connection only, because a proxy refuses a token that it has already received.
  ///   - makeReaction: Creates the closure that chooses the reaction to each response. The closure starts in the state after
  ///     `value` was sent.
  package init(
    _ value: String?, isSingleUse: Bool = false, makeReaction: (@Sendable () -> (ResponseHead) -> Reaction)? = nil
  ) {
    self.value = value
    self.makeReaction = makeReaction
    claim = isSingleUse ? Claim() : nil
  }

  /// Claims the credentials for a new connection. Returns false if they are valid for a single connection and were already claimed.
  package func claimForConnection() -> Bool { claim?.take() ?? true }

  private final class Claim: Sendable {
    private let isTaken = Atomic(false)

    /// Marks the single-use credentials as used. Returns false if they were already used.
    func take() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }
  }
}
