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

  /// Calls a closure that creates a request, with the session's choice of an encoder.
  @inline(__always)
  func encoding<Value>(_ create: () throws -> Value) rethrows -> Value {
    guard encodesWithFoundation.load(ordering: .relaxed) else { return try create() }
    return try EncodingChoice.$isFoundation.withValue(true) { try create() }
  }

  /// Traps, in debug builds, if the caller doesn't run on the root queue. Not checked if the `URLSession` calls its delegate on
  /// another queue, which only has the root queue's label.
  func assertOnRoot() {
    #if DEBUG
      if deliversOnRoot { dispatchPrecondition(condition: .onQueue(underlying)) }
    #endif
  }
}
