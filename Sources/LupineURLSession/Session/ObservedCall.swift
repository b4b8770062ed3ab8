// ObservedCall: the observation of a caller's request, for all tasks that perform it.

import LupineEngine

/// A caller's request that the observer of a session's engine observes. Tasks that retry the request belong to the same call.
package struct ObservedCall: Sendable {
  private let observer: any CallObserver

  /// Returns the call to which a task belongs, or nil if the task isn't observed.
  package init?(of task: URLSessionTask) {
    guard let observer = task.callObserver else { return nil }
    self.observer = observer
  }

  /// Begins a call. Must be called where the caller makes the request, because the observer reads task-local values. Returns nil if
  /// the session's engine isn't observed.
  package init?(in session: URLSession) {
    guard let observer = session.client.observer else { return nil }
    self.observer = observer.callBegan()
  }

  /// Returns the result of `create`. The tasks that it creates belong to this call.
  package func makingTasks<Value, Failure: Error>(
    _ create: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    // `withValue` doesn't preserve the type of the error.
    let result = CurrentCall.$observer.withValue(observer) { Result { () throws(Failure) in try create() } }
    return try result.get()
  }
}
