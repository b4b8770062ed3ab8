// From a task's end to the response handlers: validated, serialised, handed over.

import Foundation
import LupineURLSession
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
  private var handlers: ShortList<ResponseHandler> = []
  private var completions: ShortList<@Sendable () -> Void> = []

  /// The next one to serialise with.
  var next: ResponseHandler? { completions.count < handlers.count ? handlers[completions.count] : nil }

  mutating func append(_ handler: @escaping ResponseHandler) { handlers.append(handler) }

  /// The next one has serialised.
  mutating func complete(_ completion: @escaping @Sendable () -> Void) { completions.append(completion) }

  /// Another round follows: what was serialised counts for nothing. Returns it, to be let go of outside the lock.
  mutating func restart() -> ShortList<@Sendable () -> Void> {
    defer { completions = [] }
    return completions
  }

  /// All have serialised: nothing is left here.
  mutating func take() -> ResponseHandlers {
    defer { self = ResponseHandlers() }
    return self
  }

  /// Hands the responses over.
  func handOver() {
    for completion in completions { completion() }
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

  /// What the first validation says that refuses the response; those behind it aren't asked.
  func refusal<Validation>(of validations: [Validation], _ ask: (Validation) -> ValidationResult) -> AFError? {
    for validation in validations {
      if case .failure(let error) = ask(validation) {
        return error.asAFError(or: .responseValidationFailed(reason: .customValidationFailed(error: error)))
      }
    }
    return nil
  }

  /// What a serializer makes of the response, and how many seconds that took.
  func serialized<Value>(_ body: () throws -> Value) -> (result: AFResult<Value>, duration: TimeInterval) {
    let start = DispatchTime.now().uptimeNanoseconds
    let result: AFResult<Value>
    do {
      result = .success(try body())
    } catch {
      // A serializer rethrows the request's own error as it is.
      result = .failure(
        error.asAFError(or: .responseSerializationFailed(reason: .customSerializationFailed(error: error))))
    }
    return (result, TimeInterval(DispatchTime.now().uptimeNanoseconds - start) / 1e9)
  }

  /// Calls a response's handler on its queue; on the underlying queue.
  func handOver<Response: Sendable>(
    _ response: Response, on queue: DispatchQueue, to completionHandler: @escaping @Sendable (Response) -> Void
  ) {
    // The completions run there already.
    if queue === underlyingQueue { completionHandler(response) } else { queue.async { completionHandler(response) } }
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
    taskDidEnd(with: error)
    finishProgress(task)
    if self.error == nil, let response = task.httpResponse, let error = validate(response) {
      mutableState.withLock { $0.error = $0.error ?? error }
    }
    notifiedMonitors?.request(self, didCompleteTask: task, with: error)
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

  /// Says why the task that is running will fail, before it is made to: it may complete at once, on another thread.
  func expectEnd(with error: AFError) {
    mutableState.withLock { state in
      if state.runningTask != nil, state.state != .cancelled { state.error = error }
    }
  }

  // MARK: Finishing

  /// No task and no retry will follow; on the underlying queue.
  func finish(error: AFError? = nil) {
    enum Next { case nothing, waitInLine, goOn }
    let next = mutableState.withLock { state -> Next in
      switch state.stage {
      case .finishing, .done: return .nothing
      case .unbuilt, .building, .running, .completing, .waiting:
        state.stage = .finishing
        state.question = nil
        if let error { state.error = error }
        return state.endsInLine ? .waitInLine : .goOn
      }
    }
    switch next {
    case .nothing: break
    case .waitInLine: underlyingQueue.async { self.didFinish() }
    case .goOn: didFinish()
    }
  }

  private func didFinish() {
    notifiedMonitors?.requestDidFinish(self)
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

  /// Serialises with each handler, those that are added meanwhile included, before any response is handed over; on the
  /// serialization queue.
  func serializeNext() {
    while let handler = mutableState.withLock({ $0.responses.next }) {
      let response = handler()
      let isAsked = response.error.map { error in
        askRetriers(dueTo: error) { self.proceed(after: response, $0) }
      }
      if isAsked == true { return }
      mutableState.withLock { $0.responses.complete { response.complete(nil) } }
    }
    if serializationQueue === underlyingQueue { conclude() } else { delivery.performHere { self.conclude() } }
  }

  /// Hands the responses over; on the underlying queue.
  private func conclude(hasWaitedInLine: Bool = false) {
    enum Next {
      case serialize, waitInLine
      case handOver(ResponseHandlers, [@Sendable () -> Void])
    }
    // Taken out, so that users' serializers and handlers aren't let go of under the lock.
    let next = mutableState.withLock { state -> Next in
      guard state.responses.next == nil else { return .serialize }
      // Monitors may be called on the underlying queue: their events of the end come before the responses.
      guard hasWaitedInLine || !state.endsInLine else { return .waitInLine }
      state.stage = .done
      if state.state.canTransition(to: .finished) { state.state = .finished }
      defer { state.finishHandlers = [] }
      return .handOver(state.responses.take(), state.finishHandlers)
    }
    switch next {
    case .serialize: serialize()
    case .waitInLine: underlyingQueue.async { self.conclude(hasWaitedInLine: true) }
    case .handOver(let responses, let handlers):
      cleanup()
      session?.cleanup(after: self)
      responses.handOver()
      for handler in handlers { handler() }
    }
  }
}
