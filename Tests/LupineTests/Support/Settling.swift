// Waiting for what no event tells.

import Dispatch
import Foundation

/// Whether the condition comes to hold while other threads run; they need a moment after a session's end. Looked at again
/// every few milliseconds, so that a thread is left to the others.
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
