// Request+Finishing: the steps from the end of a request's task to its response handlers: validate, serialize, deliver.

import Foundation
import LupineURLSession
import Synchronization

extension Request {
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
      result = .failure(
        error.asAFError(or: .responseSerializationFailed(reason: .customSerializationFailed(error: error))))
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

  // MARK: The task's end, on the underlying queue

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
    if has(.validations), self.error == nil, let error = validateResponse(of: task) {
      mutableState.withLock { $0.error = $0.error ?? error }
    }
    monitors?.request(self, didCompleteTask: task, with: error)
    retryOrFinish()
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

  // MARK: Finishing

  /// Ends the request: creates no further task and doesn't retry. Called on the underlying queue.
  func finish(error: AFError? = nil) {
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
  func serializeRemaining() {
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
