// `AlamofireNotifications`: posts the events of requests as notifications.

public import Foundation
public import LupineURLSession
import Synchronization

/// Posts a notification when a request or its task has been resumed, suspended or cancelled, or has ended.
///
/// The names are constants of ``Request``. The object of each notification is nil; `Notification/request` is the request. Every
/// session has such a monitor by default. A session that is created with other `eventMonitors` has only those.
///
/// Notifications are posted synchronously on the request's `underlyingQueue`, in order, and not on the main queue. A hop to
/// another queue would slow down every request, and most programs have no observers. Observers should return quickly, because the
/// session's other requests wait for them.
public final class AlamofireNotifications: EventMonitor {
  private let center = NotificationCenter.default
  private let reused = ReusedUserInfo()

  /// Creates a monitor that posts notifications to `NotificationCenter.default`.
  public init() {}

  private func post(_ name: Notification.Name, about request: Request) {
    // It is in use if another thread, or an observer that is being notified, is posting at the same time.
    if !reused.post(name, about: request, to: center) {
      _ = ReusedUserInfo().post(name, about: request, to: center)
    }
  }

  // Unchecked because the dictionary isn't Sendable. Only the thread that has set `isInUse` accesses it.
  /// A user info dictionary that is reused, because creating one costs as much as posting a notification. Replacing the
  /// dictionary's value avoids hashing the key again. An observer that retains the dictionary has its own copy.
  private final class ReusedUserInfo: @unchecked Sendable {
    private let isInUse = Atomic(false)
    private var userInfo: [AnyHashable: Any] = [Notification.requestKey: ()]

    /// Posts a notification, and then releases `request`. Returns false, without effect, if the dictionary is in use.
    func post(_ name: Notification.Name, about request: Request, to center: NotificationCenter) -> Bool {
      guard !isInUse.exchange(true, ordering: .acquiring) else { return false }
      // Moved to a variable in the meantime, because each change of the property would be checked for exclusive access.
      var userInfo: [AnyHashable: Any] = [:]
      swap(&userInfo, &self.userInfo)
      let index = userInfo.startIndex
      userInfo.values[index] = request
      center.post(Notification(name: name, object: nil, userInfo: userInfo))
      userInfo.values[index] = ()
      swap(&userInfo, &self.userInfo)
      isInUse.store(false, ordering: .releasing)
      return true
    }
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
  /// The request that this notification is about, or nil if it isn't a notification about a request.
  public var request: Request? { userInfo?[Notification.requestKey] as? Request }

  fileprivate static let requestKey = "org.alamofire.notification.key.request"
}

extension Notification.Name {
  fileprivate init(request event: String) {
    self.init("org.alamofire.notification.name.request.\(event)")
  }
}
