// TLSSessionStore: sessions that can be resumed: TLS 1.3 tickets (RFC 8446 §4.6.1) and TLS 1.2 sessions. A resumed
// handshake sends no certificate and saves a signature on each side.

import CLupineOpenSSL
import Glibc
import Synchronization

/// An in-memory store of sessions that can be resumed. It is thread-safe.
///
/// The store keeps sessions by host, port and configuration. It keeps sessions with proxies separately. A session is never resumed
/// under a configuration other than its own. For example, a session that was created without verification isn't resumed by a client
/// that verifies servers.
public final class TLSSessionStore: Sendable {
  /// A description of a stored session that can be resumed.
  public struct Entry: Sendable, Hashable {
    /// The host of the session's server.
    public let host: String
    /// The port of the session's server.
    public let port: UInt16
    /// The name of the TLS version, such as "TLSv1.3".
    public let protocolVersion: String
    /// The cipher suite's IANA name.
    public let cipherSuite: String
    /// The time since the session was created, in whole seconds.
    public let age: Duration
    /// The time for which the server promises to keep the session, at most 7 days (RFC 8446 §4.6.1), or nil if the server gave
    /// no time.
    public let lifetimeHint: Duration?
    /// Whether the session is removed when it is used. True for TLS 1.3 tickets, so that
    /// observers can't link connections (RFC 8446 §C.4).
    public let isSingleUse: Bool
  }

  /// The default maximum number of hosts: 256. OpenSSL's own cache holds 20480 sessions, but clients rarely connect to
  /// as many servers.
  public static let defaultHostsMax = 256
  /// The default maximum number of sessions per host: 16. The limit determines how many connections can be opened at once
  /// without a full handshake. Servers with OpenSSL send 2 sessions per connection.
  public static let defaultSessionsPerHostMax = 16

  /// The maximum number of hosts. A host counts once for each port and configuration. Beyond the limit, the store removes the host
  /// whose list of sessions changed least recently.
  public let hostsMax: Int
  /// The maximum number of sessions per host. Beyond the limit, the store removes the host's oldest session.
  public let sessionsPerHostMax: Int

  fileprivate struct Place: Hashable {
    let host: String
    let port: UInt16
    let isProxy: Bool
    let configuration: TLSConfiguration

    init(of peer: ClientAttachment) {
      host = peer.host
      port = peer.port
      isProxy = peer.isProxy
      configuration = peer.settings.configuration
    }
  }

  fileprivate struct Shelf {
    /// The sessions with one host, port and configuration, oldest first. Never empty.
    var sessions: [StoredSession]
    /// The sequence number of the latest change to `sessions`. If there are too many hosts, the list with the smallest number is
    /// removed.
    var change: UInt64
  }

  fileprivate struct State {
    var shelves: [Place: Shelf] = [:]
    var changes: UInt64 = 0
  }

  private let state = Mutex(State())
  /// Returns the time in seconds since 1970.
  private let clock: @Sendable () -> Int

  /// Creates an empty store. Both limits must be at least 1.
  public convenience init(hostsMax: Int = defaultHostsMax, sessionsPerHostMax: Int = defaultSessionsPerHostMax) {
    self.init(hostsMax: hostsMax, sessionsPerHostMax: sessionsPerHostMax, clock: { time(nil) })
  }

  /// Creates an empty store that reads the time, in seconds since 1970, from `clock`.
  package init(
    hostsMax: Int = defaultHostsMax, sessionsPerHostMax: Int = defaultSessionsPerHostMax,
    clock: @escaping @Sendable () -> Int
  ) {
    precondition(hostsMax > 0 && sessionsPerHostMax > 0, "hostsMax and sessionsPerHostMax must be at least 1")
    self.hostsMax = hostsMax
    self.sessionsPerHostMax = sessionsPerHostMax
    self.clock = clock
  }

  /// The number of stored sessions, including expired ones.
  public var count: Int {
    state.withLock { $0.shelves.values.reduce(0) { $0 + $1.sessions.count } }
  }

  /// The sessions that can be resumed now. Hosts are in no particular order. The sessions of a host are ordered from oldest to
  /// newest.
  public var entries: [Entry] {
    let shelves = state.withLock { $0.shelves }
    let now = clock()
    return shelves.flatMap { place, shelf in
      shelf.sessions.filter { $0.isUsable(at: now) }.map { $0.entry(host: place.host, port: place.port, at: now) }
    }
  }

  /// Removes all sessions. Open connections aren't affected.
  public func removeAll() {
    state.withLock { $0.shelves = [:] }
  }
}

extension TLSSessionStore {
  /// Stores a session and takes ownership of the caller's reference to it.
  ///
  /// - Parameters:
  ///   - session: The session.
  ///   - peer: The server of the session.
  ///   - requestedAuthorities: The names in DER of the authorities from which the server accepts client certificates. Nil if the
  ///     server requested no certificate, or if the client presented one.
  func keep(_ session: OpaquePointer, for peer: ClientAttachment, requestedAuthorities: [[UInt8]]?) {
    let stored = StoredSession(taking: session, requestedAuthorities: requestedAuthorities)
    let place = Place(of: peer)
    state.withLock { state in
      if state.shelves[place] == nil, state.shelves.count >= hostsMax,
        let stalest = state.shelves.min(by: { $0.value.change < $1.value.change })
      {
        state.shelves[stalest.key] = nil
      }
      // Keeps several TLS 1.3 tickets, because each ticket is used only once (RFC 8446 appendix C.4), but only one TLS 1.2
      // session, because it can be reused.
      var sessions = stored.isSingleUse ? state.shelves[place]?.sessions ?? [] : []
      if sessions.count >= sessionsPerHostMax { sessions.removeFirst() }
      sessions.append(stored)
      state.put(sessions, place)
    }
  }

  /// Lets `ssl` offer to resume the newest usable session with the host, port and configuration of `peer`. Has no effect if there
  /// is none.
  func offer(to ssl: OpaquePointer, for peer: ClientAttachment) {
    let place = Place(of: peer)
    let now = clock()
    let found = state.withLock { state -> StoredSession? in
      guard var sessions = state.shelves[place]?.sessions else { return nil }
      while let newest = sessions.last, !newest.isUsable(at: now) { sessions.removeLast() }
      let newest = sessions.last
      if newest?.isSingleUse == true { sessions.removeLast() }
      state.put(sessions, place)
      return newest
    }
    // SAFETY: both are alive, and OpenSSL takes another reference. If OpenSSL refuses the session, the handshake is a
    // full one.
    guard let found else { return }
    SSL_set_session(ssl, found.pointer)
    peer.offeredAuthorities = found.requestedAuthorities
  }
}

extension TLSSessionStore.State {
  fileprivate mutating func put(_ sessions: [StoredSession], _ place: TLSSessionStore.Place) {
    changes += 1
    shelves[place] = sessions.isEmpty ? nil : TLSSessionStore.Shelf(sessions: sessions, change: changes)
  }
}

/// An owned reference to an OpenSSL session (SSL_SESSION) that can be resumed.
fileprivate final class StoredSession: Sendable {
  // SAFETY: OpenSSL counts references atomically and doesn't change a session after handing it out.
  nonisolated(unsafe) let pointer: OpaquePointer
  let requestedAuthorities: [[UInt8]]?

  init(taking pointer: OpaquePointer, requestedAuthorities: [[UInt8]]?) {
    self.pointer = pointer
    self.requestedAuthorities = requestedAuthorities
  }

  deinit {
    // SAFETY: releases the reference that `init` took over.
    SSL_SESSION_free(pointer)
  }

  var isSingleUse: Bool {
    SSL_SESSION_get_protocol_version(pointer) >= TLS1_3_VERSION
  }

  /// Returns the session's age in seconds at the time `now`, or 0 if the clock was set back.
  private func age(at now: Int) -> Int { max(now - SSL_SESSION_get_time(pointer), 0) }

  /// The session's lifetime in seconds: the server's hint, or OpenSSL's default of 2 hours.
  private var lifetime: Int {
    let hint = SSL_SESSION_get_ticket_lifetime_hint(pointer)
    return hint == 0 ? SSL_SESSION_get_timeout(pointer) : Int(min(hint, TLSLimits.sessionLifetimeSecondsMax))
  }

  /// Returns whether the session can be resumed now. Checks the certificate's expiry too, because a resumed handshake sends no
  /// certificate.
  func isUsable(at now: Int) -> Bool {
    guard SSL_SESSION_is_resumable(pointer) == 1, age(at: now) < lifetime else { return false }
    // SAFETY: the certificate belongs to the session.
    guard let certificate = SSL_SESSION_get0_peer(pointer) else { return true }
    var now = now
    return X509_cmp_time(X509_get0_notAfter(certificate), &now) > 0
  }

  func entry(host: String, port: UInt16, at now: Int) -> TLSSessionStore.Entry {
    // SAFETY: the cipher and its name are static in OpenSSL.
    let cipher = SSL_SESSION_get0_cipher(pointer).flatMap { SSL_CIPHER_standard_name($0) }
    let hint = SSL_SESSION_get_ticket_lifetime_hint(pointer)
    return TLSSessionStore.Entry(
      host: host, port: port, protocolVersion: isSingleUse ? "TLSv1.3" : "TLSv1.2",
      cipherSuite: cipher.map { String(cString: $0) } ?? "", age: .seconds(age(at: now)),
      lifetimeHint: hint == 0 ? nil : .seconds(Int64(clamping: hint)), isSingleUse: isSingleUse)
  }
}
