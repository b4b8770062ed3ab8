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

/// What a request needs of its session beyond Alamofire's ``RequestDelegate``. Requests name this protocol instead of
/// ``Session``, which names every kind of request.
protocol RequestSession: RequestDelegate {
  var rootQueue: DispatchQueue { get }
  var serializationQueue: DispatchQueue { get }
  /// The one way onto the root queue.
  var root: SerialQueue { get }
  /// The session's monitors; nil if there are none.
  var requestMonitor: (any RequestMonitor)? { get }

  /// Keeps the request alive until `cleanup(after:)`.
  func keep(_ request: Request)
  /// Builds the request's task; called on the root queue.
  func build(_ request: Request, attempt: Int)
  /// Whether there is somebody to ask about a failure; nobody is asked when no further task could be made.
  func hasRetrier(for request: Request) -> Bool
  /// Asks the retriers about a failure. They call `completion` wherever they decide.
  func askRetriers(about request: Request, dueTo error: AFError, completion: @escaping @Sendable (RetryResult) -> Void)
}
