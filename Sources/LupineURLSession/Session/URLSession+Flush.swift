// URLSession+Flush: renews a session's connections and empties its stores.

import Foundation

extension URLSession {
  /// Makes later requests open new connections. The session's current connections are
  /// closed when its tasks in progress have ended.
  ///
  /// Cookies and credentials are kept only in memory, so there is nothing to write to a disk.
  ///
  /// - Parameter completionHandler: Called immediately on the delegate queue, without waiting for the tasks in progress.
  @preconcurrency
  public func flush(completionHandler: @escaping @Sendable () -> Void) {
    client.renewConnections()
    if isIdle { client.releaseRetired() }
    delivery.perform { completionHandler() }
  }

  /// Removes the cookies and credentials of the session's storages, and renews its
  /// connections as ``flush(completionHandler:)`` does.
  ///
  /// - Parameter completionHandler: Called immediately on the delegate queue, without waiting for the tasks in progress.
  @preconcurrency
  public func reset(completionHandler: @escaping @Sendable () -> Void) {
    client.settings.cookieStorage?.removeCookies(since: .distantPast)
    if let storage = client.settings.credentialStorage {
      for (space, credentials) in storage.allCredentials {
        for credential in credentials.values { storage.remove(credential, for: space) }
      }
    }
    flush(completionHandler: completionHandler)
  }
}
