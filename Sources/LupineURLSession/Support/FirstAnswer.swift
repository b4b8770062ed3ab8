// FirstAnswer: waits for the answer that is passed to a completion handler, in a Swift task or on a thread.

import Dispatch
import LupineEngine
import Synchronization

/// Calls `ask` with a completion handler, and returns the first value that the handler receives. If the awaiting Swift task is
/// cancelled earlier, returns `cancellation`, unless it is nil.
package func firstAnswer<Answer: Sendable>(
  onCancel cancellation: Answer? = nil, _ ask: (@escaping @Sendable (Answer) -> Void) -> Void
) async -> Answer {
  let awaited = Awaited<Answer>()
  let isFirst = Atomic(true)
  let answer: @Sendable (Answer) -> Void = { if isFirst.exchange(false, ordering: .relaxed) { awaited.fill($0) } }
  ask(answer)
  return await awaited.value(onCancel: { if let cancellation { answer(cancellation) } })
}

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
