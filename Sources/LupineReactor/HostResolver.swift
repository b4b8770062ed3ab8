// How names become addresses: what a resolver of one's own has to do, and why a name has none.

/// Whoever knows the addresses of hosts: the system by default, or one of your own.
public protocol HostResolver: Sendable {
  /// The addresses of a host in the order in which they are to be tried; their port is 0, and isn't looked at.
  ///
  /// The host is a name in lower case, never a numeric address. It is called on no event loop, for several hosts at a
  /// time but once for each. It is cancelled when the engine goes, and when another name is looked up after it has taken
  /// `ResolverConfiguration.lookupTimeMax`. No addresses count as an unknown name; of many, the first
  /// `ResolverConfiguration.addressesMax` are used, families in turn.
  func addresses(of host: String) async throws(ResolveError) -> [SocketAddress]
}

/// Why a name has no address.
public struct ResolveError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of failure it is.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The name doesn't exist, or has no address.
    case unknownName
    /// The lookup failed, and may work later: a name server is silent, or failed itself.
    case temporary
    /// This process has no descriptors, threads or memory left for a lookup.
    case outOfResources
    /// Anything else, such as an answer that can't be understood.
    case other
  }

  /// What kind of failure it is.
  public let kind: Kind
  /// The reason in words, such as "Name or service not known".
  public let description: String

  /// Creates an error of a resolver; `description` is shown to people.
  public init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
