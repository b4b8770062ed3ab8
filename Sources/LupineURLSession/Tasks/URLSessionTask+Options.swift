// URLSessionTask+Options: a task's options and delegates, and the methods with which the layer above controls the task.

import Foundation
import Synchronization

extension URLSessionTask {
  /// Resumes the task with a single call, no matter how many times it was suspended.
  package func resumeFully() {
    mutableState.withLock { if $0.state == .suspended { $0.suspensionCount = 1 } }
    resume()
  }

  /// Suspends the task if it is running. Has no effect if the task is already suspended.
  package func suspendOnce() { if state == .running { suspend() } }

  /// The delegates that the task calls: the task's own or, if there is none, the session's. Nil if there is neither, or if the task
  /// has completed.
  var delegates: URLSession.Delegates? { notified?.delegates }
  /// The session and the delegates that the task calls. Nil if there is no delegate, or if the task has completed. A registered task
  /// calls the delegates that it has kept, because the session releases its delegate only when it has no tasks.
  var notified: (session: URLSession, delegates: URLSession.Delegates)? {
    let (session, own, kept) = mutableState.withLock { ($0.session, $0.options?.delegates, $0.sessionDelegates) }
    guard let session else { return nil }
    guard let delegates = own ?? (session.owns(self) ? kept : session.delegates) else { return nil }
    return (session, delegates)
  }
  /// Whether the session's `getAllTasks` lists the task: the task hasn't completed, and it was resumed at least once or was created
  /// by an earlier process.
  var isListed: Bool {
    mutableState.withLock { state in
      if case .unstarted = state.stage, !state.isRestored { return false }
      return state.state == .running || state.state == .suspended
    }
  }

  /// Passes this task's transfer, session and delegates to `other`, and completes this task. Returns false, without effect, if this
  /// task is canceled or has already completed.
  func handOver(to other: URLSessionTask, in session: URLSession) -> Bool {
    let handed = mutableState.withLock { state -> MutableState? in
      guard case .transferring = state.stage, state.state == .running || state.state == .suspended else { return nil }
      defer { (state.state, state.session, state.sessionDelegates, state.options) = (.completed, nil, nil, nil) }
      return state
    }
    guard let handed, let transfer = handed.transfer else { return false }
    other.mutableState.withLock { state in
      (state.state, state.stage) = (handed.state, handed.stage)
      (state.suspensionChangeCount, state.suspensionCount) = (handed.suspensionChangeCount, handed.suspensionCount)
      (state.taskDescription, state.options) = (handed.taskDescription, handed.options)
      state.reportedSentByteCount = handed.reportedSentByteCount
      other.hasOptions.store(handed.options != nil, ordering: .releasing)
    }
    let progress = other.option { $0.progress }
    if progress != nil { other.hasProgress.store(true, ordering: .releasing) }
    // Only then may `other` be canceled: the transfer's end must reach it, and find it registered.
    transfer.setStreamingObserver(other)
    let isCancelling = session.replace(self, by: other)
    if let progress { other.control(progress) }
    if isCancelling { other.cancel() }
    return true
  }

  /// Discards the rest of the response's body. The task then completes as if it had received the entire body.
  func discardBody() { exchanges?.discardBody() }

  /// Discards the rest of the response's body and sends another request, whose response becomes the task's response.
  func sendInstead(_ request: URLRequest) throws(URLError) {
    try exchanges?.sendInstead(request)
  }

  /// The task's transfer if it uses HTTP. Nil otherwise, for example for a `file:` URL.
  private var exchanges: Transfer? { transfer as? Transfer }
}
