// DeliveryTurn: who acts next in a transfer that performs one step at a time: the transfer, or its observer.

/// The progress of a transfer that performs one step at a time, and whose observer must answer a question before the next step. A step
/// may ask at most one question.
enum DeliveryTurn: Equatable {
  /// The next step can be performed.
  case free
  /// A step is in progress.
  case stepping
  /// A step is in progress, and has asked a question that isn't answered yet.
  case asking
  /// No step is in progress, and the question of the latest step isn't answered yet.
  case awaiting

  /// Whether a step is in progress, so that no other step may begin.
  var isStepping: Bool { self == .stepping || self == .asking }
  /// Whether the observer hasn't answered the latest question yet.
  var isAsked: Bool { self == .asking || self == .awaiting }

  /// Called when a step begins. An unanswered question lapses: only a step that ends the transfer begins before the answer.
  mutating func begin() {
    precondition(!isStepping, "two steps at once")
    self = .stepping
  }

  /// Called when the transfer asks a question, in place of an earlier one.
  mutating func ask() { self = isStepping ? .asking : .awaiting }

  /// Called when the observer has answered. Returns false, without effect, if no question is unanswered: only the first answer counts.
  mutating func answered() -> Bool {
    guard isAsked else { return false }
    self = isStepping ? .stepping : .free
    return true
  }

  /// Called when the step has ended.
  mutating func end() { self = isAsked ? .awaiting : .free }
}
