// Shard+Verification: calls verifiers that may block on other threads, while their handshakes wait.

@_spi(Loop) internal import LupineReactor
internal import LupineTLS

extension Shard {
  /// The maximum number of certificate verifiers of an engine that run at the same time, each on a thread: 64. Further TLS
  /// handshakes wait for a thread, within their time limit. A verifier that waits for another party's verdict without blocking
  /// occupies no thread.
  static let verifiersMax = 64

  /// Suspends the TLS handshake of an opening and calls its certificate verifier. The server's bytes wait in the kernel until
  /// `verified` is called.
  func beginVerification(_ opening: Opening, _ verification: PendingVerification) {
    let isProxy = if case .securingProxy = opening.state { true } else { false }
    opening.state = .verifying(isProxy: isProxy)
    // With no events to watch for, the poller reports only errors.
    guard watch(opening, []) else { return }
    do {
      try decide(verification, for: opening.id, while: opening.liveness)
    } catch {
      fail(opening, .outOfResources, cause: .system(error))
    }
  }

  /// Calls a certificate verifier on another thread. It sends its verdict as a message about the connection `id`.
  func decide(
    _ verification: PendingVerification, for id: ConnectionID, while liveness: Liveness
  ) throws(SystemError) {
    try runBlocking { [inbox] in
      // The connection may have ended while this waited for a thread.
      if liveness.isAlive { verification.decide { inbox.send(.verified(id, $0)) } }
    }
  }

  /// Continues the TLS handshake of an opening after its certificate verifier has decided.
  func verified(_ opening: Opening, _ verdict: Verdict) {
    guard case .verifying(let isProxy) = opening.state else { return }
    opening.state = isProxy ? .securingProxy : .handshaking
    opening.transport?.resolve(verdict)
    if watch(opening, .readable) { continueHandshake(opening) }
  }
}
