// URLSessionTask+Options: a task's options and delegates, and the methods with which the layer above controls the task.

import Foundation
import Synchronization

extension URLSessionTask {
  /// Resumes the task, regardless of how often it was suspended.
  package func resumeFully() {
    mutableState.withLock { if $0.state == .suspended { $0.suspensionCount = 1 } }
    resume()
  }

  /// Suspends the task if it is in progress.
  package func suspendOnce() { if state == .running { suspend() } }

  /// The delegates to notify: the task's own or, if there are none, the session's. Nil if neither has any.
  var delegates: URLSession.Delegates? { notified?.delegates }
  /// The session and the delegates to notify, or nil if there is no delegate or the task has ended.
  var notified: (session: URLSession, delegates: URLSession.Delegates)? {
    let (options, session) = mutableState.withLock { ($0.options, $0.session) }
    guard let session, let delegates = options?.delegates ?? session.delegates else { return nil }
    return (session, delegates)
  }
  /// The task's options, or nil if it has none.
  var options: TaskOptions? { mutableState.withLock { $0.options } }
  /// Returns the task's options, and creates them if necessary.
  func makeOptions() -> TaskOptions {
    mutableState.withLock { state in
      if let options = state.options { return options }
      let options = TaskOptions()
      state.options = options
      return options
    }
  }
  /// Whether the task hasn't ended, and was resumed at least once or is from an earlier process.
  var isListed: Bool {
    mutableState.withLock { state in
      if case .unstarted = state.stage, !state.isRestored { return false }
      return state.state == .running || state.state == .suspended
    }
  }

  /// Lets `other` take over the transfer, the session and the delegates, and completes this task. Does nothing and returns false
  /// if this task is cancelled or has already completed.
  func handOver(to other: URLSessionTask, in session: URLSession) -> Bool {
    let handed = mutableState.withLock { state -> MutableState? in
      guard case .transferring = state.stage, state.state == .running || state.state == .suspended else { return nil }
      defer { (state.state, state.session, state.options) = (.completed, nil, nil) }
      return state
    }
    guard let handed, let transfer = handed.transfer else { return false }
    other.mutableState.withLock { state in
      (state.state, state.stage) = (handed.state, handed.stage)
      (state.suspensionChangeCount, state.suspensionCount) = (handed.suspensionChangeCount, handed.suspensionCount)
      (state.taskDescription, state.options) = (handed.taskDescription, handed.options)
      state.reportedSentByteCount = handed.reportedSentByteCount
    }
    handed.options?.state.withLock { $0.progress }.map(other.control)
    session.replace(self, by: other)
    transfer.setObserver(other, windowBytes: session.client.windowBytes)
    return true
  }

  /// Discards the rest of the body. The task completes as if the entire body had been received.
  func discardBody() { exchanges?.discardBody() }

  /// Discards the rest of the body and sends another request. The response to that request becomes the task's response.
  func sendInstead(_ request: URLRequest) throws(URLError) {
    try exchanges?.sendInstead(request)
  }

  /// The task's transfer if it is over HTTP, or nil otherwise.
  private var exchanges: Transfer? { transfer as? Transfer }
}
