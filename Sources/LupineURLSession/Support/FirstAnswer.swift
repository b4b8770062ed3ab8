// FirstAnswer: awaits the answer that a delegate passes to a completion handler.

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
