// HostResolver: the protocol for custom resolvers, and the errors of lookups.

/// Resolves host names to addresses. The default is the system's resolver.
public protocol HostResolver: Sendable {
  /// Returns the addresses of a host in the order in which to try them. Their ports are ignored.
  ///
  /// The host is a name in lowercase, never a numeric address. The engine calls this method outside its event loops, possibly for
  /// several hosts concurrently, but never concurrently for the same host. An empty result counts as an unknown name. The engine
  /// uses at most `ResolverConfiguration.addressesMax` addresses, with the address families alternating.
  ///
  /// The engine cancels the call when the engine shuts down. A call that takes longer than `ResolverConfiguration.lookupTimeMax` is
  /// cancelled when the engine next looks up any name.
  func addresses(of host: String) async throws(ResolveError) -> [SocketAddress]
}

/// The reason why the lookup of a host name has returned no address.
public struct ResolveError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kinds of lookup failures.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The name doesn't exist, or has no address.
    case unknownName
    /// The lookup failed but may succeed later, for example because a name server didn't respond or failed.
    case temporary
    /// The process has no descriptors, threads or memory left for a lookup.
    case outOfResources
    /// Any other failure, such as a malformed response.
    case other
  }

  /// The kind of lookup failure, such as a name that doesn't exist.
  public let kind: Kind
  /// The reason as text, such as "Name or service not known".
  public let description: String

  /// Creates an error for a custom resolver. `description` becomes part of the message of a request that fails with this error.
  public init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
