// URLCredentialStorage+Tasks: Foundation's calls for a task. All tasks share the credentials.

import Foundation

extension URLCredentialStorage {
  /// Passes the credentials of a space by user name, or nil if it has none, to the handler before this method returns.
  public func getCredentials(
    for protectionSpace: URLProtectionSpace, task: URLSessionTask,
    completionHandler: ([String: URLCredential]?) -> Void
  ) {
    completionHandler(credentials(for: protectionSpace))
  }

  /// Stores a credential like ``set(_:for:)``, for all tasks.
  public func set(_ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask) {
    set(credential, for: protectionSpace)
  }

  /// Removes a credential like ``remove(_:for:options:)``, for all tasks.
  public func remove(
    _ credential: URLCredential, for protectionSpace: URLProtectionSpace, options: [String: AnyObject]? = [:],
    task: URLSessionTask
  ) {
    remove(credential, for: protectionSpace, options: options)
  }

  /// Passes the default credential of a space, or nil if it has none, to the handler before this method returns.
  public func getDefaultCredential(
    for space: URLProtectionSpace, task: URLSessionTask, completionHandler: (URLCredential?) -> Void
  ) {
    completionHandler(defaultCredential(for: space))
  }

  /// Stores a default credential like ``setDefaultCredential(_:for:)``, for all tasks.
  public func setDefaultCredential(
    _ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask
  ) {
    setDefaultCredential(credential, for: protectionSpace)
  }
}
