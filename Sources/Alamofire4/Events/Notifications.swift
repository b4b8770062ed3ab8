// Notifications: the names and keys of the notifications that requests post.

public import Foundation

extension Notification.Name {
  /// The names of the notifications about a request's `URLSessionTask`.
  public struct Task {
    /// Posted by a ``Request`` after its task was resumed.
    public static let DidResume = Notification.Name(rawValue: "org.alamofire.notification.name.task.didResume")
    /// Posted by a ``Request`` after its task was suspended.
    public static let DidSuspend = Notification.Name(rawValue: "org.alamofire.notification.name.task.didSuspend")
    /// Posted by a ``Request`` after its task was cancelled.
    public static let DidCancel = Notification.Name(rawValue: "org.alamofire.notification.name.task.didCancel")
    /// Posted by a ``SessionDelegate`` after a task has completed and won't be retried.
    public static let DidComplete = Notification.Name(rawValue: "org.alamofire.notification.name.task.didComplete")
  }
}

extension Notification {
  /// The keys in the `userInfo` dictionary of notifications about requests.
  public struct Key {
    /// The `userInfo` key of the `URLSessionTask`.
    public static let Task = "org.alamofire.notification.key.task"
    /// The `userInfo` key of the response body that a data request or an upload has received.
    public static let ResponseData = "org.alamofire.notification.key.responseData"
  }
}
