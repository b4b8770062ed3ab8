// TaskOptions: the settings that few tasks have, such as a separate delegate, stored outside of the tasks to keep other tasks
// small; `Delegates`, a delegate in the forms in which it is called; and the decisions that delegates make.

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

extension URLSession {
  /// A delegate, cast to each of the delegate protocols. The casts are made only once, because a cast costs more than calling a
  /// method.
  final class Delegates: Sendable {
    let session: any URLSessionDelegate
    let task: (any URLSessionTaskDelegate)?
    let data: (any URLSessionDataDelegate)?
    let download: (any URLSessionDownloadDelegate)?
    let selective: (any SelectiveDataDelegate)?
    /// The delegate as a `SelectiveTrustDelegate`, which states whether it decides about the certificates of servers. Nil for a
    /// task's own delegate, which never decides about certificates.
    let trust: (any SelectiveTrustDelegate)?
    /// The methods of which the session's delegate implements neither form, as far as calls have shown: a bit for each `AsyncForm`.
    let missingForms = Atomic<UInt8>(0)

    init(_ delegate: any URLSessionDelegate) {
      session = delegate
      task = delegate as? any URLSessionTaskDelegate
      data = delegate as? any URLSessionDataDelegate
      download = delegate as? any URLSessionDownloadDelegate
      selective = delegate as? any SelectiveDataDelegate
      trust = delegate as? any SelectiveTrustDelegate
    }

    /// Combines a task's delegate with the session's delegates (`others`). The session's delegates are called for the protocols to
    /// which `delegate` doesn't conform.
    init(_ delegate: any URLSessionTaskDelegate, orElse others: Delegates?) {
      session = delegate
      task = delegate
      data = delegate as? any URLSessionDataDelegate ?? others?.data
      download = delegate as? any URLSessionDownloadDelegate ?? others?.download
      selective = delegate is any URLSessionDataDelegate ? delegate as? any SelectiveDataDelegate : others?.selective
      trust = nil
    }
  }
}

extension URLSession {
  /// The delegate's decision about a response's body.
  public enum ResponseDisposition: Int, Sendable {
    /// Discards the body. The task then completes with `URLError.cancelled`.
    case cancel = 0
    /// Delivers the body to the delegate while the body is being received.
    case allow = 1
    /// Turns the data task into a download task, which writes the body to a file. The session then calls
    /// ``URLSessionDataDelegate/urlSession(_:dataTask:didBecome:)``.
    case becomeDownload = 2
  }

  /// The delegate's decision about a request whose earliest begin date has passed.
  public enum DelayedRequestDisposition: Int, Sendable {
    /// Sends the task's request unchanged.
    case continueLoading = 0
    /// Sends the request that the delegate provides instead of the task's request.
    case useNewRequest = 1
    /// Cancels the task, which then completes with `URLError.cancelled`.
    case cancel = 2
  }

  /// The delegate's decision about an authentication challenge.
  public enum AuthChallengeDisposition: Int, Sendable {
    /// Sends the credential that the delegate passes with the decision. If the delegate passes none, the 401 or 407 response
    /// becomes the task's response.
    case useCredential = 0
    /// Sends the proposed credential. Each one is sent only once. If there is none, or if the server has refused all of them, the
    /// 401 or 407 response becomes the task's response.
    case performDefaultHandling = 1
    /// Cancels the request. The task then completes with `URLError.cancelled`.
    case cancelAuthenticationChallenge = 2
    /// Rejects this challenge. If the response offers another authentication scheme, the delegate receives a challenge for that
    /// scheme. Otherwise, the 401 or 407 response becomes the task's response.
    case rejectProtectionSpace = 3
  }
}
