// A task's options and delegates, and its control by the layer above.

import Foundation
import Synchronization

extension URLSessionTask {
  /// Resumes the task, however often it was suspended.
  package func resumeFully() {
    mutableState.withLock { if $0.state == .suspended { $0.suspensionCount = 1 } }
    resume()
  }

  /// Suspends the task if it is in progress.
  package func suspendOnce() { if state == .running { suspend() } }

  /// The delegates that are notified: the task's own, or else the session's.
  var delegates: URLSession.Delegates? { notified?.delegates }
  /// The session and the delegates that are notified, or nil after the end, or without a delegate.
  var notified: (session: URLSession, delegates: URLSession.Delegates)? {
    let (options, session) = mutableState.withLock { ($0.options, $0.session) }
    guard let session, let delegates = options?.delegates ?? session.delegates else { return nil }
    return (session, delegates)
  }
  /// What few tasks have, if this one has any of it.
  var options: TaskOptions? { mutableState.withLock { $0.options } }
  /// Returns the options, which are created if necessary.
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

  /// Discards the rest of the body. The task completes as if all of it had been received.
  func discardBody() { exchanges?.discardBody() }

  /// Discards the rest of the body and sends another request, whose response becomes the task's.
  func sendInstead(_ request: URLRequest) throws(URLError) {
    try exchanges?.sendInstead(request)
  }

  /// The transfer, if it is over HTTP.
  private var exchanges: Transfer? { transfer as? Transfer }
}
