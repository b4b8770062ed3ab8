// Request+Stages: a request's life cycle: its transitions, the end of its task, retries, and the calls of its response handlers.

import Foundation
import LupineURLSession
import Synchronization

extension Request {
  // MARK: Transitions

  /// Begins the first attempt immediately, for a session whose `requestSetup` is `.eager`.
  /// Retains the session until the request is set up.
  func prepareEagerly(in session: Session) {
    let isUnbuilt = mutableState.withLock { state in
      guard case .unbuilt = state.stage else { return false }
      state.stage = .building
      return true
    }
    if isUnbuilt { root.perform { self.build(in: session) } }
  }

  /// Cancels the request, so that it fails with `error`, or ends without an error if that is nil. Calls `note` while holding the
  /// lock. `isFirst` is true if this call cancels the request, and false if the request was already cancelled or has finished.
  /// `isRunning` is true if the request's task is running.
  func cancel(
    with error: AFError? = .explicitlyCancelled, noting note: (_ isFirst: Bool, _ isRunning: Bool) -> Void
  ) {
    move { state in
      let (isFirst, task) = (state.state.canTransition(to: .cancelled), state.runningTask)
      note(isFirst, task != nil)
      guard isFirst else { return nil }
      state.error = state.error ?? error
      switch state.stage {
      // Ends the attempt, so that no other thread continues it.
      case .unbuilt, .building, .waiting: state.stage = .completing(pendingRetry: nil)
      case .running, .completing, .finishing, .done: break
      }
      return Transition(state: .cancelled, task: task, work: task == nil && !state.isDone ? .stopWaiting : nil)
    }
  }

  /// Calls `change` while holding the lock. If `change` returns a transition, changes the request's state accordingly, reports the
  /// transition to the monitors, and resumes, suspends or cancels the task.
  func move(_ change: (inout MutableState) -> Transition?) {
    let (task, isNews) = mutableState.withLock { state -> (URLSessionTask?, Bool) in
      guard let transition = change(&state) else { return (nil, false) }
      state.intent = transition.state
      guard transition.work != nil || state.eventMonitor != nil else { return (transition.task, false) }
      // The transition is appended, so that it is reported after the pending ones.
      let (task, isFirst) = (transition.task, state.transitions.isEmpty)
      state.transitions.append(transition)
      return (task, isFirst)
    }
    if isNews { reportTransitions() }
    if let task { apply(state, to: task) }
  }

  /// Reports the pending transitions to the monitors on the underlying queue, in the order in which the transitions were made.
  private func reportTransitions() {
    root.perform {
      // Transitions are taken one at a time, because reporting a transition can cause further transitions.
      var isLast = false
      while !isLast {
        let (transition, monitors) = self.mutableState.withLock { state in
          defer { isLast = state.transitions.isEmpty }
          return (state.transitions.popFirst(), state.eventMonitor)
        }
        if let transition { self.report(transition, to: monitors) }
      }
    }
  }

  /// Notifies the monitors of a transition, and performs the work that the transition requires. Called on the underlying queue.
  func report(_ transition: Transition, to monitors: CompositeEventMonitor?) {
    queues.assertOnRoot()
    if let monitors {
      switch transition.state {
      case .resumed:
        monitors.requestDidResume(self)
        if let task = transition.task { monitors.request(self, didResumeTask: task) }
      case .suspended:
        monitors.requestDidSuspend(self)
        if let task = transition.task { monitors.request(self, didSuspendTask: task) }
      case .cancelled:
        monitors.requestDidCancel(self)
        if let task = transition.task { monitors.request(self, didCancelTask: task) }
      case .initialized, .finished: break
      }
    }
    switch transition.work {
    case .build: build(in: transition.session)
    case .stopWaiting:
      discardLeftovers()
      stopWaiting()
    case nil: break
    }
  }

  /// Begins to create the task of an attempt, unless the request has been cancelled or has ended in the meantime. Called on the
  /// root queue.
  func build(in session: Session?) {
    queues.assertOnRoot()
    let attempt = mutableState.withLock { state in state.isBuilding(state.retryCount) ? state.retryCount : nil }
    guard let attempt else { return }
    guard let session else { return finish(error: .sessionDeinitialized) }
    session.keep(self)
    session.build(self, attempt: attempt)
  }

  /// Resumes, suspends or cancels the task according to the request's state, which is `wanted`. Repeats if another thread has
  /// changed the state in the meantime.
  func apply(_ wanted: State, to task: URLSessionTask) {
    switch wanted {
    case .resumed: task.resumeFully()
    case .suspended: task.suspendOnce()
    // The task isn't resumed first, because it would then send the request.
    case .cancelled: cancelTask(task)
    case .initialized, .finished: break
    }
    let state = state
    if state != wanted { apply(state, to: task) }
  }

  // MARK: Response handlers

  /// Adds a response handler. The first handler resumes the request, unless automatic resuming is turned off. If the request has
  /// already finished, the handler runs immediately.
  func append(_ serialize: @escaping @Sendable () -> SerializedResponse) {
    let (isLate, isFirst) = mutableState.withLock { state in
      state.responses.append(ResponseHandler(serialize: serialize))
      let isFirst = !state.hasHadHandler
      state.hasHadHandler = true
      guard case .done = state.stage else { return (false, isFirst) }
      state.stage = .finishing(pendingRetry: nil)
      if state.intent != .cancelled { state.intent = .resumed }
      return (true, false)
    }
    if isLate {
      root.perform {
        self.session?.keep(self)
        self.serializeResponses()
      }
    }
    // After the session has been released, its setting no longer applies, and the resumed request fails.
    if isFirst, startsImmediately || shouldAutomaticallyResume == nil && session == nil { resume() }
  }

  /// Runs the validations in order, and returns the error of the first validation that rejects the response, or nil if none does.
  func refusal<Validation>(of validations: [Validation], _ ask: (Validation) -> ValidationResult) -> AFError? {
    for validation in validations {
      if case .failure(let error) = ask(validation) {
        return error.asAFError(or: .responseValidationFailed(reason: .customValidationFailed(error: error)))
      }
    }
    return nil
  }

  /// Calls `body`, which serializes a response. Returns the result of `body`, and the seconds that `body` took.
  func serialized<Value>(_ body: () throws -> Value) -> (result: AFResult<Value>, duration: TimeInterval) {
    let start = DispatchTime.now().uptimeNanoseconds
    let result: AFResult<Value>
    do {
      result = .success(try queues.decoding(body))
    } catch {
      // A serializer that can't recover from the request's error throws that error again, as an AFError.
      result = .failure(error.asSerializationFailure)
    }
    // Computed before the tuple is created, because the tuple would otherwise contain a copy of the result.
    let duration = TimeInterval(DispatchTime.now().uptimeNanoseconds - start) / 1e9
    return (result, duration)
  }

  /// Calls `completionHandler` with `response` on `queue`. The caller must run on the request's underlying queue.
  func deliver<Response: Sendable>(
    _ response: Response, on queue: DispatchQueue, to completionHandler: @escaping @Sendable (Response) -> Void
  ) {
    // The caller already runs on the underlying queue, so a handler for that queue is called directly.
    if queue === underlyingQueue { completionHandler(response) } else { queue.async { completionHandler(response) } }
  }

  /// Calls `handler` when the request has finished, after its response handlers have been called or enqueued on their queues. If
  /// this has already happened, calls `handler` immediately.
  func onFinish(_ handler: @escaping @Sendable () -> Void) {
    let isOver = mutableState.withLock { state in
      if case .done = state.stage { return true }
      state.finishHandlers.append(handler)
      return false
    }
    if isOver { handler() }
  }

  // MARK: The task's events, on the underlying queue

  // The totals are autoclosures, because reading them parses the response's fields, and most requests have no progress handler.

  func didReceive(_ byteCount: Int64, of total: @autoclosure () -> Int64) {
    if has(.progress) { mutableState.withLock { $0.downloadProgress }?.update(byteCount, of: total()) }
  }

  func didSend(_ byteCount: Int64, of total: @autoclosure () -> Int64) {
    if has(.progress) { mutableState.withLock { $0.uploadProgress }?.update(byteCount, of: total()) }
  }

  func didGather(_ metrics: URLSessionTaskMetrics) {
    queues.assertOnRoot()
    let monitors = mutableState.withLock { state in
      state.metrics.append(metrics)
      return state.listeningMonitors
    }
    monitors?.request(self, didGatherMetrics: metrics)
  }

  /// Called when the session has rejected the server, before any byte of the request was sent to that server.
  func didFail(_ task: URLSessionTask, earlyWith error: AFError) {
    let isFirst = mutableState.withLock { state in
      guard state.runningTask === task, state.error == nil else { return false }
      state.error = error
      return true
    }
    if isFirst { monitors?.request(self, didFailTask: task, earlyWithError: error) }
  }

  func taskDidComplete(_ task: URLSessionTask, with error: AFError?) {
    queues.assertOnRoot()
    let (isRunning, monitors) = mutableState.withLock { state in
      guard state.runningTask === task else { return (false, nil as CompositeEventMonitor?) }
      state.stage = .completing(pendingRetry: nil)
      if error != nil, state.error == nil { state.error = error }
      return (true, state.eventMonitor)
    }
    guard isRunning else { return }
    taskDidEnd(with: error)
    finishProgress(task)
    if has(.validations), self.error == nil, let response = task.httpResponse, let error = validateResponse(response) {
      mutableState.withLock { $0.error = $0.error ?? error }
    }
    monitors?.request(self, didCompleteTask: task, with: error)
    retryOrFinish()
  }

  /// Reports the task's final byte counts to the progress handlers. A handler that was set while the task was running may have
  /// missed earlier reports.
  private func finishProgress(_ task: URLSessionTask) {
    guard has(.progress) else { return }
    let (sent, received) = (sentBytes(of: task), receivedBytes(of: task))
    if sent.count > 0 { didSend(sent.count, of: sent.total) }
    if received.count > 0 { didReceive(received.count, of: received.total) }
  }

  func sentBytes(of task: URLSessionTask) -> (count: Int64, total: Int64) {
    // A server may respond before it has received the entire body.
    let isSent = lastMetrics?.transactionMetrics.last?.requestEndDate != nil
    let (count, total) = (task.countOfBytesSent, task.countOfBytesExpectedToSend)
    return (count, isSent ? known(total, of: task, orElse: count) : total)
  }

  func receivedBytes(of task: URLSessionTask) -> (count: Int64, total: Int64) {
    let (count, total) = (task.countOfBytesReceived, task.countOfBytesExpectedToReceive)
    return (count, known(total, of: task, orElse: count))
  }

  /// Returns the total of a transfer: `total`, or `count` if the total is unknown and the task has ended without an error.
  private func known(_ total: Int64, of task: URLSessionTask, orElse count: Int64) -> Int64 {
    let isComplete = task.state == .completed && task.error == nil && error == nil
    return isComplete && total <= 0 ? count : total
  }

  /// Makes the request fail with `error`, for example because its session was released.
  ///
  /// A request that was cancelled keeps the error of the cancellation, and a request whose response handlers are already running
  /// keeps its result. A request that waits for a retry isn't retried.
  func end(with error: AFError) {
    let task = mutableState.withLock { state in
      switch state.stage {
      case .finishing, .done: break
      case .unbuilt, .building, .running, .completing, .waiting: if state.state != .cancelled { state.error = error }
      }
      return state.runningTask
    }
    if let task { task.cancel() } else { stopWaiting() }
  }

  /// Sets the request's error when its running task is about to be stopped. The error is set first, because the stopped task may
  /// complete immediately on another thread.
  func expectEnd(with error: AFError) {
    mutableState.withLock { state in
      if state.runningTask != nil, state.state != .cancelled { state.error = error }
    }
  }

  // MARK: Retrying

  // These methods run on the underlying queue, except that retriers are called on the serialization queue if a response couldn't
  // be serialized.

  func retryOrFinish() {
    queues.assertOnRoot()
    guard let error else { return finish() }
    let isAsked = askRetriers(dueTo: error) { result in
      switch result {
      case .doNotRetry: self.finish()
      case .doNotRetryWithError(let error): self.finish(error: error.asAFError(or: .sessionTaskFailed(error: error)))
      case .retry, .retryWithDelay: self.retry(after: result.delay)
      }
    }
    if !isAsked { finish() }
  }

  /// The implementation of `askRetriers` for requests that leave the decision to retriers.
  func callRetriers(dueTo error: AFError, then proceed: @escaping @Sendable (RetryResult) -> Void) -> Bool {
    guard let session, session.hasRetrier(for: self) else { return false }
    let pendingRetry = PendingRetry(proceed: proceed)
    let isAsked = mutableState.withLock { state in
      guard state.state != .cancelled else { return false }
      state.pendingRetry = pendingRetry
      return true
    }
    guard isAsked else { return false }
    session.askRetriers(about: self, dueTo: error) { [weak self] result in
      guard let self else { return }
      root.perform { self.proceed(from: pendingRetry, with: result) }
    }
    return true
  }

  private func proceed(from pendingRetry: PendingRetry, with result: RetryResult) {
    let (isOpen, isCancelled) = mutableState.withLock { state in
      guard state.pendingRetry === pendingRetry else { return (false, false) }
      state.pendingRetry = nil
      return (true, state.state == .cancelled)
    }
    if isOpen { pendingRetry.proceed(isCancelled ? .doNotRetry : result) }
  }

  /// Stops waiting for the retriers' decision or for the end of the retry delay, because the request is ending. Called on the
  /// underlying queue.
  private func stopWaiting() {
    queues.assertOnRoot()
    if let pendingRetry = mutableState.withLock({ $0.pendingRetry.take() }) {
      pendingRetry.proceed(.doNotRetry)
    } else {
      finish()
    }
  }

  /// Starts another attempt of the request after `delay` seconds, or immediately if `delay` is nil.
  func retry(after delay: TimeInterval?) {
    enum Next { case another, finish, nothing }
    let next = mutableState.withLock { state -> Next in
      // The program may call the session's `retryRequest` at any time, so the request may be in any stage.
      guard case .completing = state.stage else { return .nothing }
      guard state.state != .cancelled else { return .finish }
      state.stage = .waiting
      return .another
    }
    switch next {
    case .nothing: return
    case .finish: return finish()
    case .another: break
    }
    guard let delay, delay > 0 else { return beginAnotherRound() }
    underlyingQueue.asyncAfter(deadline: .after(delay)) { [weak self] in
      // The session retains the waiting request. A cancelled request isn't retained and is released immediately.
      self?.beginAnotherRound()
    }
  }

  private func beginAnotherRound() {
    let (isWanted, error) = mutableState.withLock { state in
      guard case .waiting = state.stage else { return (false, nil as AFError?) }
      state.stage = .building
      state.retryCount += 1
      // The error is cleared together with the change of the stage. Clearing it later could erase the error of a cancellation
      // during the new attempt.
      return (true, state.error.take())
    }
    // Released outside the lock, because the error that a validation has returned may be an object that uses the request.
    withExtendedLifetime(error) {}
    guard isWanted else { return }
    reset()
    monitors?.requestIsRetrying(self)
    build(in: session)
  }

  /// Continues after the retriers have decided whether to retry a request whose response couldn't be serialized.
  private func proceed(after response: SerializedResponse, _ result: RetryResult) {
    if result.retryRequired, dropResponses() { return retry(after: result.delay) }
    let replacement = result.error.map { $0.asAFError(or: .sessionTaskFailed(error: $0)) }
    mutableState.withLock { $0.responses.add(.replacing { response.deliver(replacement) }) }
    // Asynchronous, because the calls would recurse if the retriers decided immediately.
    serializationQueue.async { self.serializeRemaining() }
  }

  /// Discards the responses serialized in this attempt, so that another attempt can follow. If the request is cancelled, discards
  /// nothing and returns false.
  private func dropResponses() -> Bool {
    let dropped = mutableState.withLock { state -> ShortList<ResponseHandlers.Delivery>? in
      guard state.state != .cancelled else { return nil }
      state.stage = .completing(pendingRetry: nil)
      return state.responses.restart()
    }
    return dropped != nil
  }

  // MARK: Finishing

  /// Ends the request: creates no further task and doesn't retry. Called on the underlying queue.
  private func finish(error: AFError? = nil) {
    queues.assertOnRoot()
    let (timing, monitors) = mutableState.withLock { state -> (SerialQueue.Timing?, CompositeEventMonitor?) in
      switch state.stage {
      case .finishing, .done: return (nil, nil)
      case .unbuilt, .building, .running, .completing, .waiting:
        state.stage = .finishing(pendingRetry: nil)
        if error != nil { state.error = error }
        return (state.endIsQueued ? .queued : .immediate, state.eventMonitor)
      }
    }
    guard let timing else { return }
    // Called directly, because asking the queue whether it is the current one costs as much as an allocation.
    if timing == .immediate, queues.deliversOnRoot { return didFinish(monitors) }
    root.perform(timing) { self.didFinish(monitors) }
  }

  private func didFinish(_ monitors: CompositeEventMonitor?) {
    monitors?.requestDidFinish(self)
    serializeResponses()
  }

  /// Serializes the response for each response handler on the serialization queue, and then delivers the responses. Called on the
  /// underlying queue.
  private func serializeResponses() {
    if serializationQueue === underlyingQueue {
      serializeRemaining()
    } else if mutableState.withLock({ $0.responses.isSerialized }) {
      deliverResponses()
    } else {
      serializationQueue.async { self.serializeRemaining() }
    }
  }

  /// Serializes the response for the remaining response handlers, including those that were added in the meantime. This happens
  /// before any response is delivered. Called on the serialization queue.
  private func serializeRemaining() {
    var next = mutableState.withLock { $0.responses.next }
    while let handler = next {
      let response = handler.serialize()
      if let error = response.error,
        askRetriers(dueTo: error, then: { self.proceed(after: response, $0) })
      {
        return
      }
      next = mutableState.withLock { state in
        state.responses.add(.asSerialized(response.deliver))
        return state.responses.next
      }
    }
    if serializationQueue === underlyingQueue {
      deliverResponses()
    } else {
      root.perform(.immediate) { self.deliverResponses() }
    }
  }

  /// Delivers the serialized responses to their response handlers, and then calls the handlers that `onFinish` added. Called on the
  /// underlying queue.
  private func deliverResponses(wasEnqueued: Bool = false) {
    queues.assertOnRoot()
    enum Next {
      case serialize, enqueue
      case deliver(ResponseHandlers, [@Sendable () -> Void])
    }
    // The handlers are removed from the state, so that the caller's closures aren't released while the lock is held.
    let next = mutableState.withLock { state -> Next in
      guard state.responses.isSerialized else { return .serialize }
      // If monitors are notified on the underlying queue, they must learn of the end before the responses are delivered.
      guard wasEnqueued || !state.endIsQueued else { return .enqueue }
      state.stage = .done
      defer { state.finishHandlers = [] }
      return .deliver(state.responses.take(), state.finishHandlers)
    }
    switch next {
    case .serialize: serializeResponses()
    case .enqueue: root.perform { self.deliverResponses(wasEnqueued: true) }
    case .deliver(let responses, let handlers):
      cleanup()
      session?.cleanup(after: self)
      responses.deliveries.forEach { $0() }
      for handler in handlers { handler() }
    }
  }
}

/// A failed request that waits until its retriers have decided. `proceed` continues the request with their decision.
final class PendingRetry: Sendable {
  let proceed: @Sendable (RetryResult) -> Void

  init(proceed: @escaping @Sendable (RetryResult) -> Void) { self.proceed = proceed }
}
