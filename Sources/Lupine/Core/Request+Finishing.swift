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
    if isLate { underlyingQueue.async { self.serialize() } }
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

  /// The server was refused before anything was sent to it.
  func didFail(_ task: URLSessionTask, earlyWith error: AFError) {
    let isFirst = mutableState.withLock { state in
      guard state.runningTask === task, state.error == nil else { return false }
      state.error = error
      return true
    }
    if isFirst { monitors?.request(self, didFailTask: task, earlyWithError: error) }
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

  /// Ends the request with an error of the session's, wherever it is, unless it has ended; the first error stays.
  func end(with error: AFError) {
    enum Action { case finish, cancel(URLSessionTask), nothing }
    let action = mutableState.withLock { state -> Action in
      switch state.stage {
      case .finishing, .done: return .nothing
      case .running(let task):
        state.error = state.error ?? error
        return .cancel(task)
      case .unbuilt, .building, .completing, .waiting:
        state.error = state.error ?? error
        state.stage = .completing
        return .finish
      }
    }
    switch action {
    case .finish: finish()
    case .cancel(let task): task.cancel()
    case .nothing: break
    }
  }

  // MARK: Retrying, on the underlying queue

  func retryOrFinish() {
    guard !isCancelled, let error, let session, session.hasRetrier(for: self) else { return finish() }
    session.retryResult(for: self, dueTo: error) { result in
      self.delivery.performHere {
        guard !self.isCancelled else { return self.finish() }
        switch result {
        case .doNotRetry: self.finish()
        case .doNotRetryWithError(let error): self.finish(error: error.asAFError(or: .sessionTaskFailed(error: error)))
        case .retry: session.retryRequest(self, withDelay: nil)
        case .retryWithDelay(let delay): session.retryRequest(self, withDelay: delay)
        }
      }
    }
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
    underlyingQueue.asyncAfter(deadline: .now() + min(delay, 100 * 365 * 86_400)) { self.beginAnotherRound() }
  }

  private func beginAnotherRound() {
    let isWanted = mutableState.withLock { state in
      guard case .waiting = state.stage else { return false }
      state.stage = .building
      state.retryCount += 1
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
    if serializationQueue === underlyingQueue { serializeNext() } else { serializationQueue.async { self.serializeNext() } }
  }

  /// Serialises with each handler, those that are added meanwhile included, before any response is handed over.
  private func serializeNext() {
    while let handler = mutableState.withLock({ $0.responses.next }) {
      let response = handler()
      guard let error = response.error, !isCancelled, let session, session.hasRetrier(for: self) else {
        mutableState.withLock { $0.responses.complete { response.complete(nil) } }
        continue
      }
      return session.retryResult(for: self, dueTo: error) { self.proceed(after: response, $0, session) }
    }
    delivery.performHere { self.conclude() }
  }

  /// A retrier has said what is to become of a request whose response couldn't be serialised.
  private func proceed(after response: SerializedResponse, _ result: RetryResult, _ session: Session) {
    let replacement: AFError?
    switch result {
    case .doNotRetry: replacement = nil
    case .doNotRetryWithError(let error): replacement = error.asAFError(or: .sessionTaskFailed(error: error))
    case .retry, .retryWithDelay:
      return delivery.performHere {
        let isWanted = self.mutableState.withLock { state in
          guard state.state != .cancelled else { return false }
          state.responses.restart()
          state.stage = .completing
          return true
        }
        guard isWanted else { return self.proceed(after: response, .doNotRetry, session) }
        session.retryRequest(self, withDelay: result.delay)
      }
    }
    mutableState.withLock { $0.responses.complete { response.complete(replacement) } }
    // Not called from here: retriers that answer at once would pile up calls.
    serializationQueue.async { self.serializeNext() }
  }

  /// Hands the responses over; on the underlying queue.
  private func conclude() {
    let completions = mutableState.withLock { state -> (responses: [@Sendable () -> Void], finish: [@Sendable () -> Void])? in
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
