// SessionIdentities: the client certificates that a session's delegates have chosen for origins.

import LupineEngine
import Synchronization

/// The origins whose servers have requested a client certificate from a session, and the certificates chosen for them.
/// Thread-safe.
final class SessionIdentities: Sendable {
  /// The maximum number of remembered origins: 256, as for TLS sessions. When another origin would exceed the maximum, the session
  /// forgets all remembered origins. If their servers request a certificate again, the delegate receives a challenge again.
  static let originsMax = 256

  /// The state of an origin whose server has requested a client certificate.
  enum Known: Sendable, Equatable {
    /// The server accepts certificates from the authorities with these DER-encoded names. The delegate hasn't chosen a certificate
    /// for the whole session, so it receives a challenge for each task.
    case requested(authorities: [[UInt8]])
    /// The delegate has chosen this certificate, or none, for all of the session's tasks.
    case chosen(IdentityChoice)
  }

  private let origins = Mutex<[Origin: Known]>([:])
  private let hasOrigins = Atomic(false)

  /// Whether any server has requested a client certificate so far. If false, a task needn't look up the origin of its request here.
  var isUsed: Bool { hasOrigins.load(ordering: .acquiring) }

  func known(about origin: Origin) -> Known? { origins.withLock { $0[origin] } }

  /// Remembers that an origin's server requests a certificate. Has no effect if a certificate has already been chosen for the
  /// origin.
  func note(requestOf authorities: [[UInt8]], by origin: Origin) {
    set(.requested(authorities: authorities), for: origin) { if case .chosen? = $0 { false } else { true } }
  }

  /// Remembers that all tasks present this certificate to the origin.
  func choose(_ choice: IdentityChoice, for origin: Origin) { set(.chosen(choice), for: origin) }

  /// Forgets the certificate chosen for the origin. Called after the origin's server has refused the certificate.
  func forget(_ origin: Origin) { origins.withLock { $0[origin] = nil } }

  /// Forgets the certificates of all origins.
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
