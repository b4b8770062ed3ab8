// TLSSessionStore: sessions that can be resumed: TLS 1.3 tickets (RFC 8446 §4.6.1) and TLS 1.2 sessions. A resumed
// handshake sends no certificate and saves a signature on each side.

import CLupineOpenSSL
import LupineLibc
import Synchronization

/// An in-memory store of TLS sessions that clients can resume. It is thread-safe.
///
/// Each session is stored under its host, port and TLS configuration. Sessions with proxies are stored separately. A session is
/// resumed only by a client with an equal configuration. For example, a client that verifies servers never resumes a session that
/// was created without verification.
public final class TLSSessionStore: Sendable {
  /// A description of a TLS session in the store.
  public struct Entry: Sendable, Hashable {
    /// The host of the server with which the TLS session was created.
    public let host: String
    /// The port of the server with which the TLS session was created.
    public let port: UInt16
    /// The name of the session's TLS version, such as "TLSv1.3".
    public let protocolVersion: String
    /// The IANA name of the session's cipher suite, such as "TLS_AES_256_GCM_SHA384".
    public let cipherSuite: String
    /// The time since the TLS session was created, in whole seconds.
    public let age: Duration
    /// The time for which the server promises to accept the session's resumption, at most 7 days (RFC 8446 §4.6.1). Nil if the
    /// server gave no time.
    public let lifetimeHint: Duration?
    /// Whether the store removes the session when a connection uses it. True for TLS 1.3 tickets, because an observer who sees a
    /// ticket twice could link the two connections (RFC 8446 §C.4).
    public let isSingleUse: Bool
  }

  /// The default maximum number of hosts in a session store: 256. OpenSSL's own cache holds 20480 sessions, but clients rarely
  /// connect to as many servers.
  public static let defaultHostsMax = 256
  /// The default maximum number of stored sessions per host: 16. The limit determines how many connections can be opened at once
  /// without a full handshake. Servers with OpenSSL send 2 sessions per connection.
  public static let defaultSessionsPerHostMax = 16

  /// The maximum number of hosts in the store. 256 by default. A host counts once for each port and configuration. Beyond the
  /// limit, the store removes the host whose list of sessions changed least recently.
  public let hostsMax: Int
  /// The maximum number of stored sessions per host. 16 by default. Beyond the limit, the store removes the host's oldest session.
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
    /// The stored sessions with one host, port and configuration, oldest first. Never empty.
    var sessions: [StoredSession]
    /// The sequence number of the latest change to this list of sessions. If the store has too many hosts, it removes the list with
    /// the smallest number.
    var change: UInt64
  }

  fileprivate struct State: ~Copyable {
    var shelves: [Place: Shelf] = [:]
    var changes: UInt64 = 0
  }

  private let state = Mutex(State())
  /// Returns the current time in seconds since 1970.
  private let clock: @Sendable () -> Int

  /// Creates an empty session store. Both limits must be at least 1.
  public convenience init(hostsMax: Int = defaultHostsMax, sessionsPerHostMax: Int = defaultSessionsPerHostMax) {
    self.init(hostsMax: hostsMax, sessionsPerHostMax: sessionsPerHostMax, clock: { time(nil) })
  }

  /// Creates an empty session store that reads the current time, in seconds since 1970, from `clock`.
  package init(
    hostsMax: Int = defaultHostsMax, sessionsPerHostMax: Int = defaultSessionsPerHostMax,
    clock: @escaping @Sendable () -> Int
  ) {
    precondition(hostsMax > 0 && sessionsPerHostMax > 0, "hostsMax and sessionsPerHostMax must be at least 1")
    self.hostsMax = hostsMax
    self.sessionsPerHostMax = sessionsPerHostMax
    self.clock = clock
  }

  /// The number of TLS sessions in the store, including expired ones.
  public var count: Int {
    state.withLock { $0.shelves.values.reduce(0) { $0 + $1.sessions.count } }
  }

  /// Descriptions of the stored TLS sessions that can be resumed now. Hosts are in no particular order. The sessions of a host are
  /// ordered from oldest to newest.
  public var entries: [Entry] {
    let shelves = state.withLock { $0.shelves }
    let now = clock()
    return shelves.flatMap { place, shelf in
      shelf.sessions.filter { $0.isUsable(at: now) }.map { $0.entry(host: place.host, port: place.port, at: now) }
    }
  }

  /// Removes all sessions from the store. Open connections aren't affected.
  public func removeAll() {
    state.withLock { $0.shelves = [:] }
  }
}

extension TLSSessionStore {
  /// Stores a TLS session that clients can resume. Takes ownership of the caller's reference to the OpenSSL session.
  ///
  /// - Parameters:
  ///   - session: OpenSSL's SSL_SESSION object.
  ///   - peer: The attachment of the connection to the server, which has the server's host and port.
  ///   - requestedAuthorities: The distinguished names in DER of the authorities from which the server accepts client certificates.
  ///     Nil if the server requested no client certificate, or if the client presented one.
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

  /// Makes `ssl` offer to resume the newest usable session that is stored for the host, port and configuration of `peer`. Has no
  /// effect if the store has none.
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

/// A TLS session in the store. Owns a reference to OpenSSL's session object (SSL_SESSION).
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

  /// Returns whether the TLS session can be resumed at the time `now`. The session's certificate must not have expired either,
  /// because the server sends no certificate in a resumed handshake.
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
      lifetimeHint: hint == 0 ? nil : .seconds(Int64(min(hint, TLSLimits.sessionLifetimeSecondsMax))),
      isSingleUse: isSingleUse)
  }
}
