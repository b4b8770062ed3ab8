// One pass over a chain of adapters or retriers, each of which answers by a closure, at once or later.

import Synchronization

/// Asks one member after the other until an answer ends the pass or nobody is left.
///
/// Members that answer at once are asked in a loop, so that the chain's length costs no stack. Of a member's answers
/// the first one counts, so that the rest of the chain runs once, whatever a member does.
struct InterceptorChain<Member: Sendable, Value: Sendable, Answer: Sendable>: Sendable {
  typealias Completion = @Sendable (Answer) -> Void

  let members: [Member]
  /// Asks a member, which calls the completion with its answer.
  let ask: @Sendable (Member, Value, @escaping Completion) -> Void
  /// What the next member is asked with, or nil if the answer ends the pass.
  let carry: @Sendable (Answer) -> Value?

  /// Calls `completion` once with the last answer, or with `start` if there is no member to ask.
  func run(from start: Answer, completion: @escaping Completion) {
    advance(to: 0, after: start, completion: completion)
  }

  private func advance(to start: Int, after previous: Answer, completion: @escaping Completion) {
    var answer = previous
    var index = start
    while index < members.count, let value = carry(answer) {
      let next = index + 1
      let turn = Turn<Answer>()
      ask(members[index], value) { answer in
        if turn.isLate(answer) { advance(to: next, after: answer, completion: completion) }
      }
      guard let given = turn.leave() else { return }
      answer = given
      index = next
    }
    completion(answer)
  }
}

/// One member's turn: it is asked, and either answers while the asker is there or goes on from its answer itself.
private final class Turn<Answer: Sendable>: Sendable {
  private enum State {
    case asked
    case answered(Answer)
    /// The asker has gone; whoever answers goes on.
    case left
    case over
  }

  private let state = Mutex(State.asked)

  /// Keeps the first answer for the asker, or says that it came too late for that; any further one is dropped.
  func isLate(_ answer: Answer) -> Bool {
    state.withLock { state in
      switch state {
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

  /// The answer if there is one; otherwise the asker is gone.
  func leave() -> Answer? {
    state.withLock { state in
      guard case .answered(let answer) = state else {
        state = .left
        return nil
      }
      state = .over
      return answer
    }
  }
}
