// Where a request stands, and the ways from one state to another.

extension Request {
  /// Where a request stands.
  public enum State: Sendable {
    /// It was made, and nothing was done yet.
    case initialized
    /// It runs, or will as soon as it is built.
    case resumed
    /// It is stopped until it is resumed.
    case suspended
    /// It was cancelled; it stays so.
    case cancelled
    /// It has completed, and its response handlers have run.
    case finished

    /// The transitions there are. Cancelled and finished requests stay what they are.
    func canTransition(to state: State) -> Bool {
      switch (self, state) {
      case (.initialized, _): state != .initialized
      case (_, .initialized), (.cancelled, _), (.finished, _): false
      case (.resumed, .cancelled), (.suspended, .cancelled), (.resumed, .suspended), (.suspended, .resumed): true
      case (.resumed, .resumed), (.suspended, .suspended): false
      case (_, .finished): true
      }
    }
  }

  /// Whether it is `.initialized`.
  public var isInitialized: Bool { state == .initialized }
  /// Whether it is `.resumed`.
  public var isResumed: Bool { state == .resumed }
  /// Whether it is `.suspended`.
  public var isSuspended: Bool { state == .suspended }
  /// Whether it is `.cancelled`.
  public var isCancelled: Bool { state == .cancelled }
  /// Whether it is `.finished`.
  public var isFinished: Bool { state == .finished }
}
