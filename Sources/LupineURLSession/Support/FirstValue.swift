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
  return received.value
}

/// The value that a completion handler has received. The lock is needed only for ThreadSanitizer: if the continuation is resumed
/// before the Swift task waits, ThreadSanitizer doesn't notice that the continuation orders the memory accesses.
final class ReceivedValue<Value: Sendable>: Sendable {
  private let received = Mutex<Value?>(nil)

  /// The received value. Traps if the completion handler hasn't been called yet.
  var value: Value {
    guard let value = received.withLock({ $0 }) else { preconditionFailure("read before the handler was called") }
    return value
  }

  func set(_ value: Value) { received.withLock { $0 = value } }
}
