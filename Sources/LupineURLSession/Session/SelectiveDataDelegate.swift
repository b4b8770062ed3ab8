// SelectiveDataDelegate: the interface to the layer above, in addition to URLSession's delegate protocols.

package import Foundation

/// A session's delegate that states which calls it needs, so that tasks can omit the others, and that keeps response
/// bodies.
///
/// A session checks once whether its delegate conforms. All methods are called on the delegate queue.
package protocol SelectiveDataDelegate: URLSessionDataDelegate {
  /// Returns whether the delegate decides about this task's response.
  func needsResponse(of task: URLSessionDataTask) -> Bool
  /// Returns whether the delegate decides about storing this task's response.
  func needsCachingDecision(for task: URLSessionDataTask) -> Bool
  /// Returns the body that the task's owner has kept, or nil if it hasn't kept one.
  func keptBody(of task: URLSessionDataTask) -> Data?
  /// Calls `completion` once the owner of a task with a window has processed all of the body that was delivered to it.
  func urlSession(drain task: URLSessionDataTask, completion: @escaping @Sendable () -> Void)
}
