// A request: its state, what is known of it, and the three ways to steer it. What becomes of it is in the files beside.

public import Foundation
import LupineURLSession
import Synchronization

// Unchecked since the class has subclasses: all state is constant or in a Mutex.
/// What every kind of request has in common: its state, its tasks, its progress.
public class Request: @unchecked Sendable {
  /// Is told of progress.
  public typealias ProgressHandler = @Sendable (_ progress: Progress) -> Void
  /// What a validation says.
  public typealias ValidationResult = Result<Void, any Error>

  /// What is to become of a response whose head came.
  public enum ResponseDisposition: Sendable {
    /// Its body is taken.
    case allow
    /// The request is cancelled.
    case cancel
  }

  /// The `URLRequest` of an attempt could not be created or adapted.
  struct BuildFailure: Error {
    /// The request that the adapters got; nil if there was none.
    let initialRequest: URLRequest?
  }

  typealias CreationHandler = @Sendable (Result<URLRequest, BuildFailure>) -> Void
  typealias TaskHandler = @Sendable (URLSessionTask) -> Void

  /// A change of what the caller wants.
  struct Transition {
    let state: State
    /// The task that was running then.
    let task: URLSessionTask?
    /// What has to be done besides telling of it, if anything.
    let work: Work?

    /// `build` keeps the session until the request is set up: what a session has begun, it finishes.
    enum Work { case build((any RequestSession)?), stopWaiting }
  }

  /// What is looked at and changed by several threads.
  struct MutableState {
    weak var session: (any RequestSession)?
    var id: UUID?
    /// What the caller wants; never `finished`, which the stage says.
    var intent = State.initialized
    var stage = Stage.unbuilt
    /// Those that nobody has heard of yet, in the order in which they were made.
    var transitions: ShortList<Transition> = []
    var error: AFError?
    var retryCount = 0
    var requests: ShortList<URLRequest> = []
    /// In any round; of what was to be adapted there is a request even so.
    var hasFailedToBuild = false
    var tasks: ShortList<URLSessionTask> = []
    var metrics: ShortList<URLSessionTaskMetrics> = []

    var responses = ResponseHandlers()
    /// Whether the first response handler was added.
    var hasHadHandler = false
    /// The request's interceptors, which only the session looks at; see `InterceptorList`.
    var interceptors: (any Sendable)?
    var eventMonitor: (any RequestMonitor)?
    var redirectHandler: (any RedirectHandler)?
    var cachedResponseHandler: (any CachedResponseHandler)?
    var credential: URLCredential?
    var responseDecision: ResponseDecision?
    var creationHandlers: [CreationHandler] = []
    var taskHandlers: [TaskHandler] = []
    var finishHandlers: [@Sendable () -> Void] = []
    /// Whether anything but response handlers is called by queueing it, perhaps on the underlying queue. The request's end
    /// then takes its place in line there, so that it overtakes nothing; otherwise it is dealt with at once.
    var endsInLine = false
    var uploadProgress: TransferProgress?
    var downloadProgress: TransferProgress?
  }

  /// The queue on which the request's work is done: the session's root queue.
  public let underlyingQueue: DispatchQueue
  /// The queue on which responses are serialised.
  public let serializationQueue: DispatchQueue
  /// Whether the first response handler resumes the request; nil leaves it to the session.
  public let shouldAutomaticallyResume: Bool?

  /// The one way onto the underlying queue: its `perform` says in which order work runs there.
  let root: SerialQueue
  let mutableState: Mutex<MutableState>
  package let place = RegistryPlace()

  init(session: any RequestSession, shouldAutomaticallyResume: Bool?) {
    underlyingQueue = session.rootQueue
    serializationQueue = session.serializationQueue
    root = session.root
    self.shouldAutomaticallyResume = shouldAutomaticallyResume
    let monitor = session.requestMonitor
    mutableState = Mutex(
      MutableState(session: session, eventMonitor: monitor, endsInLine: monitor?.hasListeners ?? false))
  }

  // MARK: What a subclass does

  /// Makes the request that is to be adapted and sent; called on the request queue in each round.
  func makeURLRequest() throws -> URLRequest {
    preconditionFailure("each kind of request makes its own")
  }

  /// Makes ready what is sent with the request; called on the request queue behind the adapters.
  func prepareBody() throws {}

  /// Makes the task; called on the underlying queue.
  func makeTask(_ request: URLRequest, in session: URLSession) -> URLSessionTask {
    preconditionFailure("each kind of request makes its own")
  }

  /// Makes the task of a request that needs no `URLRequest` to be made and adapted, or nil; called on the underlying
  /// queue in each round.
  func makeReadyTask(in session: URLSession) -> URLSessionTask? { nil }

  /// Cancels the request's task.
  func cancelTask(_ task: URLSessionTask) { task.cancel() }

  /// Learns how the task has ended, before anything is made of it; called on the underlying queue.
  func taskDidEnd(with error: AFError?) {}

  /// Looks at the response before it is handed over; called on the underlying queue if there is one and no error.
  func validate(_ response: HTTPURLResponse) -> AFError? { nil }

  /// Forgets what an earlier round has brought, its error apart, which goes when the new round is sure to come.
  func reset() {
    mutableState.withLock { state in
      state.uploadProgress?.reset()
      state.downloadProgress?.reset()
    }
  }

  /// Removes what nobody needs any more; called once the response handlers have run.
  func cleanup() {}

  // MARK: Control

  /// Begins the first attempt at once, for a session that is eager. The session lives until the request is set up.
  func prepareEagerly(in session: any RequestSession) {
    let isUnbuilt = mutableState.withLock { state in
      guard case .unbuilt = state.stage else { return false }
      state.stage = .building
      return true
    }
    if isUnbuilt { root.perform { self.build(in: session) } }
  }

  /// Starts the request, or goes on with it; does nothing if it was cancelled or has finished.
  @discardableResult
  public func resume() -> Self {
    move { state in
      guard state.state.canTransition(to: .resumed) else { return nil }
      guard case .unbuilt = state.stage else { return Transition(state: .resumed, task: state.runningTask, work: nil) }
      state.stage = .building
      return Transition(state: .resumed, task: nil, work: .build(state.session))
    }
    return self
  }

  /// Stops the request; does nothing if it was cancelled or has finished.
  @discardableResult
  public func suspend() -> Self {
    move { state in
      guard state.state.canTransition(to: .suspended) else { return nil }
      return Transition(state: .suspended, task: state.runningTask, work: nil)
    }
    return self
  }

  /// Ends the request; its handlers get `AFError.explicitlyCancelled`, unless it had failed before.
  @discardableResult
  public func cancel() -> Self {
    cancel { _, _ in }
    return self
  }

  /// Cancels the request; `note` is called under the lock, with whether it is this that cancels it, and whether its task
  /// runs.
  func cancel(noting note: (_ isFirst: Bool, _ isRunning: Bool) -> Void) {
    move { state in
      let (isFirst, task) = (state.state.canTransition(to: .cancelled), state.runningTask)
      note(isFirst, task != nil)
      guard isFirst else { return nil }
      state.error = state.error ?? .explicitlyCancelled
      switch state.stage {
      // Nobody else may go on with it.
      case .unbuilt, .building, .waiting: state.stage = .completing(asking: nil)
      case .running, .completing, .finishing, .done: break
      }
      return Transition(state: .cancelled, task: task, work: task == nil && !state.isDone ? .stopWaiting : nil)
    }
  }

  /// Makes the transition that `change` asks for, if any; `change` is called under the lock.
  private func move(_ change: (inout MutableState) -> Transition?) {
    let (task, isNews) = mutableState.withLock { state -> (URLSessionTask?, Bool) in
      guard let transition = change(&state) else { return (nil, false) }
      state.intent = transition.state
      guard transition.work != nil || state.eventMonitor != nil else { return (transition.task, false) }
      // Along with those that nobody has heard of yet.
      defer { state.transitions.append(transition) }
      return (transition.task, state.transitions.isEmpty)
    }
    if isNews { tellTransitions() }
    if let task { steer(task) }
  }

  /// Has the transitions told on the underlying queue, in the order in which they were made, whichever thread is quicker.
  private func tellTransitions() {
    root.perform {
      // One at a time, since what one of them does may tell of the others.
      while let transition = self.mutableState.withLock({ $0.transitions.popFirst() }) { self.tell(transition) }
    }
  }

  /// Notifies the monitors of a transition, and does the work that it asks for; on the underlying queue.
  func tell(_ transition: Transition) {
    if let monitors = notifiedMonitors {
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
    case .build(let session): build(in: session)
    case .stopWaiting: stopWaiting()
    case nil: break
    }
  }

  /// Begins an attempt, unless the request has meanwhile left the stage for that; on the root queue.
  func build(in session: (any RequestSession)?) {
    let attempt = mutableState.withLock { state in state.isBuilding(state.retryCount) ? state.retryCount : nil }
    guard let attempt else { return }
    guard let session else { return finish(error: .sessionDeinitialized) }
    session.keep(self)
    session.build(self, attempt: attempt)
  }

  /// Brings the task to where the request stands. Another thread may move the request meanwhile, so it is asked again.
  func steer(_ task: URLSessionTask) {
    var wanted: State
    repeat {
      wanted = state
      switch wanted {
      case .resumed: task.resumeFully()
      case .suspended: task.suspendOnce()
      // Not started before, if it wasn't: it would be sent.
      case .cancelled: cancelTask(task)
      case .initialized, .finished: break
      }
    } while state != wanted
  }
}

extension Request: RegistryMember {}

extension Request: Hashable {
  /// A request equals itself alone.
  public static func == (left: Request, right: Request) -> Bool { left === right }

  /// Hashes the request's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Request: CustomStringConvertible {
  /// Method, URL and status as far as they are known.
  public var description: String {
    guard let request = performedRequests.last ?? lastRequest, let url = request.url, let method = request.httpMethod
    else { return "No request created yet." }
    return "\(method) \(ReadableText.url(url))" + (response.map { " (\($0.statusCode))" } ?? "")
  }
}
