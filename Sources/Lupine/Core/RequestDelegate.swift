// What a request asks of the session that has made it.

public import Foundation
import LupineURLSession

/// What a request asks for on its way; every session is one.
public protocol RequestDelegate: AnyObject, Sendable {
  /// The configuration of the session.
  var sessionConfiguration: URLSessionConfiguration { get }
  /// Whether a request is resumed when it gets its first response handler.
  var startImmediately: Bool { get }
  /// The request is about to be made ready for sending.
  func readyToPerform(request: Request)
  /// The request has ended, and its response handlers have run.
  func cleanup(after request: Request)
  /// Asks whether a request that has failed is to be sent again.
  func retryResult(for request: Request, dueTo error: AFError, completion: @escaping @Sendable (RetryResult) -> Void)
  /// Sends the request again, after a delay in seconds.
  func retryRequest(_ request: Request, withDelay timeDelay: TimeInterval?)
}
