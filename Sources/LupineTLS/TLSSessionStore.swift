// Sessions that servers offered to resume: TLS 1.3 tickets (RFC 8446 §4.6.1) and TLS 1.2 sessions. A resumed handshake
// sends no certificate and saves a signature on each side.

import CLupineOpenSSL
import Glibc
import Synchronization

/// The sessions that may be resumed, in memory alone. Safe to use from several threads.
///
/// Sessions are kept by host, port and configuration: one that was made without verification, with other trust roots or
/// another client certificate is never resumed under different settings.
public final class TLSSessionStore: Sendable {
  /// A session that may be resumed.
  public struct Entry: Sendable, Hashable {
    /// The host that was asked for.
    public let host: String
    /// Its port.
    public let port: UInt16
    /// The version's name, such as "TLSv1.3".
    public let protocolVersion: String
    /// The cipher suite's IANA name.
    public let cipherSuite: String
    /// How long ago the session was made, in whole seconds.
    public let age: Duration
    /// How long the server said that it will remember, at most 7 days (RFC 8446 §4.6.1); nil if it said nothing.
    public let lifetimeHint: Duration?
    /// Whether it goes when it is used: TLS 1.3's tickets do, so that observers can't link connections (RFC 8446 §C.4).
    public let isSingleUse: Bool
  }

  /// Hosts by default; OpenSSL's own cache has 20480 sessions, but a client rarely meets as many servers.
  public static let defaultHostsMax = 256
  /// Sessions of a host by default: as many connections can be opened at once without a full handshake. A server gives 2
  /// with each (OpenSSL).
  public static let defaultSessionsPerHostMax = 16

  /// Hosts, each port and configuration counted on its own. Beyond it, the one whose sessions changed least lately goes.
  public let hostsMax: Int
  /// Sessions of each host. Beyond it, the oldest goes.
  public let sessionsPerHostMax: Int

  fileprivate struct Place: Hashable {
    let host: String
    let port: UInt16
    let configuration: TLSConfiguration
  }

  fileprivate struct Shelf {
    /// Oldest first; never empty.
    var sessions: [StoredSession]
    /// Counts changes, so that the least of all marks the shelf that was left alone for the longest time.
    var change: UInt64
  }

  fileprivate struct State {
    var shelves: [Place: Shelf] = [:]
    var changes: UInt64 = 0
  }

  private let state = Mutex(State())
  /// Returns the time in seconds since 1970.
  private let clock: @Sendable () -> Int

  /// Makes an empty store; both limits are 1 or more.
  public convenience init(hostsMax: Int = defaultHostsMax, sessionsPerHostMax: Int = defaultSessionsPerHostMax) {
    self.init(hostsMax: hostsMax, sessionsPerHostMax: sessionsPerHostMax, clock: { time(nil) })
  }

  /// Makes an empty store that reads the time, in seconds since 1970, from `clock`.
  package init(
    hostsMax: Int = defaultHostsMax, sessionsPerHostMax: Int = defaultSessionsPerHostMax,
    clock: @escaping @Sendable () -> Int
  ) {
    precondition(hostsMax > 0 && sessionsPerHostMax > 0, "a session store needs room for a session")
    self.hostsMax = hostsMax
    self.sessionsPerHostMax = sessionsPerHostMax
    self.clock = clock
  }

  /// Sessions that are kept, also those that have become too old since.
  public var count: Int {
    state.withLock { $0.shelves.values.reduce(0) { $0 + $1.sessions.count } }
  }

  /// The sessions that may be resumed now, in no particular order of hosts; those of a host oldest first.
  public var entries: [Entry] {
    let shelves = state.withLock { $0.shelves }
    let now = clock()
    return shelves.flatMap { place, shelf in
      shelf.sessions.filter { $0.isUsable(at: now) }.map { $0.entry(host: place.host, port: place.port, at: now) }
    }
  }

  /// Forgets all sessions; connections that are open go on.
  public func removeAll() {
    state.withLock { $0.shelves = [:] }
  }
}

extension TLSSessionStore {
  /// Takes over the reference.
  func keep(_ session: OpaquePointer, for peer: ClientAttachment) {
    let stored = StoredSession(taking: session)
    let place = Place(host: peer.host, port: peer.port, configuration: peer.settings.configuration)
    state.withLock { state in
      if state.shelves[place] == nil, state.shelves.count >= hostsMax,
        let stalest = state.shelves.min(by: { $0.value.change < $1.value.change })
      {
        state.shelves[stalest.key] = nil
      }
      // RFC 8446 appendix C.4: a ticket serves once, so that several are kept; a 1.2 session serves again and again.
      var sessions = stored.isSingleUse ? state.shelves[place]?.sessions ?? [] : []
      if sessions.count >= sessionsPerHostMax { sessions.removeFirst() }
      sessions.append(stored)
      state.put(sessions, place)
    }
  }

  /// Offers the newest usable session of the peer's place to its server.
  func offer(to ssl: OpaquePointer, for peer: ClientAttachment) {
    let place = Place(host: peer.host, port: peer.port, configuration: peer.settings.configuration)
    let now = clock()
    let found = state.withLock { state -> StoredSession? in
      guard var sessions = state.shelves[place]?.sessions else { return nil }
      while let newest = sessions.last, !newest.isUsable(at: now) { sessions.removeLast() }
      let newest = sessions.last
      if newest?.isSingleUse == true { sessions.removeLast() }
      state.put(sessions, place)
      return newest
    }
    // SAFETY: both are alive, and OpenSSL takes a reference of its own. If it refuses, the handshake is a full one.
    if let found { SSL_set_session(ssl, found.pointer) }
  }
}

extension TLSSessionStore.State {
  fileprivate mutating func put(_ sessions: [StoredSession], _ place: TLSSessionStore.Place) {
    changes += 1
    shelves[place] = sessions.isEmpty ? nil : TLSSessionStore.Shelf(sessions: sessions, change: changes)
  }
}

/// One reference to a session.
fileprivate final class StoredSession: Sendable {
  // SAFETY: OpenSSL counts references atomically and doesn't change a session once it was handed out.
  nonisolated(unsafe) let pointer: OpaquePointer

  init(taking pointer: OpaquePointer) {
    self.pointer = pointer
  }

  deinit {
    // SAFETY: gives back the reference that `init` took over.
    SSL_SESSION_free(pointer)
  }

  var isSingleUse: Bool {
    SSL_SESSION_get_protocol_version(pointer) >= TLS1_3_VERSION
  }

  /// In seconds; 0 if the clock was turned back.
  private func age(at now: Int) -> Int { max(now - SSL_SESSION_get_time(pointer), 0) }

  /// In seconds: what the server said, or 2 hours, which is OpenSSL's default.
  private var lifetime: Int {
    let hint = SSL_SESSION_get_ticket_lifetime_hint(pointer)
    return hint == 0 ? SSL_SESSION_get_timeout(pointer) : Int(min(hint, TLSLimits.sessionLifetimeSecondsMax))
  }

  /// The certificate isn't sent again, so that its last day is checked here.
  func isUsable(at now: Int) -> Bool {
    guard SSL_SESSION_is_resumable(pointer) == 1, age(at: now) < lifetime else { return false }
    // SAFETY: the certificate belongs to the session.
    guard let certificate = SSL_SESSION_get0_peer(pointer) else { return true }
    var now = now
    return X509_cmp_time(X509_get0_notAfter(certificate), &now) > 0
  }

  func entry(host: String, port: UInt16, at now: Int) -> TLSSessionStore.Entry {
    // SAFETY: the cipher and its name are OpenSSL's statics.
    let cipher = SSL_SESSION_get0_cipher(pointer).flatMap { SSL_CIPHER_standard_name($0) }
    let hint = SSL_SESSION_get_ticket_lifetime_hint(pointer)
    return TLSSessionStore.Entry(
      host: host, port: port, protocolVersion: isSingleUse ? "TLSv1.3" : "TLSv1.2",
      cipherSuite: cipher.map { String(cString: $0) } ?? "", age: .seconds(age(at: now)),
      lifetimeHint: hint == 0 ? nil : .seconds(Int64(clamping: hint)), isSingleUse: isSingleUse)
  }
}
