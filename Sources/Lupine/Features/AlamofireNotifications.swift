// What becomes of requests, as notifications.

public import Foundation
public import LupineURLSession

// Unchecked for the dictionary's sake: AnyHashable isn't Sendable, the string in it is, and nothing changes it.
/// Posts a notification when a request or its task was resumed, suspended or cancelled, and when it has ended.
///
/// The notifications' names are constants of ``Request``; their object is nil, and `Notification/request`
/// is the request. Every session has such a monitor unless it is given others.
///
/// They are posted at once on the request's `underlyingQueue`, in order, and not on the main queue: a hop to another
/// queue for each of them would cost every request, and most programs have no observers. An observer should be quick, as
/// the session's other requests wait for it.
public final class AlamofireNotifications: EventMonitor, @unchecked Sendable {
  private let center = NotificationCenter.default
  /// What is posted, but for the request: a copy with another value needs no hash of its key.
  private let userInfo: [AnyHashable: Any] = [Notification.requestKey: ()]

  /// Makes a monitor that posts to the default center.
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
  /// Posted when a request was resumed.
  public static let didResumeNotification = Notification.Name(request: "didResume")
  /// Posted when a request was suspended.
  public static let didSuspendNotification = Notification.Name(request: "didSuspend")
  /// Posted when a request was cancelled.
  public static let didCancelNotification = Notification.Name(request: "didCancel")
  /// Posted when no more rounds will follow; response handlers do.
  public static let didFinishNotification = Notification.Name(request: "didFinish")
  /// Posted when a request's task was resumed.
  public static let didResumeTaskNotification = Notification.Name(request: "didResumeTask")
  /// Posted when a request's task was suspended.
  public static let didSuspendTaskNotification = Notification.Name(request: "didSuspendTask")
  /// Posted when a request's task was cancelled.
  public static let didCancelTaskNotification = Notification.Name(request: "didCancelTask")
  /// Posted when a request's task has ended and its response was validated.
  public static let didCompleteTaskNotification = Notification.Name(request: "didCompleteTask")
}

extension Notification {
  /// The request that the notification is about; nil unless it is one of ``Request``'s.
  public var request: Request? { userInfo?[Notification.requestKey] as? Request }

  fileprivate static let requestKey = "org.alamofire.notification.key.request"
}

extension Notification.Name {
  fileprivate init(request event: String) {
    self.init("org.alamofire.notification.name.request.\(event)")
  }
}
