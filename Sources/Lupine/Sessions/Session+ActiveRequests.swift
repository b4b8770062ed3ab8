// The requests that are under way: kept from their first round on until their response handlers have run.

public import Foundation
import LupineURLSession
import Synchronization

extension Session {
  /// Calls `action` on the root queue with every request that is under way.
  @preconcurrency
  public func withAllRequests(perform action: @escaping @Sendable (Set<Request>) -> Void) {
    root.perform { action(Set(self.activeRequests.withLock { $0.members })) }
  }

  /// Cancels every request that is under way, then calls `completion` on `queue`.
  @preconcurrency
  public func cancelAllRequests(
    completingOnQueue queue: DispatchQueue = .main, completion: (@Sendable () -> Void)? = nil
  ) {
    withAllRequests { requests in
      for request in requests { request.cancel() }
      if let completion { queue.async(execute: completion) }
    }
  }

  /// Ends every request that is under way with the session, which is about to go.
  func abandonRequests() {
    for request in activeRequests.withLock({ $0.members }) {
      request.expectEnd(with: .sessionDeinitialized)
      request.root.perform { request.end(with: .sessionDeinitialized) }
    }
  }

  /// Ends every request that is under way; on the root queue.
  func endRequests(with error: AFError) {
    for request in activeRequests.withLock({ $0.members }) { request.end(with: error) }
  }

  /// A request is made ready from now on: it lives until it has finished.
  func keep(_ request: Request) {
    activeRequests.withLock { $0.insert(request) }
  }

  /// Gives a new request its interceptor, and builds it at once if the session is eager.
  func made<Made: Request>(_ request: Made, _ interceptor: (any RequestInterceptor)? = nil) -> Made {
    if let interceptor { request.interceptor(interceptor) }
    if requestSetup == .eager { request.prepareEagerly(in: self) }
    return request
  }
}
