// RequestDelegate: the interface through which a request uses the session that created it.

public import Foundation
import LupineURLSession
import Synchronization

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

/// The internal methods that a request calls on its session. Requests use this protocol to avoid a circular dependency: ``Session``
/// refers to all types of requests.
protocol RequestSession: RequestDelegate {
  var queues: RequestQueues { get }
  /// The monitor that notifies all of the session's monitors, or nil if there are none.
  var requestMonitor: (any RequestMonitor)? { get }

  /// Retains the request until `cleanup(after:)` is called.
  func keep(_ request: Request)
  /// Creates the `URLRequest` and the task for the attempt with the given number. Called on the root queue.
  func build(_ request: Request, attempt: Int)
  /// Returns whether there is a retrier to call after a failure of `request`. Returns false if the session can no longer create
  /// tasks.
  func hasRetrier(for request: Request) -> Bool
  /// Calls the retriers after a failure of `request`. Passes the retriers' decision to `completion` once, on any thread.
  func askRetriers(about request: Request, dueTo error: AFError, completion: @escaping @Sendable (RetryResult) -> Void)
}

/// The queues of a session's requests. Each request refers to all of them with one reference.
final class RequestQueues: Sendable {
  /// The root queue of the session.
  let underlying: DispatchQueue
  let serialization: DispatchQueue
  /// Runs closures on the root queue, in the order in which they are submitted.
  let root: SerialQueue
  /// Whether the `URLSession` calls its delegate on `root`. If so, all work that must run on the underlying queue runs on `root`.
  let deliversOnRoot: Bool
  /// Whether only Foundation decodes JSON. See `Session.decodesWithFoundation`.
  let decodesWithFoundation = Atomic(false)
  /// Whether only Foundation encodes JSON. See `Session.encodesWithFoundation`.
  let encodesWithFoundation = Atomic(false)

  /// `delivery` is the queue on which the `URLSession` calls its delegate. It is reused if it is based on the root queue.
  init(_ underlying: DispatchQueue, serialization: DispatchQueue, delivery: SerialQueue) {
    self.underlying = underlying
    self.serialization = serialization
    deliversOnRoot = delivery.isBased(on: underlying)
    root = deliversOnRoot ? delivery : SerialQueue(underlying)
  }
}
