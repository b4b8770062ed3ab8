// RequestBuild: the steps of one attempt, in order, from a resumed request to its task.

import Foundation
import LupineURLSession
import Synchronization

/// One attempt to create a request's task.
///
/// The steps are `createRequest`, `adapt`, `prepareBody`, `makeTask` and `begin`, in this order. The body is prepared on the
/// session's request queue, the task is created on its root queue, and adapters may call back on any thread. In the meantime,
/// any thread may cancel the request, or the session may end it. Therefore each hop to a queue, and each step that takes a
/// result from the program's code, checks that the attempt is still the current one.
struct RequestBuild: Sendable {
  let request: Request
  let session: Session
  /// The number of this attempt, which is the request's `retryCount` during the attempt.
  let attempt: Int

  /// Starts the attempt with its first step, or with its last step if the request creates its task without a `URLRequest`. Called
  /// on the root queue.
  func start() {
    request.queues.assertOnRoot()
    if session.session.isValid, let task = inCall({ request.makeReadyTask(in: session.session) }) {
      return begin(task)
    }
    if session.buildsOnRootQueue { createRequest() } else { onRequestQueue { createRequest() } }
  }

  // MARK: The steps on the request queue

  private func createRequest() {
    let urlRequest: URLRequest
    do {
      urlRequest = try request.queues.encoding { try request.makeURLRequest() }
      try urlRequest.validate()
    } catch {
      let error = error.asAFError(or: .createURLRequestFailed(error: error))
      return session.root.perform(.immediate) {
        fail(with: error, initialRequest: nil) { $0.request(request, didFailToCreateURLRequestWithError: error) }
      }
    }
    let (isCurrent, monitors) = record(urlRequest)
    guard isCurrent else { return }
    if let monitors { notify(monitors) { $0.request(request, didCreateInitialURLRequest: urlRequest) } }
    adapt(urlRequest)
  }

  private func adapt(_ initialRequest: URLRequest) {
    if let adapter = session.interceptors(for: request) {
      call(adapter, with: initialRequest)
    } else {
      prepareBody(initialRequest)
    }
  }

  // Inlining is disabled, because the closure's captures would be retained even for requests without an adapter.
  @inline(never)
  private func call(_ adapter: Interceptor, with initialRequest: URLRequest) {
    let state = RequestAdapterState(requestID: request.id, session: session)
    // Captured weakly, so that a slow adapter doesn't keep the session alive. When the session is released, its requests end.
    adapter.adapt(initialRequest, using: state) { [weak session, request, attempt] result in
      guard let session else { return request.root.perform { request.end(with: .sessionDeinitialized) } }
      RequestBuild(request: request, session: session, attempt: attempt).didAdapt(initialRequest, result)
    }
  }

  /// Continues the attempt with the `URLRequest` that the adapters returned, or ends the attempt if the adapters failed. Called on
  /// any thread.
  private func didAdapt(_ initialRequest: URLRequest, _ result: Result<URLRequest, any Error>) {
    let urlRequest: URLRequest
    do {
      urlRequest = try result.get()
      try urlRequest.validate()
    } catch {
      let error = AFError.requestAdaptationFailed(error: error)
      return session.root.perform(.immediate) {
        fail(with: error, initialRequest: initialRequest) {
          $0.request(request, didFailToAdaptURLRequest: initialRequest, withError: error)
        }
      }
    }
    let (isCurrent, monitors) = record(urlRequest)
    guard isCurrent else { return }
    if let monitors {
      notify(monitors) { $0.request(request, didAdaptInitialRequest: initialRequest, to: urlRequest) }
    }
    onRequestQueue { prepareBody(urlRequest) }
  }

  private func prepareBody(_ urlRequest: URLRequest) {
    do {
      try request.prepareBody()
    } catch {
      let error = error.asAFError(or: .createUploadableFailed(error: error))
      return session.root.perform(.immediate) { fail(with: error) }
    }
    if session.buildsOnRootQueue { return makeTask(urlRequest) }
    session.root.perform(.immediate) { makeTask(urlRequest) }
  }

  // MARK: The steps on the root queue

  private func makeTask(_ urlRequest: URLRequest) {
    request.queues.assertOnRoot()
    guard session.session.isValid else { return fail(with: .sessionInvalidated(error: nil)) }
    // The values are written to variables, because returning them as an optional tuple would copy each of them twice.
    var monitors: CompositeEventMonitor?
    var handlers: [Request.CreationHandler] = []
    let isCurrent = request.mutableState.withLock { state in
      guard state.isBuilding(attempt) else { return false }
      state.announcedRequestCount = state.requests.count
      (monitors, handlers) = (state.listeningMonitors, state.creationHandlers)
      return true
    }
    guard isCurrent else { return }
    monitors?.request(request, didCreateURLRequest: urlRequest)
    for handler in handlers { handler(.success(urlRequest)) }
    begin(inCall { request.makeTask(urlRequest, in: session.session) })
  }

  /// Returns the result of `create`, whose task belongs to the request's call if the request is observed.
  private func inCall<Value>(_ create: () -> Value) -> Value {
    if let call = request.call { call.makingTasks(create) } else { create() }
  }

  /// Assigns the task to the request. Then resumes, suspends or cancels the task according to the request's state.
  private func begin(_ task: URLSessionTask) {
    request.queues.assertOnRoot()
    // If the session was invalidated in the meantime, it doesn't own the task and wouldn't report its end.
    guard session.session.owns(task) else { return fail(with: .sessionInvalidated(error: nil)) }
    // The values are written to variables, because returning them as an optional tuple would copy each of them twice.
    var state = Request.State.initialized
    var transitions: ShortList<Request.Transition> = []
    var monitors: CompositeEventMonitor?
    var handlers: [Request.TaskHandler] = []
    let isCurrent = request.mutableState.withLock { mutableState in
      guard mutableState.isBuilding(attempt) else { return false }
      mutableState.tasks.append(task)
      mutableState.stage = .running(task)
      swap(&transitions, &mutableState.transitions)
      (state, monitors, handlers) = (mutableState.state, mutableState.eventMonitor, mutableState.taskHandlers)
      return true
    }
    // The attempt ended before the request had this task, so the task must be cancelled here.
    guard isCurrent else { return task.cancel() }
    // The transitions made so far are reported now, so that they precede the task's events.
    transitions.forEach { request.report($0, to: monitors) }
    task.owner = request
    if let monitors, monitors.hasListeners { monitors.request(request, didCreateTask: task) }
    for handler in handlers { handler(task) }
    switch state {
    case .resumed: monitors?.request(request, didResumeTask: task)
    case .suspended: monitors?.request(request, didSuspendTask: task)
    case .cancelled: monitors?.request(request, didCancelTask: task)
    case .initialized, .finished: break
    }
    request.apply(state, to: task)
  }

  /// Ends the attempt without a task, and calls the retriers with `error`. Called on the root queue.
  private func fail(with error: AFError) {
    request.queues.assertOnRoot()
    let isCurrent = request.mutableState.withLock { state in
      guard state.isBuilding(attempt) else { return false }
      state.stage = .completing(pendingRetry: nil)
      state.error = error
      return true
    }
    if isCurrent { request.retryOrFinish() }
  }

  /// Ends the attempt because its `URLRequest` couldn't be created or adapted. Notifies the monitors with `event`, and then calls
  /// the creation handlers.
  private func fail(
    with error: AFError, initialRequest: URLRequest?, event: (CompositeEventMonitor) -> Void
  ) {
    let observers = request.mutableState.withLock { state in
      guard state.isBuilding(attempt) else {
        return nil as (CompositeEventMonitor?, [Request.CreationHandler])?
      }
      state.hasFailedToBuild = true
      state.announcedRequestCount = state.requests.count
      // The monitors and handlers may read the error.
      state.error = error
      return (state.listeningMonitors, state.creationHandlers)
    }
    guard let (monitors, handlers) = observers else { return }
    if let monitors { event(monitors) }
    for handler in handlers { handler(.failure(Request.BuildFailure(initialRequest: initialRequest))) }
    fail(with: error)
  }

  // MARK: Whether the attempt is current

  private var isCurrent: Bool { request.mutableState.withLock { $0.isBuilding(attempt) } }

  /// Appends `urlRequest` to the request's list of `URLRequest`s. Returns whether this attempt is still the current one, and the
  /// monitors to notify.
  private func record(_ urlRequest: URLRequest) -> (isCurrent: Bool, monitors: CompositeEventMonitor?) {
    request.mutableState.withLock { state in
      guard state.isBuilding(attempt) else { return (false, nil) }
      state.requests.append(urlRequest)
      return (true, state.listeningMonitors)
    }
  }

  // MARK: Hops

  /// Performs a step on the request queue. If that is the root queue and the caller
  /// already runs on it, performs the step immediately.
  private func onRequestQueue(_ step: @escaping @Sendable () -> Void) {
    if session.buildsOnRootQueue {
      session.root.perform(.immediate) { if isCurrent { step() } }
    } else {
      session.requestQueue.async { if isCurrent { step() } }
    }
  }

  /// Notifies the request's monitors on the root queue, in the order in which this method is called.
  private func notify(_ monitors: CompositeEventMonitor, of event: @escaping @Sendable (CompositeEventMonitor) -> Void)
  {
    session.root.perform(.immediate) { if isCurrent { event(monitors) } }
  }
}

extension Session {
  /// Whether the session creates its requests' `URLRequest`s on the root queue, like the rest of their work.
  fileprivate var buildsOnRootQueue: Bool { requestQueue === rootQueue }
}
