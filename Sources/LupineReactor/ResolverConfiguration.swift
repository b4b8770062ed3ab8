// Who looks names up, and how long an answer holds.

/// How hosts' names become addresses.
public struct ResolverConfiguration: Sendable {
  /// Addresses of one host that are kept and tried: 64. At one attempt each 250 ms, more than 60 can't be begun within
  /// the default connect timeout of 15 s.
  public static let addressesMax = 64

  /// How long a lookup may take before those who wait for it are told that it failed, and the next asks anew: 60 s.
  /// glibc asks at most three name servers twice, for 5 s each, which is 30 s.
  public static let lookupTimeMax = Duration.seconds(60)

  /// Who looks names up; nil, the default: the system, by getaddrinfo (/etc/hosts, DNS, and what else nsswitch.conf
  /// names).
  public var resolver: (any HostResolver)?

  /// How long addresses are used before they are asked for again; zero: never twice. 60 s by default, as in curl.
  ///
  /// getaddrinfo doesn't tell how long a record may be kept. When every address has failed, or none has connected in the time
  /// that a request gives it, they are asked for again in any case.
  public var cacheAge = Duration.seconds(60)

  /// How long it is remembered that a name doesn't exist; zero: not at all. 5 s by default: half of the JVM's 10 s, so
  /// that a name that was just made is soon found. Failures that may pass aren't remembered.
  public var negativeCacheAge = Duration.seconds(5)

  /// How many names are remembered, the least recently used of which goes first; 1,024 by default, which with one
  /// address each are about 300 KB. Zero: none. curl allows 29,999.
  public var cacheEntriesMax = 1_024

  /// Addresses of one's own for some hosts; the first that fits counts. None by default.
  public var overrides: [HostOverride] = []

  /// Creates the default configuration.
  public init() {}
}

/// Addresses to use for a host in place of what would be looked up, as curl's `--resolve`.
///
/// Numeric hosts are never looked up, and so never overridden.
public struct HostOverride: Sendable, Hashable {
  /// The host's name, in upper or lower case; "*" is any host.
  public var host: String
  /// The port that it counts for; nil: every port.
  public var port: UInt16?
  /// The addresses, in the order in which they are to be tried, whose ports aren't looked at. None: there is no such
  /// host.
  public var addresses: [SocketAddress]

  /// Creates an override.
  public init(host: String, port: UInt16? = nil, addresses: [SocketAddress]) {
    self.host = host
    self.port = port
    self.addresses = addresses
  }

  /// Whether it counts for a host, given in lower case, and a port.
  func matches(_ name: String, port: UInt16) -> Bool {
    (self.port == nil || self.port == port) && (host == "*" || host.lowercased() == name)
  }
}
