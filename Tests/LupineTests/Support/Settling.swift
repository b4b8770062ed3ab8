// Waits for conditions that no event announces.

import Dispatch
import Foundation

/// Returns whether the condition becomes true within 60 s, for example after a session's end. Checks it every 3 ms, and
/// leaves the thread free in between.
func settles(_ condition: () -> Bool) async -> Bool {
  let deadline = ContinuousClock.now + .seconds(60)
  while ContinuousClock.now < deadline {
    if condition() { return true }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(3)) { continuation.resume() }
    }
  }
  return condition()
}
