// URLSession+Connections: the executor of a session's connections, their renewal, and the removal of stored data.

import Foundation
import LupineLogin

extension URLSession {
  /// The task executor of the session's event loop, or of the first event loop if there are several.
  ///
  /// A Swift task that prefers this executor (`Task(executorPreference:)`, `withTaskExecutorPreference`) runs on the thread that
  /// also serves the session's sockets, so that its requests wake fewer threads. The Swift task must not block, because it would
  /// also block the event loop. Reading the property starts the session's engine if necessary, and throws a `URLError` if the
  /// engine can't be started. ``flush(completionHandler:)`` and ``reset(completionHandler:)`` replace the event loop and its
  /// executor.
  public var executor: any TaskExecutor { get throws { try client.executor() } }

  /// Makes later requests of the session open new connections, and calls the handler on the delegate queue.
  func renewConnections(then completionHandler: @escaping @Sendable () -> Void) {
    client.renewConnections()
    if isIdle { client.releaseRetired() }
    delivery.perform { completionHandler() }
  }

  /// Removes the cookies, credentials and cached responses from the session's storages. Also clears the session's authentication
  /// state and the client certificates that its delegates have chosen.
  func removeStoredData() {
    client.settings.cookieStorage?.removeCookies(since: .distantPast)
    if let storage = client.settings.credentialStorage {
      // Without this option, synchronizable credentials would remain.
      let options: [String: AnyObject] = [NSURLCredentialStorageRemoveSynchronizableCredentials: NSNumber(value: true)]
      for (space, credentials) in storage.allCredentials {
        for credential in credentials.values { storage.remove(credential, for: space, options: options) }
      }
    }
    client.identities.removeAll()
    client.authentication.withLock { $0.removeAll() }
    client.settings.cache.current?.removeAllCachedResponses()
  }
}
