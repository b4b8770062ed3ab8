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

  /// The delegates to notify: the task's own, or else the session's. Nil if there are none.
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
  /// Whether the task was resumed at least once and hasn't ended.
  var isListed: Bool {
    mutableState.withLock { state in
      if case .unstarted = state.stage { return false }
      return state.state == .running || state.state == .suspended
    }
  }

  /// Discards the rest of the body. The task completes as if the entire body had been received.
  func discardBody() { exchanges?.discardBody() }

  /// Discards the rest of the body and sends another request. The response to that request becomes the task's response.
  func sendInstead(_ request: URLRequest) throws(URLError) {
    try exchanges?.sendInstead(request)
  }

  /// The transfer if it is over HTTP, or nil.
  private var exchanges: Transfer? { transfer as? Transfer }
}
