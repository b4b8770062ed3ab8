// RequestMonitor: the interface through which a request notifies the event monitors.

import Foundation
import LupineURLSession

/// Receives the events that all types of requests have. Requests use this protocol to avoid a circular dependency: ``EventMonitor``
/// refers to all types of requests. Each type of request declares a further protocol for its specific events.
protocol RequestMonitor: AnyObject, Sendable {
  /// Whether any monitor is of a type other than ``AlamofireNotifications``. If not, the only events that must be reported are
  /// those for which notifications are posted.
  var hasListeners: Bool { get }

  func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest)
  func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError)
  func request(_ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest)
  func request(_ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError)
  func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest)
  func request(_ request: Request, didCreateTask task: URLSessionTask)
  func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics)
  func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError)
  func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?)
  func requestIsRetrying(_ request: Request)
  func requestDidFinish(_ request: Request)
  func requestDidResume(_ request: Request)
  func request(_ request: Request, didResumeTask task: URLSessionTask)
  func requestDidSuspend(_ request: Request)
  func request(_ request: Request, didSuspendTask task: URLSessionTask)
  func requestDidCancel(_ request: Request)
  func request(_ request: Request, didCancelTask task: URLSessionTask)
}
