// From a task's end to the response handlers: validated, perhaps retried, serialised, handed over.

import Foundation
import Synchronization

/// What makes a response of what the request has.
typealias ResponseHandler = @Sendable () -> SerializedResponse

/// A response that was made, and waits to be handed over.
struct SerializedResponse: Sendable {
  /// Why it was serialised in vain; nil also if a failure of the request's is no failure of the serializer's.
  let error: AFError?
  /// Hands it over, with another error in place of its own if there is one.
  let complete: @Sendable (_ replacement: AFError?) -> Void
}

/// A question to retriers, and how the request goes on from their answer.
final class RetryQuestion: Sendable {
  let proceed: @Sendable (RetryResult) -> Void

  init(proceed: @escaping @Sendable (RetryResult) -> Void) { self.proceed = proceed }
}

/// Response handlers in the order in which they were added, and how far a round has come with them.
struct ResponseHandlers {
  private var handlers: [ResponseHandler] = []
  private var completions: [@Sendable () -> Void] = []

  /// The next one to serialise with.
  var next: ResponseHandler? { completions.count < handlers.count ? handlers[completions.count] : nil }

  mutating func append(_ handler: @escaping ResponseHandler) { handlers.append(handler) }

  /// The next one has serialised.
  mutating func complete(_ completion: @escaping @Sendable () -> Void) { completions.append(completion) }

  /// Another round follows: what was serialised counts for nothing.
  mutating func restart() { completions = [] }

  /// All have serialised; returns what hands the responses over.
  mutating func take() -> [@Sendable () -> Void] {
    defer { (handlers, completions) = ([], []) }
    return completions
  }
}

extension Request {
  /// Adds a response handler. The first one resumes the request if the session says so; one that is added to a request
  /// that has finished runs at once.
  func append(_ handler: @escaping ResponseHandler) {
    let (isLate, isFirst) = mutableState.withLock { state in
      state.responses.append(handler)
      let isFirst = !state.hasHadHandler
      state.hasHadHandler = true
      guard case .done = state.stage else { return (false, isFirst) }
      state.stage = .finishing
      if state.state == .finished { state.state = .resumed }
      return (true, false)
    }
    if isLate {
      underlyingQueue.async {
        self.session?.keep(self)
        self.serialize()
      }
    }
    guard isFirst, shouldAutomaticallyResume ?? session?.startRequestsImmediately ?? true else { return }
    resume()
  }

  /// Calls a handler once the response handlers have run, at once if they have.
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
    mutableState.withLock { $0.metrics.append(metrics) }
    monitors?.request(self, didGatherMetrics: metrics)
  }

  func didComplete(_ task: URLSessionTask, with error: AFError?) {
    let isRunning = mutableState.withLock { state in
      guard state.runningTask === task else { return false }
      state.stage = .completing
      state.error = state.error ?? error
      return true
    }
    guard isRunning else { return }
    finishProgress(task)
    if self.error == nil, let response = task.httpResponse, let error = validate(response) {
      mutableState.withLock { $0.error = $0.error ?? error }
    }
    monitors?.request(self, didCompleteTask: task, with: self.error)
    retryOrFinish()
  }

  /// Ends the request with an error of the session's, wherever it is, unless its response handlers run. That it was
  /// cancelled stays its error; a failure that might have been retried doesn't.
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

  // MARK: Retrying, on the underlying queue

  func retryOrFinish() {
    let isAsked = error.map { error in
      askRetriers(dueTo: error) { result in
        switch result {
        case .doNotRetry: self.finish()
        case .doNotRetryWithError(let error): self.finish(error: error.asAFError(or: .sessionTaskFailed(error: error)))
        case .retry, .retryWithDelay: self.retry(after: result.delay)
        }
      }
    }
    if isAsked != true { finish() }
  }

  /// Asks the retriers about a failure; returns whether there was somebody to ask.
  ///
  /// `proceed` is called once, on the underlying queue: with what they say, or with `.doNotRetry` if the request is
  /// cancelled or its session goes first.
  private func askRetriers(dueTo error: AFError, then proceed: @escaping @Sendable (RetryResult) -> Void) -> Bool {
    guard let session, session.hasRetrier(for: self) else { return false }
    let question = RetryQuestion(proceed: proceed)
    let isAsked = mutableState.withLock { state in
      guard state.state != .cancelled else { return false }
      state.question = question
      return true
    }
    guard isAsked else { return false }
    session.retryResult(for: self, dueTo: error) { [weak self] result in
      guard let self else { return }
      delivery.performHere { self.proceed(from: question, with: result) }
    }
    return true
  }

  private func proceed(from question: RetryQuestion, with result: RetryResult) {
    let (isOpen, isCancelled) = mutableState.withLock { state in
      guard state.question === question else { return (false, false) }
      state.question = nil
      return (true, state.state == .cancelled)
    }
    if isOpen { question.proceed(isCancelled ? .doNotRetry : result) }
  }

  /// Goes on without whoever was asked or waited for, now that the request is to end; on the underlying queue.
  func stopWaiting() {
    if let question = mutableState.withLock({ $0.question.take() }) { question.proceed(.doNotRetry) } else { finish() }
  }

  /// Waits until `delay` has passed, then begins another round.
  func retry(after delay: TimeInterval?) {
    let isWanted = mutableState.withLock { state in
      guard case .completing = state.stage, state.state != .cancelled else { return false }
      state.stage = .waiting
      return true
    }
    guard isWanted else { return finish() }
    guard let delay, delay > 0 else { return beginAnotherRound() }
    // A hundred years keep far away from the clock's end.
    underlyingQueue.asyncAfter(deadline: .now() + min(delay, 100 * 365 * 86_400)) { [weak self] in
      // Kept by its session while it waits, so that it goes at once if it is cancelled.
      self?.beginAnotherRound()
    }
  }

  private func beginAnotherRound() {
    let isWanted = mutableState.withLock { state in
      guard case .waiting = state.stage else { return false }
      state.stage = .building
      state.retryCount += 1
      // In the same step, lest it take away the error of somebody who cancels the new round.
      state.error = nil
      return true
    }
    guard isWanted else { return }
    reset()
    monitors?.requestIsRetrying(self)
    build()
  }

  // MARK: Finishing

  /// No task and no retry will follow; on the underlying queue.
  func finish(error: AFError? = nil) {
    let isNew = mutableState.withLock { state in
      switch state.stage {
      case .finishing, .done: return false
      case .unbuilt, .building, .running, .completing, .waiting:
        state.stage = .finishing
        state.question = nil
        if let error { state.error = error }
        return true
      }
    }
    guard isNew else { return }
    monitors?.requestDidFinish(self)
    serialize()
  }

  /// Runs the response handlers; on the underlying queue.
  private func serialize() {
    if mutableState.withLock({ $0.responses.next }) == nil { return conclude() }
    if serializationQueue === underlyingQueue {
      serializeNext()
    } else {
      serializationQueue.async { self.serializeNext() }
    }
  }

  /// Serialises with each handler, those that are added meanwhile included, before any response is handed over.
  private func serializeNext() {
    while let handler = mutableState.withLock({ $0.responses.next }) {
      let response = handler()
      let isAsked = response.error.map { error in
        askRetriers(dueTo: error) { self.proceed(after: response, $0) }
      }
      if isAsked == true { return }
      mutableState.withLock { $0.responses.complete { response.complete(nil) } }
    }
    delivery.performHere { self.conclude() }
  }

  /// Retriers have said what is to become of a request whose response couldn't be serialised.
  private func proceed(after response: SerializedResponse, _ result: RetryResult) {
    if result.retryRequired, dropResponses() { return retry(after: result.delay) }
    let replacement = result.error.map { $0.asAFError(or: .sessionTaskFailed(error: $0)) }
    mutableState.withLock { $0.responses.complete { response.complete(replacement) } }
    // Not called from here: retriers that answer at once would pile up calls.
    serializationQueue.async { self.serializeNext() }
  }

  /// Forgets what this round has serialised, unless the request was cancelled; returns whether another one may follow.
  private func dropResponses() -> Bool {
    mutableState.withLock { state in
      guard state.state != .cancelled else { return false }
      state.responses.restart()
      state.stage = .completing
      return true
    }
  }

  /// Hands the responses over; on the underlying queue.
  private func conclude() {
    let completions = mutableState.withLock {
      state -> (responses: [@Sendable () -> Void], finish: [@Sendable () -> Void])? in
      guard state.responses.next == nil else { return nil }
      state.stage = .done
      if state.state.canTransition(to: .finished) { state.state = .finished }
      defer { state.finishHandlers = [] }
      return (state.responses.take(), state.finishHandlers)
    }
    guard let completions else { return serialize() }
    cleanup()
    session?.cleanup(after: self)
    for completion in completions.responses { completion() }
    for handler in completions.finish { handler() }
  }
}
