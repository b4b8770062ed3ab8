// TLSContexts: the TLS contexts that an engine's event loops share.

import Synchronization

/// A cache with one `TLSContext` per configuration. All contexts share one session store. The cache is thread-safe.
///
/// Creating a context reads files and may take milliseconds, so create it before an event loop needs it.
package final class TLSContexts: Sendable {
  /// The maximum number of cached contexts: 64. Programs rarely have more than a few TLS configurations. Beyond the limit, an
  /// arbitrary context is evicted.
  static let contextsMax = 64

  /// The store of resumable TLS sessions that all contexts share.
  package let sessions: TLSSessionStore
  private let contexts = Mutex<[TLSConfiguration: TLSContext]>([:])

  /// Creates an empty cache of TLS contexts. All contexts in the cache will share the session store `sessions`.
  package init(sessions: TLSSessionStore = TLSSessionStore()) {
    self.sessions = sessions
  }

  /// Returns the cached context for `configuration`, or creates it. Throws `TLSError.Code.configuration` if a setting can't be
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
