// Sessions that servers offered to resume: TLS 1.3 tickets (RFC 8446 §4.6.1) and TLS 1.2 sessions. A resumed handshake
// sends no certificate and saves a signature on each side.

import CLupineOpenSSL
import Synchronization

/// What one context has learnt, by host. A context has one configuration, so that a session that was made without
/// verification, or with other trust roots, is never resumed under stricter ones.
final class ResumptionStore: Sendable {
  /// Hosts; OpenSSL's own cache defaults to 20480 sessions, but a client rarely meets as many servers.
  static let hostsMax = 256
  /// Sessions; a server gives 2 by default (OpenSSL), and a browser keeps 6 connections to a host.
  static let sessionsPerHostMax = 6

  private let sessions = Mutex<[String: [StoredSession]]>([:])

  /// Takes over the reference.
  func keep(_ session: OpaquePointer, host: String) {
    let stored = StoredSession(taking: session)
    sessions.withLock { sessions in
      if sessions[host] == nil, sessions.count >= Self.hostsMax, let victim = sessions.keys.first {
        sessions[victim] = nil
      }
      // RFC 8446 appendix C.4: a ticket serves once, so that several are kept; a 1.2 session serves again and again.
      var kept = stored.servesOnce ? sessions[host, default: []] : []
      if kept.count >= Self.sessionsPerHostMax { kept.removeFirst() }
      kept.append(stored)
      sessions[host] = kept
    }
  }

  /// Offers the newest usable session of the host to its server.
  func offer(to ssl: OpaquePointer, host: String) {
    let found = sessions.withLock { sessions -> StoredSession? in
      while let newest = sessions[host]?.last {
        guard newest.isUsable else {
          drop(newest: host, from: &sessions)
          continue
        }
        if newest.servesOnce { drop(newest: host, from: &sessions) }
        return newest
      }
      return nil
    }
    // SAFETY: both are alive, and OpenSSL takes a reference of its own. If it refuses, the handshake is a full one.
    if let found { SSL_set_session(ssl, found.pointer) }
  }

  private func drop(newest host: String, from sessions: inout [String: [StoredSession]]) {
    sessions[host]?.removeLast()
    if sessions[host]?.isEmpty == true { sessions[host] = nil }
  }
}

/// One reference to a session.
private final class StoredSession: Sendable {
  // SAFETY: OpenSSL counts references atomically and doesn't change a session once it was handed out.
  nonisolated(unsafe) let pointer: OpaquePointer

  init(taking pointer: OpaquePointer) {
    self.pointer = pointer
  }

  deinit {
    // SAFETY: gives back the reference that `init` took over.
    SSL_SESSION_free(pointer)
  }

  var servesOnce: Bool {
    SSL_SESSION_get_protocol_version(pointer) >= TLS1_3_VERSION
  }

  /// The certificate isn't sent again, so that its last day is checked here. OpenSSL checks the session's own age.
  var isUsable: Bool {
    guard SSL_SESSION_is_resumable(pointer) == 1 else { return false }
    // SAFETY: the certificate belongs to the session.
    guard let certificate = SSL_SESSION_get0_peer(pointer) else { return true }
    return X509_cmp_current_time(X509_get0_notAfter(certificate)) > 0
  }
}
