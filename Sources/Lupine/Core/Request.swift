// A request: its state, what is known of it, and the three ways to steer it. What becomes of it is in the files beside.

public import Foundation
import Synchronization

// Unchecked since the class has subclasses: all state is constant or in a Mutex.
/// What every kind of request has in common: its state, its tasks, its progress.
public class Request: @unchecked Sendable {
  /// How far the work on it has come, apart from what its user wants.
  enum Stage {
    /// Nothing was done yet.
    case unbuilt
    /// A `URLRequest` is made and adapted.
    case building
    case running(URLSessionTask)
    /// The task has ended, or none could be made; retriers are asked.
    case completing
    /// The delay before another round passes.
    case waiting
    /// Response handlers run.
    case finishing
    case done
  }

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

  /// A change of what the user wants, with the task that was running then.
  enum Transition {
    /// The work begins with it if `isFirst`.
    case resumed(URLSessionTask?, isFirst: Bool)
    case suspended(URLSessionTask?)
    /// Nobody else goes on with the request if it `isWaiting`.
    case cancelled(URLSessionTask?, isWaiting: Bool)
  }

  /// What is looked at and changed by several threads.
  struct MutableState {
    weak var session: Session?
    var id: UUID?
    var state = State.initialized
    var stage = Stage.unbuilt
    /// Those that nobody has heard of yet, in the order in which they were made.
    var transitions: ShortList<Transition> = []
    var error: AFError?
    var retryCount = 0
    var requests: ShortList<URLRequest> = []
    var tasks: ShortList<URLSessionTask> = []
    var metrics: ShortList<URLSessionTaskMetrics> = []

    var responses = ResponseHandlers()
    /// What retriers were asked and haven't answered.
    var question: RetryQuestion?
    /// Whether the first response handler was added.
    var hasHadHandler = false
    /// In the order in which they are asked, behind the session's.
    var interceptors: [any RequestInterceptor] = []
    var eventMonitor: CompositeEventMonitor?
    var redirectHandler: (any RedirectHandler)?
    var cachedResponseHandler: (any CachedResponseHandler)?
    var credential: URLCredential?
    var responseDecision: ResponseDecision?
    var creationHandlers: [@Sendable (URLRequest) -> Void] = []
    var taskHandlers: [@Sendable (URLSessionTask) -> Void] = []
    var finishHandlers: [@Sendable () -> Void] = []
    var uploadProgress: TransferProgress?
    var downloadProgress: TransferProgress?
  }

  /// The queue on which the request's work is done: the session's root queue.
  public let underlyingQueue: DispatchQueue
  /// The queue on which responses are serialised.
  public let serializationQueue: DispatchQueue
  /// Whether the first response handler resumes the request; nil leaves it to the session.
  public let shouldAutomaticallyResume: Bool?

  let delivery: DeliveryQueue
  let mutableState: Mutex<MutableState>

  init(session: Session, interceptor: (any RequestInterceptor)?, shouldAutomaticallyResume: Bool?) {
    underlyingQueue = session.rootQueue
    serializationQueue = session.serializationQueue
    delivery = session.session.delivery
    self.shouldAutomaticallyResume = shouldAutomaticallyResume
    mutableState = Mutex(
      MutableState(
        session: session, interceptors: interceptor.map { [$0] } ?? [], eventMonitor: session.activeEventMonitor))
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

  /// Starts the request, or goes on with it; does nothing if it was cancelled or has finished.
  @discardableResult
  public func resume() -> Self {
    let (task, isNews) = mutableState.withLock { state -> (URLSessionTask?, Bool) in
      guard state.state.canTransition(to: .resumed) else { return (nil, false) }
      state.state = .resumed
      let isUnbuilt = if case .unbuilt = state.stage { true } else { false }
      if isUnbuilt { state.stage = .building }
      let task = state.runningTask
      guard isUnbuilt || state.eventMonitor != nil else { return (task, false) }
      return (task, state.note(.resumed(task, isFirst: isUnbuilt)))
    }
    if isNews { tellTransitions() }
    if let task { steer(task) }
    return self
  }

  /// Stops the request; does nothing if it was cancelled or has finished.
  @discardableResult
  public func suspend() -> Self {
    let (task, isNews) = mutableState.withLock { state -> (URLSessionTask?, Bool) in
      guard state.state.canTransition(to: .suspended) else { return (nil, false) }
      state.state = .suspended
      let task = state.runningTask
      guard state.eventMonitor != nil else { return (task, false) }
      return (task, state.note(.suspended(task)))
    }
    if isNews { tellTransitions() }
    if let task { steer(task) }
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
    let (task, isNews) = mutableState.withLock { state -> (URLSessionTask?, Bool) in
      let isFirst = state.state.canTransition(to: .cancelled)
      note(isFirst, state.runningTask != nil)
      guard isFirst else { return (nil, false) }
      state.state = .cancelled
      state.error = state.error ?? .explicitlyCancelled
      let task = state.runningTask
      switch state.stage {
      // Nobody else may go on with it.
      case .unbuilt, .building, .waiting: state.stage = .completing
      case .running, .completing, .finishing, .done: break
      }
      let isWaiting = task == nil && !state.isDone
      guard isWaiting || state.eventMonitor != nil else { return (task, false) }
      return (task, state.note(.cancelled(task, isWaiting: isWaiting)))
    }
    if isNews { tellTransitions() }
    if let task { steer(task) }
  }

  /// Has the transitions told on the underlying queue, in the order in which they were made, whichever thread is quicker.
  private func tellTransitions() {
    underlyingQueue.async {
      let transitions = self.mutableState.withLock { state in
        defer { state.transitions = [] }
        return state.transitions
      }
      for transition in transitions {
        switch transition {
        case .resumed(let task, let isFirst):
          self.didResume(task)
          if isFirst { self.build() }
        case .suspended(let task): self.didSuspend(task)
        case .cancelled(let task, let isWaiting):
          self.didCancel(task)
          if isWaiting { self.stopWaiting() }
        }
      }
    }
  }

  /// Brings the task to where the request stands. Another thread may move the request meanwhile, so it is asked again.
  func steer(_ task: URLSessionTask) {
    var wanted: State
    repeat {
      wanted = state
      switch wanted {
      case .resumed: task.resume()
      case .suspended: task.suspend()
      case .cancelled:
        // Started, so that it is measured.
        task.resume()
        cancelTask(task)
      case .initialized, .finished: break
      }
    } while state != wanted
  }
}

extension Request.MutableState {
  /// Notes a transition; whether it is to be told of, or will be along with one that nobody has heard of yet.
  fileprivate mutating func note(_ transition: Request.Transition) -> Bool {
    defer { transitions.append(transition) }
    return transitions.isEmpty
  }

  /// The task, if there is one that hasn't ended.
  var runningTask: URLSessionTask? {
    if case .running(let task) = stage { task } else { nil }
  }

  var isDone: Bool {
    if case .done = stage { true } else { false }
  }
}

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
    return "\(method) \(url.absoluteString)" + (response.map { " (\($0.statusCode))" } ?? "")
  }
}
