// RequestDelegate: the interface through which a request uses the session that created it.

public import Foundation
import LupineURLSession

/// The public methods that a request calls on the session that created it. ``Session`` conforms to this protocol.
public protocol RequestDelegate: AnyObject, Sendable {
  /// The configuration of the session that created the request.
  var sessionConfiguration: URLSessionConfiguration { get }
  /// Whether a request is resumed when its first response handler is added.
  var startImmediately: Bool { get }
  /// Called before the request's task is created.
  func readyToPerform(request: Request)
  /// Called when the request has ended, before its response handlers are called.
  func cleanup(after request: Request)
  /// Decides whether a failed request is retried. Calls `completion` once, on any thread.
  func retryResult(for request: Request, dueTo error: AFError, completion: @escaping @Sendable (RetryResult) -> Void)
  /// Retries the request after `timeDelay` seconds, or immediately if `timeDelay` is nil.
  func retryRequest(_ request: Request, withDelay timeDelay: TimeInterval?)
}

extension Request {
  /// The session that created the request, or nil if the session has been released.
  public var delegate: (any RequestDelegate)? { session }
}
