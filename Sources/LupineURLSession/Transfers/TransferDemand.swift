// TransferDemand: the state that a task requests of its transfer.

/// The state that a task requests of its transfer: running, suspended or canceled. It stays canceled.
struct TransferDemand: Sendable {
  private enum State {
    case running, suspended, canceled
  }

  private var state = State.running
  /// The highest value of `change` that was passed to `setSuspended`. Calls with a lower value are outdated and have no effect.
  private(set) var latestChange = 0

  var isSuspended: Bool { state == .suspended }
  var isCanceled: Bool { state == .canceled }

  /// Called when the task has been suspended or resumed. Returns false if the call has no effect, because a later change has
  /// already been reported, or because the task was canceled.
  mutating func setSuspended(_ isSuspended: Bool, change: Int) -> Bool {
    guard change > latestChange else { return false }
    latestChange = change
    guard !isCanceled else { return false }
    state = isSuspended ? .suspended : .running
    return true
  }

  mutating func cancel() { state = .canceled }
}
