// URLSession+Connections: the executor of a session's connections, their renewal, and the removal of stored data.

import Foundation
import LupineLogin

extension URLSession {
  /// The task executor of the session's event loop, or of the first loop if there are several.
  ///
  /// A task that prefers this executor (`Task(executorPreference:)`, `withTaskExecutorPreference`) runs on the thread that also
  /// serves the session's sockets, so that its requests wake fewer threads. The task must not block, because it would block the
  /// loop. Reading the property starts the session's engine if necessary, and throws a `URLError` if that fails.
  /// ``flush(completionHandler:)`` and ``reset(completionHandler:)`` replace the loop.
  public var executor: any TaskExecutor { get throws { try client.executor() } }

  /// Makes later requests open new connections. The session's current connections are closed once the running tasks have ended.
  ///
  /// The method writes nothing to the disk: cookies and credentials are kept in memory, and cached responses are written as
  /// they arrive.
  ///
  /// - Parameter completionHandler: Called immediately on the delegate queue, without waiting for the tasks in progress.
  @preconcurrency
  public func flush(completionHandler: @escaping @Sendable () -> Void) {
    client.renewConnections()
    if isIdle { client.releaseRetired() }
    delivery.perform { completionHandler() }
  }

  /// Removes the cookies, credentials and cached responses of the session's storages and the client certificates that its
  /// delegates have chosen, and renews its connections as ``flush(completionHandler:)`` does.
  ///
  /// - Parameter completionHandler: Called immediately on the delegate queue, without waiting for the tasks in progress.
  @preconcurrency
  public func reset(completionHandler: @escaping @Sendable () -> Void) {
    client.settings.cookieStorage?.removeCookies(since: .distantPast)
    if let storage = client.settings.credentialStorage {
      // Without this option, synchronizable credentials would remain.
      let options: [String: AnyObject] = [NSURLCredentialStorageRemoveSynchronizableCredentials: NSNumber(value: true)]
      for (space, credentials) in storage.allCredentials {
        for credential in credentials.values { storage.remove(credential, for: space, options: options) }
      }
    }
    client.identities.removeAll()
    client.authentication.removeAll()
    client.settings.cache.current?.removeAllCachedResponses()
    flush(completionHandler: completionHandler)
  }
}
