// URLCredentialStorage+Tasks: Foundation's methods for the credentials of a task. All tasks share the same credentials.

import Foundation

extension URLCredentialStorage {
  /// Calls the completion handler with the credentials of a protection space, keyed by user name, or with nil if the protection
  /// space has no credentials. The handler runs before this method returns.
  public func getCredentials(
    for protectionSpace: URLProtectionSpace, task: URLSessionTask,
    completionHandler: ([String: URLCredential]?) -> Void
  ) {
    completionHandler(credentials(for: protectionSpace))
  }

  /// Stores a credential, like ``set(_:for:)``. The credential applies to all tasks, not only to `task`.
  public func set(_ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask) {
    set(credential, for: protectionSpace)
  }

  /// Removes a credential, like ``remove(_:for:options:)``. The removal applies to all tasks, not only to `task`.
  public func remove(
    _ credential: URLCredential, for protectionSpace: URLProtectionSpace, options: [String: AnyObject]? = [:],
    task: URLSessionTask
  ) {
    remove(credential, for: protectionSpace, options: options)
  }

  /// Calls the completion handler with the default credential of a protection space, or with nil if there is none. The handler runs
  /// before this method returns.
  public func getDefaultCredential(
    for space: URLProtectionSpace, task: URLSessionTask, completionHandler: (URLCredential?) -> Void
  ) {
    completionHandler(defaultCredential(for: space))
  }

  /// Stores a default credential, like ``setDefaultCredential(_:for:)``. The credential applies to all tasks, not only to `task`.
  public func setDefaultCredential(
    _ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask
  ) {
    setDefaultCredential(credential, for: protectionSpace)
  }
}
