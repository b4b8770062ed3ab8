// FirstValue: awaits the value that a completion handler receives.

import Synchronization

/// Calls `call` with a completion handler, and returns the value that the handler receives. `call` must call the handler once.
@discardableResult
func firstValue<Value: Sendable>(_ call: (@escaping @Sendable (Value) -> Void) -> Void) async -> Value {
  let received = ReceivedValue<Value>()
  await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
    call { value in
      received.set(value)
      continuation.resume()
    }
  }
  return received.get()
}

/// The value that a completion handler has received. The lock is needed only for ThreadSanitizer: if the continuation is resumed
/// before the Swift task waits, ThreadSanitizer doesn't notice that the continuation orders the memory accesses.
private final class ReceivedValue<Value: Sendable>: Sendable {
  private let value = Mutex<Value?>(nil)

  func set(_ new: Value) { value.withLock { $0 = new } }

  /// Returns the value. Traps if the completion handler hasn't been called yet.
  func get() -> Value {
    guard let value = value.withLock({ $0 }) else { preconditionFailure("read before the handler was called") }
    return value
  }
}
