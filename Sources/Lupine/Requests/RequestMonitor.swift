// The receiver of a request's events, as the request knows it.

import Foundation
import LupineURLSession

/// Receives the events of every kind of request. Requests name this protocol instead of ``EventMonitor``, which names every
/// kind of request; each kind declares a further protocol for its own events.
protocol RequestMonitor: AnyObject, Sendable {
  /// Whether anybody receives more than the events that notifications are posted of.
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
