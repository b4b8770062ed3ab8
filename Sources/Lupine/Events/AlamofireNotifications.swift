// `AlamofireNotifications`: posts the events of requests as notifications.

public import Foundation
public import LupineURLSession

// Unchecked because AnyHashable isn't Sendable. The string in it is Sendable, and the dictionary is immutable.
/// Posts a notification when a request or its task has been resumed, suspended or cancelled, and when it has ended.
///
/// The names are constants of ``Request``. The object of each notification is nil; `Notification/request` is the request. Every
/// session has such a monitor, unless it is created with other monitors.
///
/// Notifications are posted synchronously on the request's `underlyingQueue`, in order, and not on the main queue. A hop to
/// another queue would slow down every request, and most programs have no observers. Observers should return quickly, because the
/// session's other requests wait for them.
public final class AlamofireNotifications: EventMonitor, @unchecked Sendable {
  private let center = NotificationCenter.default
  /// The notification's user info with a placeholder for the request. Replacing a value doesn't hash its key again.
  private let userInfo: [AnyHashable: Any] = [Notification.requestKey: ()]

  /// Creates a monitor that posts to the default center.
  public init() {}

  private func post(_ name: Notification.Name, about request: Request) {
    center.post(name: name, object: nil, userInfo: userInfo.mapValues { _ in request })
  }

  /// Posts ``Request/didResumeNotification``.
  public func requestDidResume(_ request: Request) { post(Request.didResumeNotification, about: request) }

  /// Posts ``Request/didSuspendNotification``.
  public func requestDidSuspend(_ request: Request) { post(Request.didSuspendNotification, about: request) }

  /// Posts ``Request/didCancelNotification``.
  public func requestDidCancel(_ request: Request) { post(Request.didCancelNotification, about: request) }

  /// Posts ``Request/didFinishNotification``.
  public func requestDidFinish(_ request: Request) { post(Request.didFinishNotification, about: request) }

  /// Posts ``Request/didResumeTaskNotification``.
  public func request(_ request: Request, didResumeTask task: URLSessionTask) {
    post(Request.didResumeTaskNotification, about: request)
  }

  /// Posts ``Request/didSuspendTaskNotification``.
  public func request(_ request: Request, didSuspendTask task: URLSessionTask) {
    post(Request.didSuspendTaskNotification, about: request)
  }

  /// Posts ``Request/didCancelTaskNotification``.
  public func request(_ request: Request, didCancelTask task: URLSessionTask) {
    post(Request.didCancelTaskNotification, about: request)
  }

  /// Posts ``Request/didCompleteTaskNotification``.
  public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
    post(Request.didCompleteTaskNotification, about: request)
  }
}

extension Request {
  /// Posted when a request has been resumed.
  public static let didResumeNotification = Notification.Name(request: "didResume")
  /// Posted when a request has been suspended.
  public static let didSuspendNotification = Notification.Name(request: "didSuspend")
  /// Posted when a request has been cancelled.
  public static let didCancelNotification = Notification.Name(request: "didCancel")
  /// Posted when a request has finished and won't be retried, before its response handlers run.
  public static let didFinishNotification = Notification.Name(request: "didFinish")
  /// Posted when a request's task has been resumed.
  public static let didResumeTaskNotification = Notification.Name(request: "didResumeTask")
  /// Posted when a request's task has been suspended.
  public static let didSuspendTaskNotification = Notification.Name(request: "didSuspendTask")
  /// Posted when a request's task has been cancelled.
  public static let didCancelTaskNotification = Notification.Name(request: "didCancelTask")
  /// Posted when a request's task has ended and its response has been validated.
  public static let didCompleteTaskNotification = Notification.Name(request: "didCompleteTask")
}

extension Notification {
  /// The request that a notification is about, or nil for notifications that requests don't post.
  public var request: Request? { userInfo?[Notification.requestKey] as? Request }

  fileprivate static let requestKey = "org.alamofire.notification.key.request"
}

extension Notification.Name {
  fileprivate init(request event: String) {
    self.init("org.alamofire.notification.name.request.\(event)")
  }
}
