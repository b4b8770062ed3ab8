// `InterceptorChain`: calls the adapters or retriers of a chain, which complete synchronously or later.

import Synchronization

/// A chain of adapters or of retriers, its members, which it calls in order. The chain ends when a member gives an answer that ends
/// it, or when all members have been called.
///
/// Members that answer synchronously are called in a loop, so that a long chain doesn't overflow the stack. Only a member's
/// first answer has an effect, so that the rest of the chain runs only once.
struct InterceptorChain<Member: Sendable, Value: Sendable, Answer: Sendable>: Sendable {
  typealias Completion = @Sendable (Answer) -> Void

  let members: [Member]
  /// A closure that calls a member with its input. The member passes its answer to the completion.
  let ask: @Sendable (Member, Value, @escaping Completion) -> Void
  /// A closure that returns the next member's input for the previous member's answer, or nil if that answer ends the chain.
  let nextInput: @Sendable (Answer) -> Value?
  /// Whether an answer that ends the chain is passed on during the member's call. If false, it is passed on when a member that answers
  /// synchronously has returned. A retrier needs the former: it may call completions of several requests during one call, in an order
  /// that must be kept.
  var endsDuringCall = false

  /// Calls the members in order, and then `completion` with the last answer. If the chain is empty, calls `completion` with
  /// `start`.
  func run(from start: Answer, completion: @escaping Completion) {
    advance(to: 0, after: start, completion: completion)
  }

  // Inlining is disabled, because the optimizer would inline the recursion several times.
  @inline(never)
  private func advance(to start: Int, after previous: Answer, completion: @escaping Completion) {
    var answer = previous
    var index = start
    while index < members.count, let value = nextInput(answer) {
      let next = index + 1
      let call = MemberCall<Answer>()
      ask(members[index], value) { answer in
        let endsNow = endsDuringCall && (next == members.count || nextInput(answer) == nil)
        if call.mustContinueChain(answer, now: endsNow) { advance(to: next, after: answer, completion: completion) }
      }
      guard let given = call.takeAnswer() else { return }
      answer = given
      index = next
    }
    completion(answer)
  }
}

/// The state of one call of a chain's member. If the member answers while `ask` is running, the loop in `advance` takes the answer.
/// If the member answers later, its call of the completion continues the chain.
private final class MemberCall<Answer: Sendable>: Sendable {
  private enum State {
    case asked
    case answered(Answer)
    /// The loop in `advance` has stopped because the member hadn't answered yet. When the member calls its completion, this call
    /// must continue the chain.
    case left
    case over
  }

  private let state = Mutex(State.asked)

  /// Stores the member's first answer for the loop in `advance`. If the loop has already stopped, or if `now` is true, returns true,
  /// and the caller must continue the chain. Ignores further answers.
  func mustContinueChain(_ answer: Answer, now: Bool) -> Bool {
    state.withLock { state in
      switch state {
      case .asked where now:
        state = .over
        return true
      case .asked:
        state = .answered(answer)
        return false
      case .left:
        state = .over
        return true
      case .answered, .over: return false
      }
    }
  }

  /// Returns the member's answer if the loop in `advance` must continue with it. Returns nil if the loop must stop, because the member
  /// hasn't answered yet or the caller of the completion continues the chain.
  func takeAnswer() -> Answer? {
    state.withLock { state in
      switch state {
      case .answered(let answer):
        state = .over
        return answer
      case .asked:
        state = .left
        return nil
      case .left, .over: return nil
      }
    }
  }
}
