// DeliveryTurnTests: the order of steps, questions and answers in a transfer that performs one step at a time.

@testable import LupineURLSession
import Testing

@Suite struct DeliveryTurnTests {
  enum Event { case begin, ask, answer(counts: Bool), end }

  @Test(
    "one step at a time: the next one waits for the end of the step and for the answer to its question, in either order",
    arguments: [
      ([.begin], .stepping), ([.begin, .end], .free), ([.begin, .ask], .asking), ([.begin, .ask, .end], .awaiting),
      ([.begin, .ask, .end, .answer(counts: true)], .free), ([.begin, .ask, .answer(counts: true)], .stepping),
      ([.begin, .ask, .answer(counts: true), .end], .free),
    ] as [([Event], DeliveryTurn)])
  func order(history: [Event], turn: DeliveryTurn) { #expect(after(history) == turn) }

  @Test(
    "only the first answer counts, a second question replaces the first, and a question lapses when the last step begins",
    arguments: [
      ([.answer(counts: false)], .free), ([.begin, .answer(counts: false)], .stepping),
      ([.begin, .ask, .answer(counts: true), .answer(counts: false)], .stepping),
      ([.begin, .ask, .end, .answer(counts: true), .answer(counts: false)], .free),
      ([.begin, .ask, .end, .ask], .awaiting), ([.begin, .ask, .end, .ask, .answer(counts: true)], .free),
      ([.begin, .ask, .end, .begin, .answer(counts: false)], .stepping),
    ] as [([Event], DeliveryTurn)])
  func answers(history: [Event], turn: DeliveryTurn) { #expect(after(history) == turn) }

  private func after(_ history: [Event]) -> DeliveryTurn {
    var turn = DeliveryTurn.free
    for event in history {
      switch event {
      case .begin: turn.begin()
      case .ask: turn.ask()
      case .answer(let counts): #expect(turn.answered() == counts)
      case .end: turn.end()
      }
      #expect(turn.isStepping == (turn == .stepping || turn == .asking))
    }
    return turn
  }
}
