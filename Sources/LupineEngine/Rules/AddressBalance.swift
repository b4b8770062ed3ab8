// AddressBalance: decides which address of a name a new connection uses, and which connections have lost theirs.

internal import LupineRandom
@_spi(Loop) internal import LupineReactor

/// The distribution of one loop's connections over the addresses of names that have several (`AddressOrder`).
///
/// It knows the connections to each name, those being opened included, and the time when the addresses of the name must be looked up
/// again. It performs no lookups and reads no clock.
struct AddressBalance: Sendable {
  /// The time for which an address that has failed is tried last: 30 s, enough for a server to restart, and short compared with the
  /// life of a connection.
  static let failureTime = Duration.seconds(30)
  /// The maximum number of failed addresses that are remembered: 1,024, which takes about 100 KB. Beyond it, the one that failed
  /// first is forgotten.
  static let failuresMax = 1_024
  /// The minimum time between two lookups of a name for its open connections: 1 s. It applies if the resolver's answers aren't cached.
  static let refreshTimeMin = Duration.seconds(1)
  /// The time after which a name is looked up again if its lookup has failed: 5 s, as long as unknown names are cached.
  static let retryTime = Duration.seconds(5)

  /// A name that must be looked up again.
  struct Name: Sendable, Equatable {
    let host: String
    let port: UInt16
  }

  /// The connections with one key, and the addresses to which they may be connected.
  private struct Group {
    let name: Name
    var answer: Set<SocketAddress>
    /// The address of each connection, or nil for one that has none yet.
    var connections: [ConnectionID: SocketAddress?] = [:]
    /// The number of connections to each address.
    var counts: [SocketAddress: Int] = [:]
  }

  private let order: AddressOrder
  private let cacheAge: Duration
  private var random: SplitMix64
  private var groups: [PoolKey: Group] = [:]
  private var keys: [ConnectionID: PoolKey] = [:]
  /// The times when names must be looked up again.
  private var refreshes = DeadlineQueue<PoolKey>()
  /// The addresses that have failed, with the times when that is forgotten.
  private var failures = DeadlineQueue<SocketAddress>()
  private var failed: Set<SocketAddress> = []

  /// Creates the distribution, or returns nil for the resolver's order, which distributes nothing.
  init?(_ configuration: ResolverConfiguration, random: SplitMix64) {
    guard configuration.order != .system else { return nil }
    order = configuration.order
    cacheAge = configuration.cacheAge
    self.random = random
  }

  /// The number of connections whose names are known.
  var connectionCount: Int { keys.count }

  // MARK: Connections

  /// Handles the answer to the lookup for a connection that is being opened. `end` is the time when the answer expires, or nil if that
  /// is unknown. Returns the connections whose addresses the answer no longer contains.
  mutating func begin(
    _ id: ConnectionID, _ key: PoolKey, _ name: Name, _ answer: [SocketAddress], until end: Instant?, now: Instant
  ) -> [ConnectionID] {
    keys[id] = key
    groups[key, default: Group(name: name, answer: [])].connections[id] = .some(nil)
    return refresh(key, answer, until: end, now: now)
  }

  /// Returns the addresses in the order in which a new connection tries them: the preferred address family first, then alternating
  /// families (RFC 8305 §4), and at the end the addresses that have failed recently.
  mutating func ordered(_ addresses: [SocketAddress], for key: PoolKey, now: Instant) -> [SocketAddress] {
    while let address = failures.popExpired(now: now) { failed.remove(address) }
    guard let isIPv6 = addresses.first?.isIPv6 else { return [] }
    // Sorting keeps the random order of addresses with equal numbers, because Swift's sort is stable.
    var arranged = addresses.shuffled(using: &random)
    if order == .leastConnections {
      let counts = groups[key]?.counts ?? [:]
      arranged.sort { counts[$0, default: 0] < counts[$1, default: 0] }
    }
    arranged = arranged.filter { $0.isIPv6 == isIPv6 } + arranged.filter { $0.isIPv6 != isIPv6 }
    return HappyEyeballs.order(arranged.filter { !failed.contains($0) })
      + HappyEyeballs.order(arranged.filter(failed.contains))
  }

  /// Records that a connection is being opened to this address, or is now connected to it.
  mutating func use(_ address: SocketAddress, for id: ConnectionID) {
    guard let key = keys[id] else { return }
    leaveAddress(id, key)
    groups[key]?.connections[id] = address
    groups[key]?.counts[address, default: 0] += 1
  }

  /// Records that a connection was closed, or won't be opened.
  mutating func end(_ id: ConnectionID) {
    guard let key = keys.removeValue(forKey: id) else { return }
    leaveAddress(id, key)
    groups[key]?.connections[id] = nil
    guard groups[key]?.connections.isEmpty == true else { return }
    groups[key] = nil
    refreshes.remove(key)
  }

  private mutating func leaveAddress(_ id: ConnectionID, _ key: PoolKey) {
    guard let address = groups[key]?.connections[id] ?? nil, let count = groups[key]?.counts[address] else { return }
    groups[key]?.counts[address] = count > 1 ? count - 1 : nil
  }

  /// Records that an address has failed, so that it is tried last for a while.
  mutating func fail(_ address: SocketAddress, now: Instant) {
    failed.insert(address)
    failures.set(address, to: now + Self.failureTime)
    if failures.count > Self.failuresMax, let oldest = failures.popExpired(now: Instant(nanoseconds: .max)) {
      failed.remove(oldest)
    }
  }

  // MARK: Names

  /// The time when a name must be looked up again, or nil if there are no connections.
  var nextRefresh: Instant? { refreshes.earliest }

  /// Returns a name whose answer has expired, with the key of the connections to it. The caller must look the name up, and call
  /// `refresh` or `refreshFailed`.
  mutating func popExpired(now: Instant) -> (key: PoolKey, name: Name)? {
    guard let key = refreshes.popExpired(now: now), let group = groups[key] else { return nil }
    return (key, group.name)
  }

  /// Handles the answer to a lookup. Returns the connections whose addresses the answer no longer contains.
  mutating func refresh(
    _ key: PoolKey, _ answer: [SocketAddress], until end: Instant?, now: Instant
  ) -> [ConnectionID] {
    guard groups[key] != nil else { return [] }
    groups[key]?.answer = Set(answer)
    refreshes.set(key, to: max(end ?? now + cacheAge, now + Self.refreshTimeMin))
    let withdrawn = groups[key]?.connections.keys.filter { isWithdrawn($0) } ?? []
    return withdrawn.sorted { $0.serial < $1.serial }
  }

  /// Handles the failure of a lookup: the earlier answer stays valid, because a name server's failure says nothing about the addresses.
  mutating func refreshFailed(_ key: PoolKey, now: Instant) {
    if groups[key] != nil { refreshes.set(key, to: now + Self.retryTime) }
  }

  /// Returns whether the connection has an address that the latest answer for its name doesn't contain.
  func isWithdrawn(_ id: ConnectionID) -> Bool {
    guard let group = keys[id].flatMap({ groups[$0] }), let address = group.connections[id] ?? nil else { return false }
    return !group.answer.contains(address)
  }
}
