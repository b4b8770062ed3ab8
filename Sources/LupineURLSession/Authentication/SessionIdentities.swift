// SessionIdentities: the client certificates that a session's delegates have chosen for origins.

import LupineEngine
import Synchronization

/// The origins whose servers have requested a client certificate from a session, and the certificates chosen for them.
/// Thread-safe.
final class SessionIdentities: Sendable {
  /// The maximum number of remembered origins: 256, as for TLS sessions. When another origin would exceed the maximum, all others
  /// are forgotten, and their servers' next requests for a certificate go to the delegate again.
  static let originsMax = 256

  /// The session's record about an origin whose server has requested a client certificate.
  enum Known: Sendable, Equatable {
    /// The server accepts certificates from the authorities with these DER-encoded names. Each task receives a challenge.
    case requested(authorities: [[UInt8]])
    /// All tasks present this certificate.
    case chosen(IdentityChoice)
  }

  private let origins = Mutex<[Origin: Known]>([:])
  private let hasOrigins = Atomic(false)

  /// Whether any server has requested a client certificate so far. If false, requests can be sent without a lookup of their
  /// origin.
  var isUsed: Bool { hasOrigins.load(ordering: .acquiring) }

  func known(about origin: Origin) -> Known? { origins.withLock { $0[origin] } }

  /// Remembers that an origin's server requests a certificate. Has no effect if a certificate has already been chosen for the
  /// origin.
  func note(requestOf authorities: [[UInt8]], by origin: Origin) {
    set(.requested(authorities: authorities), for: origin) { if case .chosen? = $0 { false } else { true } }
  }

  /// Remembers the certificate of an origin for all tasks.
  func choose(_ choice: IdentityChoice, for origin: Origin) { set(.chosen(choice), for: origin) }

  /// Forgets an origin's certificate. Called after the server has refused it.
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
