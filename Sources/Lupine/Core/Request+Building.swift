// From a resumed request to its task: made, adapted, and brought to where the request stands by then.

import Foundation
import LupineURLSession
import Synchronization

/// A round's request couldn't be made, or not be adapted.
struct BuildFailure: Error {
  /// What was to be adapted.
  let initialRequest: URLRequest?
}

extension Request {
  /// Begins the first round at once, for a session that is eager. It keeps the session until the request is set up.
  func prepareEagerly(in session: Session) {
    let isUnbuilt = mutableState.withLock { state in
      guard case .unbuilt = state.stage else { return false }
      state.stage = .building
      return true
    }
    if isUnbuilt { underlyingQueue.async { self.build(in: session) } }
  }

  /// Begins a round; on the underlying queue.
  func build(in session: Session?) {
    let round = retryCount
    guard isBuilding(round) else { return }
    guard let session else { return finish(error: .sessionDeinitialized) }
    session.keep(self)
    session.build(self, round: round)
  }

  /// Whether the round is still under way: nobody has cancelled the request or ended it in another way.
  func isBuilding(_ round: Int) -> Bool {
    mutableState.withLock { $0.isBuilding(round) }
  }

  // MARK: The steps of a round, on the underlying queue

  func didCreateInitial(_ request: URLRequest, _ round: Int) {
    guard add(request, of: round) else { return }
    monitors?.request(self, didCreateInitialURLRequest: request)
  }

  func didFailToCreate(_ round: Int, with error: AFError) {
    guard isBuilding(round) else { return }
    monitors?.request(self, didFailToCreateURLRequestWithError: error)
    tellCreationHandlers(.failure(BuildFailure(initialRequest: nil)))
    didFail(round, with: error)
  }

  func didAdapt(_ initialRequest: URLRequest, to request: URLRequest, _ round: Int) {
    guard add(request, of: round) else { return }
    monitors?.request(self, didAdaptInitialRequest: initialRequest, to: request)
  }

  func didFailToAdapt(_ initialRequest: URLRequest, _ round: Int, with error: AFError) {
    guard isBuilding(round) else { return }
    monitors?.request(self, didFailToAdaptURLRequest: initialRequest, withError: error)
    tellCreationHandlers(.failure(BuildFailure(initialRequest: initialRequest)))
    didFail(round, with: error)
  }

  /// Notes what was built, unless the round is over.
  private func add(_ request: URLRequest, of round: Int) -> Bool {
    mutableState.withLock { state in
      guard state.isBuilding(round) else { return false }
      state.requests.append(request)
      return true
    }
  }

  func didCreate(_ request: URLRequest) {
    monitors?.request(self, didCreateURLRequest: request)
    tellCreationHandlers(.success(request))
  }

  private func tellCreationHandlers(_ result: Result<URLRequest, BuildFailure>) {
    let handlers = mutableState.withLock { state in
      if case .failure = result { state.hasFailedToBuild = true }
      return state.creationHandlers
    }
    for handler in handlers { handler(result) }
  }

  /// The round has failed before there was a task. Retriers are asked.
  func didFail(_ round: Int, with error: AFError) {
    let isCurrent = mutableState.withLock { state in
      guard state.isBuilding(round) else { return false }
      state.stage = .completing
      state.error = error
      return true
    }
    if isCurrent { retryOrFinish() }
  }

  /// There is a task; it is brought to where the request stands by now.
  func didCreate(_ task: URLSessionTask, _ round: Int) {
    let wanted = mutableState.withLock {
      state -> (State, ShortList<Transition>, CompositeEventMonitor?, [@Sendable (URLSessionTask) -> Void])? in
      guard state.isBuilding(round) else { return nil }
      state.tasks.append(task)
      state.stage = .running(task)
      defer { state.transitions = [] }
      return (state.state, state.transitions, state.eventMonitor, state.taskHandlers)
    }
    // Whoever has ended the round meanwhile knew nothing of the task.
    guard let (state, transitions, monitors, handlers) = wanted else { return task.cancel() }
    // What led here comes before the task's own events, though its turn on the queue may be behind this.
    transitions.forEach { tell($0) }
    task.owner = self
    if let monitors, monitors.hasListeners { monitors.request(self, didCreateTask: task) }
    for handler in handlers { handler(task) }
    switch state {
    case .resumed: monitors?.request(self, didResumeTask: task)
    case .suspended: monitors?.request(self, didSuspendTask: task)
    case .cancelled: monitors?.request(self, didCancelTask: task)
    case .initialized, .finished: break
    }
    steer(task)
  }

  // MARK: Transitions, as monitors hear of them

  func didResume(_ task: URLSessionTask?) {
    guard let monitors = notifiedMonitors else { return }
    monitors.requestDidResume(self)
    if let task { monitors.request(self, didResumeTask: task) }
  }

  func didSuspend(_ task: URLSessionTask?) {
    guard let monitors = notifiedMonitors else { return }
    monitors.requestDidSuspend(self)
    if let task { monitors.request(self, didSuspendTask: task) }
  }

  func didCancel(_ task: URLSessionTask?) {
    guard let monitors = notifiedMonitors else { return }
    monitors.requestDidCancel(self)
    if let task { monitors.request(self, didCancelTask: task) }
  }
}

extension Request.MutableState {
  fileprivate func isBuilding(_ round: Int) -> Bool {
    if case .building = stage { retryCount == round } else { false }
  }
}
