// HTTPCookieStorage+Tasks: Foundation's methods for the cookies of a task, which are those of its URL.

import Foundation

extension HTTPCookieStorage {
  /// Stores the cookies that the server at the URL of the task's current request may set, like
  /// ``setCookies(_:for:mainDocumentURL:)``. They apply to all tasks, not only to `task`.
  public func storeCookies(_ cookies: [HTTPCookie], for task: URLSessionTask) {
    let request = task.currentRequest
    setCookies(cookies, for: request?.url, mainDocumentURL: request?.mainDocumentURL)
  }

  /// Calls the completion handler with the stored cookies that a request to the URL of the task's current request would send, or
  /// with nil if that URL isn't http or https. The handler runs before this method returns.
  public func getCookiesFor(_ task: URLSessionTask, completionHandler: ([HTTPCookie]?) -> Void) {
    completionHandler(task.currentRequest?.url.flatMap { cookies(for: $0) })
  }
}
