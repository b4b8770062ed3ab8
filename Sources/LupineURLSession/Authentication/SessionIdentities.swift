// SessionIdentities: the client certificates that a session's delegates have chosen for origins.

import LupineEngine
import Synchronization

/// The origins whose servers have requested a client certificate from one session, and the certificate chosen for each origin.
/// Thread-safe.
final class SessionIdentities: Sendable {
  /// The maximum number of origins for which a session remembers client certificates: 256, as for TLS sessions. If another origin
  /// would exceed the maximum, all remembered origins are removed first. If their servers request a certificate again, the delegate
  /// receives a challenge again.
  static let originsMax = 256

  /// The state of an origin whose server has requested a client certificate.
  enum Known: Sendable, Equatable {
    /// The server requested a client certificate from one of the authorities with these DER-encoded names. The delegate hasn't
    /// chosen a certificate for the whole session, so the delegate receives a challenge for each task.
    case requested(authorities: [[UInt8]])
    /// The delegate has chosen this client certificate, or no certificate, for all of the session's tasks.
    case chosen(IdentityChoice)
  }

  private let origins = Mutex<[Origin: Known]>([:])
  private let hasOrigins = Atomic(false)

  /// Whether any server has requested a client certificate from the session so far. If false, tasks skip the lookup of their
  /// origin.
  var isUsed: Bool { hasOrigins.load(ordering: .acquiring) }

  func known(about origin: Origin) -> Known? { origins.withLock { $0[origin] } }

  /// Records that a server has requested a client certificate, with the names of the authorities that it accepts. Has no effect if
  /// a certificate has already been chosen for the origin.
  func note(requestOf authorities: [[UInt8]], by origin: Origin) {
    set(.requested(authorities: authorities), for: origin) { if case .chosen? = $0 { false } else { true } }
  }

  /// Records that all tasks of the session present this client certificate, or none, to the origin.
  func choose(_ choice: IdentityChoice, for origin: Origin) { set(.chosen(choice), for: origin) }

  /// Removes the client certificate chosen for the origin. Called after the origin's server has refused the certificate.
  func forget(_ origin: Origin) { origins.withLock { $0[origin] = nil } }

  /// Removes the client certificates chosen for all origins.
  func removeAll() { origins.withLock { $0 = [:] } }

  private func set(_ known: Known, for origin: Origin, if isReplaced: (Known?) -> Bool = { _ in true }) {
    origins.withLock { origins in
      guard isReplaced(origins[origin]) else { return }
      if origins[origin] == nil, origins.count >= Self.originsMax { origins = [:] }
      origins[origin] = known
    }
    hasOrigins.store(true, ordering: .releasing)
  }
}
