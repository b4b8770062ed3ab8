// URLCredentialStorage+Tasks: Foundation's methods for the credentials of a task. All tasks share the same credentials.

import Foundation

extension URLCredentialStorage {
  /// Calls the handler with a space's credentials, keyed by user name, or with nil if the space has none. Calls it before this
  /// method returns.
  public func getCredentials(
    for protectionSpace: URLProtectionSpace, task: URLSessionTask,
    completionHandler: ([String: URLCredential]?) -> Void
  ) {
    completionHandler(credentials(for: protectionSpace))
  }

  /// Stores a credential for all tasks, like ``set(_:for:)``.
  public func set(_ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask) {
    set(credential, for: protectionSpace)
  }

  /// Removes a credential for all tasks, like ``remove(_:for:options:)``.
  public func remove(
    _ credential: URLCredential, for protectionSpace: URLProtectionSpace, options: [String: AnyObject]? = [:],
    task: URLSessionTask
  ) {
    remove(credential, for: protectionSpace, options: options)
  }

  /// Calls the handler with a space's default credential, or with nil if the space has none. Calls it before this method returns.
  public func getDefaultCredential(
    for space: URLProtectionSpace, task: URLSessionTask, completionHandler: (URLCredential?) -> Void
  ) {
    completionHandler(defaultCredential(for: space))
  }

  /// Stores a default credential for all tasks, like ``setDefaultCredential(_:for:)``.
  public func setDefaultCredential(
    _ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask
  ) {
    setDefaultCredential(credential, for: protectionSpace)
  }
}
