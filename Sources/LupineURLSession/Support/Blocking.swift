// Blocking: waits on a thread for an asynchronous result.

import Dispatch
import Synchronization

/// Blocks the calling thread until the closure that `start` receives is called, and returns the closure's argument.
func blocking<Value: Sendable>(_ start: (@escaping @Sendable (Value) -> Void) -> Void) -> Value {
  let received = Mutex<Value?>(nil)
  let done = DispatchSemaphore(value: 0)
  start { value in
    received.withLock { $0 = value }
    done.signal()
  }
  done.wait()
  guard let value = received.withLock({ $0 }) else { preconditionFailure("signaled without a value") }
  return value
}
