// SessionAuthentication: the authentications that the tasks of a session share: Digest authentications, authenticated
// connections, and the credentials that proxies have accepted.

import LupineAuthentication
import LupineGSSAPI
import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// The state of authentication that the tasks of a session share, such as authenticated connections and Digest nonces.
package final class SessionAuthentication: Sendable {
  let spaces = Mutex(DigestSpaces())
  let connections = Mutex(AuthenticatedConnections())
  let sources: AuthenticationSources
  private let hasAnswered = Atomic(false)

  /// Creates an empty state that uses the system's clock, random numbers and GSSAPI library.
  package convenience init() { self.init(AuthenticationSources()) }

  init(_ sources: AuthenticationSources) { self.sources = sources }

  /// Whether a task of the session has answered a challenge of a scheme that affects later requests. If false, requests need no
  /// preparation.
  package var isUsed: Bool { hasAnswered.load(ordering: .acquiring) }

  /// Removes all credentials that origins and proxies have accepted, and no longer uses the connections that they authenticated.
  package func removeAll() {
    spaces.withLock { $0.removeAll() }
    connections.withLock { $0.removeAll() }
  }

  /// Records that a task has answered a challenge of a scheme that affects later requests. `isUsed` is true from then on.
  func noteUse() { hasAnswered.store(true, ordering: .releasing) }
}

/// The sources of random bytes, time and GSSAPI security contexts. Tests replace them.
struct AuthenticationSources: Sendable {
  /// Returns a new random client nonce (`cnonce`) for Digest authentication.
  var nonce: @Sendable () -> String = {
    (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }.joined()
  }
  /// Returns 8 random bytes for the client's NTLM nonce.
  var bytes: @Sendable () -> [UInt8] = {
    var generator = SystemRandomNumberGenerator()
    return (0..<8).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
  /// Returns the current time in units of 100 ns since 1601, as NTLM uses it.
  var time: @Sendable () -> UInt64 = {
    // There are 11,644,473,600 s between 1601 and 1970.
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return UInt64(max(0, now.tv_sec + 11_644_473_600)) * 10_000_000 + UInt64(now.tv_nsec / 100)
  }
  /// Creates a GSSAPI security context for the service HTTP on a host. The call may block.
  var context: @Sendable (String, ChannelBinding?) throws(SecurityContextError) -> any SecurityContext = {
    (host, binding) throws(SecurityContextError) in
    try GSSAPIContext(host: host, binding: binding, library: try .loaded())
  }
}

/// The authenticated connections of a session, and the credentials that proxies have accepted. Performs no I/O. The owner must
/// guard this value with a lock.
///
/// Each authenticated connection is in its own group of the engine's connection pool, and the group's number identifies it. A
/// number is never reused.
struct AuthenticatedConnections: Sendable {
  /// A credential for one origin or proxy, with the authentication scheme that uses it.
  struct Key: Sendable, Hashable {
    let party: AuthenticationParty
    let scheme: AuthenticationOffer.Scheme
    let credential: PasswordCredential
  }

  /// A credential that a proxy has accepted, with the authentication scheme and the realm.
  struct Accepted: Sendable, Hashable {
    let scheme: AuthenticationOffer.Scheme
    let realm: String?
    let credential: PasswordCredential
  }

  /// The maximum number of idle authenticated connections that are stored for later requests: 64. Beyond this limit, the oldest
  /// connection isn't used again, and closes when it times out.
  static let idleMax = 64
  /// The maximum number of proxy credentials whose tunnels later requests can use: 256. Beyond this limit, all of these credentials
  /// are removed, and later requests open new tunnels. The number of proxies with an accepted credential has the same limit.
  static let tunnelsMax = 256

  /// The number of the pool group for tunnels that were opened without sending the credential in the proxy's URL: 0.
  static let bareGroup: UInt64 = 0

  private var lastGroup = Self.bareGroup
  private var idle: [(key: Key, group: UInt64)] = []
  private var tunnels: [Key: UInt64] = [:]
  private(set) var accepted: [ProxyAddress: Accepted] = [:]

  /// Returns the number of a new group of the connection pool, which has no connections yet.
  mutating func newGroup() -> UInt64 {
    lastGroup += 1
    return lastGroup
  }

  /// Returns the number of the pool group for tunnels that were opened with the credential `key`. Creates the group if necessary.
  mutating func tunnelGroup(_ key: Key) -> UInt64 {
    if let group = tunnels[key] { return group }
    if tunnels.count >= Self.tunnelsMax { tunnels.removeAll() }
    let group = newGroup()
    tunnels[key] = group
    return group
  }

  /// Returns the group of the most recently used idle connection that the credential `key` has authenticated, or nil if there is
  /// none. No other request can use the connection until the caller calls `putBack`.
  mutating func take(_ key: Key) -> UInt64? {
    idle.lastIndex { $0.key == key }.map { idle.remove(at: $0).group }
  }

  /// Makes the authenticated connection in `group` available to later requests again.
  mutating func putBack(_ group: UInt64, _ key: Key) {
    idle.append((key, group))
    if idle.count > Self.idleMax { idle.removeFirst() }
  }

  /// Returns the credentials that have an idle authenticated connection to `party`, most recently used first.
  func credentials(at party: AuthenticationParty) -> [Key] {
    idle.reversed().map(\.key).filter { $0.party == party }
  }

  /// Records that a proxy has accepted a credential. Later tasks send the credential to this proxy without waiting for a challenge.
  mutating func note(_ credential: Accepted, by proxy: ProxyAddress) {
    if accepted.count >= Self.tunnelsMax, accepted[proxy] == nil { accepted.removeAll() }
    accepted[proxy] = credential
  }

  /// Removes all credentials and their connections. The numbers of their groups aren't used again.
  mutating func removeAll() { (idle, tunnels, accepted) = ([], [:], [:]) }

  /// Removes the accepted credential of a proxy, because the proxy has refused it.
  mutating func forget(_ proxy: ProxyAddress) { accepted[proxy] = nil }
}

/// A type-erased security context. Forwards its calls to the context that it wraps.
struct AnySecurityContext: SecurityContext {
  private var base: any SecurityContext

  init(_ base: any SecurityContext) { self.base = base }

  mutating func step(_ token: [UInt8]?) throws(SecurityContextError) -> SecurityContextStep { try base.step(token) }
}
