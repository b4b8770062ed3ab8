// TaskOptions: the settings that few tasks have, such as a separate delegate, stored outside of the tasks to keep other tasks
// small.

import Foundation
import Synchronization

// Unchecked because the lock of the task's `mutableState` guards all properties.
/// The settings of a task that most tasks don't need, such as the task's own delegate and the object that calls its completion
/// handler. An object, so that tasks without such settings stay small.
final class TaskOptions: @unchecked Sendable {
  /// The delegate that the caller has set for this task. Nil if there is none.
  var own: (any URLSessionTaskDelegate)?
  /// The object that receives the response in place of the delegates, and calls the task's completion handler or passes the body to
  /// an asynchronous sequence. Nil if there is none.
  var collector: (any TaskCollector)?
  /// The delegates that the task calls: `own` or, for the protocols to which it doesn't conform, the session's delegate. Nil if
  /// `own` is nil.
  var delegates: URLSession.Delegates?
  var earliestBeginDate: Date?
  var byteCountExpectedToSend = NSURLSessionTransferSizeUnknown
  var byteCountExpectedToReceive = NSURLSessionTransferSizeUnknown
  var priority: Float?
  var progress: Progress?
  /// The request that was most recently passed to a URLProtocol class or object of the task. Nil if there has been none.
  var protocolRequest: URLRequest?

  /// Removes and returns the task's delegates after the task has completed. The caller must release them outside the lock.
  func takeDelegates() -> some Sendable { (own.take(), collector.take(), delegates.take()) }
}

extension URLSessionTask {
  /// Returns the value that `read` finds in the task's options, or nil if the task has no options. `read` must not call the task.
  func option<Value: Sendable>(_ read: (TaskOptions) -> Value?) -> Value? {
    guard hasOptions.load(ordering: .acquiring) else { return nil }
    return mutableState.withLock { state in if let options = state.options { read(options) } else { nil } }
  }

  /// Creates the task's options if necessary, and changes them. Returns the result of `change`, which must not call the task, and
  /// whose result the caller must use to release objects only outside the lock.
  func changeOptions<Value: Sendable>(_ change: (TaskOptions) -> Value) -> Value {
    mutableState.withLock { state in
      let options = state.options ?? TaskOptions()
      if state.options == nil {
        state.options = options
        hasOptions.store(true, ordering: .releasing)
      }
      return change(options)
    }
  }

  /// The object that receives the response in place of the delegates. Nil if there is none.
  var collector: (any TaskCollector)? { option { $0.collector } }

  /// Sets the object that receives the response in place of the delegates. Called before the task is resumed.
  func setCollector(_ collector: any TaskCollector) { changeOptions { $0.collector = collector } }

  /// The delegate that the caller has set for this task. Nil if there is none.
  var ownDelegate: (any URLSessionTaskDelegate)? {
    get { option { $0.own } }
    set {
      let delegates = newValue.map { URLSession.Delegates($0, orElse: session?.delegates) }
      // The previous delegate is released outside the lock, because its deinitializer may use the task.
      _ = changeOptions { options in
        defer { (options.own, options.delegates) = (newValue, delegates) }
        return (options.own, options.delegates)
      }
    }
  }

  /// Returns the delegate to call if `delegate` doesn't implement a method: the session's after the task's own. Returns nil if there
  /// is none.
  func delegate(after delegate: any URLSessionTaskDelegate) -> (any URLSessionTaskDelegate)? {
    let (isOwn, session, kept) = mutableState.withLock { state in
      (delegate === state.options?.own, state.session, state.sessionDelegates)
    }
    guard isOwn, let session else { return nil }
    let last = (session.owns(self) ? kept : session.delegates)?.task
    return last === delegate ? nil : last
  }

  /// Returns the next download delegate to call if `delegate` doesn't implement a method. Returns nil if there is none.
  func downloadDelegate(after delegate: any URLSessionTaskDelegate) -> (any URLSessionDownloadDelegate)? {
    self.delegate(after: delegate) as? any URLSessionDownloadDelegate
  }

  /// Returns the next data delegate to call if `delegate` doesn't implement a method. Returns nil if there is none.
  func dataDelegate(after delegate: any URLSessionTaskDelegate) -> (any URLSessionDataDelegate)? {
    self.delegate(after: delegate) as? any URLSessionDataDelegate
  }
}
