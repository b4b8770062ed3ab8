// URLSessionTask+Events: finds the delegates that a task calls, reports a transfer's events to them, and completes the task or hands
// its transfer over to another task.

import Foundation
import Synchronization

extension URLSessionTask {
  // MARK: Delegates

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

  // MARK: Events

  func transfer(
    isAskedFor challenge: URLAuthenticationChallenge,
    answer: @escaping @Sendable (URLAuthenticationChallenge.Outcome) -> Void
  ) {
    ask(challenge) { disposition, credential in answer(challenge.outcome(of: disposition, credential: credential)) }
  }

  /// Passes an authentication challenge to the task's delegate or, if it has none, to the session's delegate. `answer` receives the
  /// delegate's decision.
  func ask(
    _ challenge: URLAuthenticationChallenge,
    answer: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    guard let (session, delegates) = notified else { return answer(.performDefaultHandling, nil) }
    // The task's own delegate. Nil if it is also the session's, of whose methods `askSession` chooses one.
    let own = delegates.session === session.delegates?.session ? nil : delegates.task
    let call = { @Sendable in
      guard let own else { return self.askSession(session, challenge, answer: answer) }
      own.urlSession(session, task: self, didReceive: challenge, completionHandler: answer)
    }
    guard deliversOnDelegateQueue else { return session.delivery.perform { call() } }
    session.delivery.assertCurrent()
    call()
  }

  /// Passes an authentication challenge to the session's delegate. As in Foundation, a challenge that concerns a connection goes to
  /// the session's method if the delegate implements it, and otherwise, like any other challenge, to the task's method.
  ///
  /// The delegates of Alamofire's sessions implement the session's method only for the certificates of servers.
  func askSession(
    _ session: URLSession, _ challenge: URLAuthenticationChallenge,
    answer: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    guard let delegates = session.delegates else { return answer(.performDefaultHandling, nil) }
    let askTaskMethod = { @Sendable in
      guard let delegate = delegates.task else { return answer(.performDefaultHandling, nil) }
      delegate.urlSession(session, task: self, didReceive: challenge, completionHandler: answer)
    }
    guard challenge.protectionSpace.isOfConnection, delegates.trust == nil, !delegates.lacks(.sessionChallenge) else {
      return askTaskMethod()
    }
    delegates.session.urlSession(session, didReceive: challenge) { disposition, credential in
      // Only this call shows whether the delegate implements the method.
      if delegates.lacks(.sessionChallenge) { askTaskMethod() } else { answer(disposition, credential) }
    }
  }

  /// Returns the credential with which the session's delegate would answer the first challenge for a protection space. Returns nil
  /// if it isn't known before the challenge, or if the task itself has a delegate.
  func credential(for space: URLProtectionSpace) -> URLCredential? {
    guard option({ $0.delegates }) == nil, let delegate = session?.delegates?.session as? any CredentialDelegate else {
      return nil
    }
    return delegate.credential(of: self, for: space)
  }

  func transfer(didReceive body: Data) {
    receive(body)
    updateProgress()
  }

  func transfer(didSend byteCount: Int64) {
    updateProgress()
    notifyDelegate(or: {}) { [expected = countOfBytesExpectedToSend] session, delegate in
      let before = self.mutableState.withLock { exchange(&$0.reportedSentByteCount, with: byteCount) }
      delegate.urlSession(
        session, task: self, didSendBodyData: byteCount - before, totalBytesSent: byteCount,
        totalBytesExpectedToSend: expected)
    }
  }

  /// Notifies the delegate that the task waits for a network, except in a background session. There, the delegate would be called
  /// for each of the task's attempts. Foundation doesn't call the delegate of a background session either.
  func transferAwaitsNetwork() {
    if session?.background != nil { return }
    notifyDelegate(or: {}) { session, delegate in delegate.urlSession(session, taskIsWaitingForConnectivity: self) }
  }

  func notifyDelegate(
    or otherwise: () -> Void, _ call: @escaping @Sendable (URLSession, any URLSessionTaskDelegate) -> Void
  ) {
    guard let (session, delegates) = notified, let delegate = delegates.task else { return otherwise() }
    if deliversOnDelegateQueue {
      session.delivery.assertCurrent()
      return call(session, delegate)
    }
    session.delivery.perform { call(session, delegate) }
  }

  // MARK: Completion

  /// Completes a task that has no transfer with an error, on the delegate queue.
  func end(_ error: URLError, in session: URLSession) {
    session.delivery.perform { self.transferDidEnd(error) }
  }

  /// Completes the task: reports the metrics and the completion to the delegate, and then unregisters the task from its session.
  func complete(_ error: (any Error)?) {
    guard let session else { return }
    complete(error, delegates?.task, in: session)
  }

  /// Completes the task like `complete(_:)`, for a caller that already has the session and the delegate.
  func complete(_ error: (any Error)?, _ delegate: (any URLSessionTaskDelegate)?, in session: URLSession) {
    // A URLProtocol may fail with an error of any type, which isn't changed.
    let error = error.map { error in transfer?.failure ?? (error as? URLError).map(naming) ?? error }
    let collector = collector
    guard delegate != nil || collector != nil else { return leave(session, error) }
    // This repeats the code of `notifyDelegate`. Calling `notifyDelegate` would allocate a closure for each request.
    if deliversOnDelegateQueue { return notify(delegate, collector, of: error, in: session) }
    session.delivery.perform { self.notify(delegate, collector, of: error, in: session) }
  }

  /// The value of `NSURLErrorFailingURLStringErrorKey`, a deprecated constant that `URLError.failureURLString` uses.
  private static var failingURLTextKey: String { "NSErrorFailingURLStringKey" }

  /// Returns the error with the URL of the failed request, as a URL and as text, unless the error has them already.
  private func naming(_ error: URLError) -> URLError {
    var info = error.userInfo
    guard let url = info[NSURLErrorFailingURLErrorKey] as? URL ?? currentRequest?.url else { return error }
    info[NSURLErrorFailingURLErrorKey] = url
    if info[Self.failingURLTextKey] == nil { info[Self.failingURLTextKey] = url.absoluteString }
    return URLError(error.code, userInfo: info)
  }

  private func notify(
    _ delegate: (any URLSessionTaskDelegate)?, _ collector: (any TaskCollector)?, of error: (any Error)?,
    in session: URLSession
  ) {
    session.delivery.assertCurrent()
    delegate?.urlSession(session, task: self, didFinishCollecting: metrics)
    mutableState.withLock { state in
      state.state = .completed
      state.error = error
    }
    if let collector {
      collector.complete(response, error)
    } else {
      delegate?.urlSession(session, task: self, didCompleteWithError: error)
    }
    leave(session, error)
  }

  private func leave(_ session: URLSession, _ error: (any Error)?) {
    let released = mutableState.withLock { state in
      state.state = .completed
      state.error = error
      state.session = nil
      return (state.owner.take(), state.sessionDelegates.take(), state.options?.takeDelegates())
    }
    session.remove(self)
    updateProgress(isComplete: true)
    // The objects are released outside the lock. These may be the last references to them, and their deinitializers may use this
    // task.
    withExtendedLifetime(released) {}
  }

  // MARK: Handing over

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
}
