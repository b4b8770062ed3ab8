// SessionAuthentication: the authentications that the tasks of a session share: Digest authentications, authenticated
// connections, and the credentials that proxies have accepted.

import LupineAuthentication
package import LupineEngine
import Synchronization

/// The authentications that the tasks of a session share, such as authenticated connections and Digest nonces, guarded by a lock.
///
/// A caller that holds the lock of a task may take this lock, but not the other way around.
package final class SessionAuthentication: Sendable {
  private let logins: Mutex<SessionLogins>
  private let hasAnswered = Atomic(false)

  /// Creates an empty state that uses the system's clock, random numbers and GSSAPI library.
  package convenience init() { self.init(SessionLogins()) }

  init(_ logins: consuming sending SessionLogins) { self.logins = Mutex(logins) }

  /// Whether a task of the session has answered a challenge of a scheme that affects later requests. If false, requests need no
  /// preparation.
  package var isUsed: Bool { hasAnswered.load(ordering: .acquiring) }

  /// Calls `body` with the state, under the lock.
  package func withLock<Value: Sendable>(_ body: (inout SessionLogins) -> Value) -> Value {
    logins.withLock { logins in
      defer { if logins.isUsed { hasAnswered.store(true, ordering: .releasing) } }
      return body(&logins)
    }
  }
}

/// The authentications that the tasks of a session share. Performs no I/O. The owner must guard this value with a lock.
package struct SessionLogins: ~Copyable, Sendable {
  var spaces = DigestSpaces()
  var connections = AuthenticatedConnections()
  let sources: AuthenticationSources
  /// Whether a task has answered a challenge of a scheme that affects later requests.
  var isUsed = false

  /// Creates an empty state that uses the system's clock, random numbers and GSSAPI library.
  package init() { self.init(AuthenticationSources()) }

  init(_ sources: AuthenticationSources) { self.sources = sources }

  /// Returns the logins that servers have accepted and that can authenticate a request before it receives a challenge, the most
  /// recently used ones of each kind first.
  package func candidates(for request: EngineRequest, via proxy: Proxy?) -> [Login] {
    let accepted = proxy.flatMap { ProxyAddress($0) }.flatMap { connections.accepted[$0] }
    // A request that answers a challenge has its Digest credentials already.
    let proofs = request.fields.contains("Authorization") ? [] : spaces.logins(covering: request.uri)
    return proofs + connections.logins(at: .origin(request.uri.origin)) + (accepted.map { [$0] } ?? [])
  }

  /// Removes all credentials that origins and proxies have accepted, and no longer uses the connections that they authenticated.
  package mutating func removeAll() {
    spaces.removeAll()
    connections.removeAll()
  }
}

/// The authenticated connections of a session, and the credentials that proxies have accepted. The logins that identify
/// connections and tunnels have no realm.
///
/// Each authenticated connection is in its own group of the engine's connection pool, and the group's number identifies it. A
/// number is never reused.
struct AuthenticatedConnections: Sendable {
  /// The maximum number of idle authenticated connections that are stored for later requests: 64. Beyond this limit, the oldest
  /// connection isn't used again, and closes when it times out.
  static let idleMax = 64
  /// The maximum number of proxy credentials whose tunnels later requests can use: 256. Beyond this limit, all of these credentials
  /// are removed, and later requests open new tunnels. The number of proxies with an accepted credential has the same limit.
  static let tunnelsMax = 256

  /// The number of the pool group for tunnels that were opened without sending the credential in the proxy's URL: 0.
  static let bareGroup: UInt64 = 0

  private var lastGroup = Self.bareGroup
  private var idle: [(login: Login, group: UInt64)] = []
  private var tunnels: [Login: UInt64] = [:]
  private(set) var accepted: [ProxyAddress: Login] = [:]

  /// Returns the number of a new group of the connection pool, which has no connections yet.
  mutating func newGroup() -> UInt64 {
    lastGroup += 1
    return lastGroup
  }

  /// Returns the number of the pool group for tunnels that were opened with `login`. Creates the group if necessary.
  mutating func tunnelGroup(_ login: Login) -> UInt64 {
    if let group = tunnels[login] { return group }
    if tunnels.count >= Self.tunnelsMax { tunnels.removeAll() }
    let group = newGroup()
    tunnels[login] = group
    return group
  }

  /// Returns the group of the most recently used idle connection that `login` has authenticated, or nil if there is none. No other
  /// request can use the connection until the caller calls `putBack`.
  mutating func take(_ login: Login) -> UInt64? {
    idle.lastIndex { $0.login == login }.map { idle.remove(at: $0).group }
  }

  /// Makes the authenticated connection in `group` available to later requests again.
  mutating func putBack(_ group: UInt64, _ login: Login) {
    idle.append((login, group))
    if idle.count > Self.idleMax { idle.removeFirst() }
  }

  /// Returns the logins that have an idle authenticated connection to `party`, most recently used first.
  func logins(at party: AuthenticationParty) -> [Login] {
    idle.reversed().map(\.login).filter { $0.party == party }
  }

  /// Records that a proxy has accepted a login. Later tasks send its credential to this proxy without waiting for a challenge.
  mutating func note(_ login: Login, by proxy: ProxyAddress) {
    if accepted.count >= Self.tunnelsMax, accepted[proxy] == nil { accepted.removeAll() }
    accepted[proxy] = login
  }

  /// Removes all credentials and their connections. The numbers of their groups aren't used again.
  mutating func removeAll() { (idle, tunnels, accepted) = ([], [:], [:]) }

  /// Removes the accepted credential of a proxy, because the proxy has refused it.
  mutating func forget(_ proxy: ProxyAddress) { accepted[proxy] = nil }
}
