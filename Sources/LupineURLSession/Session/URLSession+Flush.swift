// A session's connections and stores, emptied on request.

import Foundation

extension URLSession {
  /// Lets later requests open new connections. The session's present ones are closed when its tasks in progress have ended.
  ///
  /// Cookies and credentials live in memory, so there is nothing to write to a disk.
  ///
  /// - Parameter completionHandler: Called on the delegate queue at once; tasks in progress aren't awaited.
  @preconcurrency
  public func flush(completionHandler: @escaping @Sendable () -> Void) {
    client.renewConnections()
    if isIdle { client.releaseRetired() }
    delivery.perform { completionHandler() }
  }

  /// Removes the cookies and credentials of the session's storages, and renews its connections as
  /// ``flush(completionHandler:)`` does.
  ///
  /// - Parameter completionHandler: Called on the delegate queue at once; tasks in progress aren't awaited.
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
