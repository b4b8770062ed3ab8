// TLSContexts: the TLS contexts that an engine's event loops share.

import Synchronization

/// Creates one context per configuration and owns the session store that all contexts share. It is thread-safe. Creating a
/// context reads files and may take milliseconds, so create it before an event loop needs it.
package final class TLSContexts: Sendable {
  /// The maximum number of cached contexts: 64. Programs rarely have more than a few. Beyond the limit, an arbitrary context is
  /// evicted.
  static let contextsMax = 64

  /// The store of resumable TLS sessions that all contexts share.
  package let sessions: TLSSessionStore
  private let contexts = Mutex<[TLSConfiguration: TLSContext]>([:])

  /// Creates an empty cache of contexts. All contexts that it creates will share `sessions`.
  package init(sessions: TLSSessionStore = TLSSessionStore()) {
    self.sessions = sessions
  }

  /// Returns the context for `configuration`. Creates it if necessary. Throws `TLSError.Code.configuration` if a setting can't be
  /// used.
  package func context(for configuration: TLSConfiguration) throws(TLSError) -> TLSContext {
    if let known = contexts.withLock({ $0[configuration] }) { return known }
    // The context is created without holding the lock, so that other loops don't wait. If two are created concurrently,
    // the first one stored is used.
    let made = try TLSContext(client: configuration, sessions: sessions)
    return contexts.withLock { contexts in
      if let known = contexts[configuration] { return known }
      if contexts.count >= Self.contextsMax, let victim = contexts.keys.first { contexts[victim] = nil }
      contexts[configuration] = made
      return made
    }
  }
}
