// SelectiveDataDelegate: the one protocol between this layer and the layer above it, beyond URLSession's delegates.

package import Foundation

/// A session's delegate that says which calls it needs, so that a task makes no others, and that keeps response bodies.
///
/// A session asks its delegate once whether it conforms. All calls are made on the delegate queue.
package protocol SelectiveDataDelegate: URLSessionDataDelegate {
  /// Returns whether the delegate decides about the response of this task.
  func needsResponse(of task: URLSessionDataTask) -> Bool
  /// Returns whether the delegate decides about storing the response of this task.
  func needsCachingDecision(for task: URLSessionDataTask) -> Bool
  /// Returns the body that the task's owner has kept, or nil if it keeps none.
  func keptBody(of task: URLSessionDataTask) -> Data?
  /// Calls `completion` once the owner of a task with a window has processed all of the body that it was given.
  func urlSession(drain task: URLSessionDataTask, completion: @escaping @Sendable () -> Void)
}
