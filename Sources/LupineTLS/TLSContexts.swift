// The contexts that an engine's loops share.

import Synchronization

/// Makes each configuration's context once, and keeps the sessions to resume for all of them. Safe to use from several
/// threads: making a context reads files and may take milliseconds, so do it before a loop needs it.
package final class TLSContexts: Sendable {
  /// Configurations; a program has a few, and one more is made anew whenever it is needed.
  static let contextsMax = 64

  /// What all contexts resume.
  package let sessions: TLSSessionStore
  private let contexts = Mutex<[TLSConfiguration: TLSContext]>([:])

  /// Makes an empty set over a store of sessions.
  package init(sessions: TLSSessionStore = TLSSessionStore()) {
    self.sessions = sessions
  }

  /// The configuration's context, made now if it is new. Throws `TLSError.Code.configuration` for one that can't be used.
  package func context(for configuration: TLSConfiguration) throws(TLSError) -> TLSContext {
    if let known = contexts.withLock({ $0[configuration] }) { return known }
    // Not under the lock, which other loops would wait for; of two that are made at once, the first is kept.
    let made = try TLSContext(client: configuration, sessions: sessions)
    return contexts.withLock { contexts in
      if let known = contexts[configuration] { return known }
      if contexts.count >= Self.contextsMax, let victim = contexts.keys.first { contexts[victim] = nil }
      contexts[configuration] = made
      return made
    }
  }
}
