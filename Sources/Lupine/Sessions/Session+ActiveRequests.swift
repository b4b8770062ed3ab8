// Session+ActiveRequests: the active requests of a session, which it retains from their first attempt until their response handlers
// are called.

public import Foundation
import LupineURLSession
import Synchronization

extension Session {
  /// Calls `action` on the root queue with all active requests. A request is active from its start until its response handlers are
  /// called.
  @preconcurrency
  public func withAllRequests(perform action: @escaping @Sendable (Set<Request>) -> Void) {
    root.perform { action(Set(self.activeRequests.withLock { $0.members })) }
  }

  /// Cancels all active requests, then calls `completion` on `queue`.
  ///
  /// - Parameters:
  ///   - queue: The queue on which `completion` is called. The main queue by default.
  ///   - completion: Called after the requests have been cancelled, which may be before their response handlers run.
  @preconcurrency
  public func cancelAllRequests(
    completingOnQueue queue: DispatchQueue = .main, completion: (@Sendable () -> Void)? = nil
  ) {
    withAllRequests { requests in
      for request in requests { request.cancel() }
      if let completion { queue.async(execute: completion) }
    }
  }

  /// Makes all active requests fail with `error`. Called on the root queue.
  func endRequests(with error: AFError) {
    queues.assertOnRoot()
    for request in activeRequests.withLock({ $0.members }) { request.end(with: error) }
  }

  /// Retains `request` until `cleanup(after:)` releases it.
  func keep(_ request: Request) {
    activeRequests.withLock { $0.insert(request) }
  }
}

extension Session: CustomStringConvertible {
  /// A textual description: the session's type, the number of its active requests, and the label of its root queue.
  public var description: String {
    let requests = ReadableText.count(activeRequests.withLock { $0.members.count }, "active request")
    return "\(type(of: self))(\(requests), root queue: \(rootQueue.label))"
  }
}
