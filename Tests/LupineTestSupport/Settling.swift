// Settling: waits for conditions that no event announces, and for the work on a queue.

package import Dispatch

/// Returns whether the condition becomes true within the time limit. Checks it at intervals, without blocking the thread.
///
/// - Parameters:
///   - limit: The maximum time to wait: 60 s by default.
///   - interval: The time between two checks: 3 ms by default.
///   - condition: The condition. If it throws an error, the wait ends with this error.
package func settles(
  within limit: Duration = .seconds(60), every interval: DispatchTimeInterval = .milliseconds(3),
  _ condition: () throws -> Bool
) async rethrows -> Bool {
  let deadline = ContinuousClock.now + limit
  while ContinuousClock.now < deadline {
    if try condition() { return true }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().asyncAfter(deadline: .now() + interval) { continuation.resume() }
    }
  }
  return try condition()
}

extension DispatchQueue {
  /// Waits until all work that has been added to the queue so far has run.
  package func drain() async {
    await withCheckedContinuation { continuation in async { continuation.resume() } }
  }
}
