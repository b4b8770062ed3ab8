// ResolverConfiguration: the settings for resolving host names and caching the results.

/// The settings for resolving host names.
public struct ResolverConfiguration: Sendable {
  /// The maximum number of addresses per host that are cached and tried: 64. With one attempt every 250 ms, at most 60 can start
  /// within the default connect timeout of 15 s.
  public static let addressesMax = 64

  /// The maximum time of a lookup: 60 s. When it has passed, the requests that wait for the lookup fail, and the next request for
  /// the name starts a new lookup. glibc queries at most three name servers twice for 5 s each, which takes 30 s.
  public static let lookupTimeMax = Duration.seconds(60)

  /// The resolver to use. If nil (the default), the system's resolver is used: getaddrinfo with /etc/hosts, DNS and the other
  /// sources in nsswitch.conf.
  public var resolver: (any HostResolver)?

  /// The time for which the addresses of a host are cached. 60 s by default, as in curl. Zero disables caching.
  ///
  /// getaddrinfo doesn't report for how long a DNS record is valid. If the attempts to connect to all addresses fail, or if none
  /// connects within a request's timeout, the next request looks up the name again in any case.
  public var cacheAge = Duration.seconds(60)

  /// The time for which a negative answer (no such name) is cached. The default of 5 s lets a newly created name be found soon; the
  /// JVM uses 10 s. Zero disables caching. Temporary failures are never cached.
  public var negativeCacheAge = Duration.seconds(5)

  /// The maximum number of cached names. Beyond it, the least recently used name is removed. 1,024 by default, which takes about
  /// 300 KB with one address per name; curl allows 29,999. Zero disables caching.
  public var cacheEntriesMax = 1_024

  /// The order in which new connections use the addresses of a name that has several. `.system` by default.
  public var order = AddressOrder.system

  /// Fixed addresses for some hosts. The first matching override applies. None by default.
  public var overrides: [HostOverride] = []

  /// Creates a configuration with the default values.
  public init() {}
}

/// The order in which new connections use the addresses of a name that has several, such as a headless service or a name with a
/// rotating answer.
///
/// With any order, the next address is tried if one fails or doesn't answer soon (Happy Eyeballs, RFC 8305), and the address family
/// that the resolver prefers is tried first. With orders other than `.system`, an address that has failed is tried last for 30 s, and
/// the name is looked up again when its addresses have been cached for `ResolverConfiguration.cacheAge`, as long as there are
/// connections to it: connections to addresses that have left the answer are closed when they are idle.
public enum AddressOrder: Sendable, Hashable, CaseIterable {
  /// The order of the resolver, which is that of RFC 6724 for the system's resolver. Unless the resolver rotates its answer, all
  /// connections use the first address that works.
  case system
  /// A random order for each connection, so that the connections of all clients together are spread over the addresses.
  case randomized
  /// The address to which the origin has the fewest connections on the same event loop comes first, so that the connections to one
  /// origin are spread evenly. The order of addresses with equal numbers is random.
  case leastConnections
}

/// Fixed addresses for a host, which the engine uses instead of looking up the host, like curl's `--resolve`.
///
/// Numeric hosts are never looked up, so they can't be overridden.
public struct HostOverride: Sendable, Hashable {
  /// The host's name, case-insensitive. "*" matches any host.
  public var host: String
  /// The port to which the override applies, or nil for any port.
  public var port: UInt16?
  /// The addresses in the order in which to try them. Their ports are ignored. An empty array means that the host
  /// doesn't exist.
  public var addresses: [SocketAddress]

  /// Creates an override. Each parameter is described at the property of the same name.
  public init(host: String, port: UInt16? = nil, addresses: [SocketAddress]) {
    self.host = host
    self.port = port
    self.addresses = addresses
  }

  /// Returns whether the override applies to the host `name`, which is in lowercase, and to the port.
  func matches(_ name: String, port: UInt16) -> Bool {
    (self.port == nil || self.port == port) && (host == "*" || host.lowercased() == name)
  }
}
