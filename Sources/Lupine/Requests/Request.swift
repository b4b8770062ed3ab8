// Request: its properties and mutable state, the methods that resume, suspend and cancel it, and the steps that subclasses override.
// Request+Stages.swift contains its life cycle.

public import Foundation
public import LupineURLSession
import Synchronization

// Unchecked because the class has subclasses. All state is constant, atomic or protected by a Mutex, except the weak reference
// `session`, which several threads may read while the session is being released.
/// The superclass of all requests, with their state, tasks, progress and metrics.
///
/// A ``Session`` creates requests. All methods may be called from any thread. Add handlers and validations in a chain:
///
/// ```swift
/// let request = AF.request("https://example.org/image.png")
///   .validate()
///   .downloadProgress { print($0.fractionCompleted) }
///   .responseData { print($0.result) }
/// request.cancel()
/// ```
public class Request: @unchecked Sendable {
  /// A closure that is called with the progress of a transfer.
  public typealias ProgressHandler = @Sendable (_ progress: Progress) -> Void
  /// The outcome of a validation: success, or the error with which the validation rejects the response.
  public typealias ValidationResult = Result<Void, any Error>

  /// The decision whether to receive the response body, made after the response head has arrived.
  public enum ResponseDisposition: Sendable {
    /// Continues the request and receives the response body.
    case allow
    /// Cancels the request.
    case cancel
  }

  /// The error if an attempt's `URLRequest` couldn't be created or adapted.
  struct BuildFailure: Error {
    /// The `URLRequest` that was passed to the adapters, or nil if it couldn't be created.
    let initialRequest: URLRequest?
  }

  typealias CreationHandler = @Sendable (Result<URLRequest, BuildFailure>) -> Void
  typealias TaskHandler = @Sendable (URLSessionTask) -> Void

  /// The kinds of things that callers add to a request. Most requests have none of them, and find that out without the lock.
  enum Addition: UInt8 {
    case interceptors = 1
    case cachedResponseHandler = 2
    case responseDecision = 4
    case progress = 8
    case validations = 16
  }

  /// The state of a request, as the caller sees it.
  public enum State: Sendable {
    /// The request was created, but not resumed.
    case initialized
    /// The request is running, or will run as soon as its task has been created.
    case resumed
    /// The request is suspended until it is resumed.
    case suspended
    /// The request was cancelled. This state is final.
    case cancelled
    /// The request has completed, and its response handlers are being called or have been called. This state is final, unless
    /// another response handler is added.
    case finished

    /// Returns whether a request may change from this state to `state`. A cancelled or finished request can't change its state.
    func canTransition(to state: State) -> Bool {
      switch (self, state) {
      case (.initialized, _): state != .initialized
      case (_, .initialized), (.cancelled, _), (.finished, _): false
      case (.resumed, .cancelled), (.suspended, .cancelled), (.resumed, .suspended), (.suspended, .resumed): true
      case (.resumed, .resumed), (.suspended, .suspended): false
      case (_, .finished): true
      }
    }
  }

  /// The stage of the request's life cycle. It is independent of the `State` that the caller sets.
  enum Stage {
    /// No attempt to send the request has started.
    case unbuilt
    /// A `RequestBuild` is creating the task of an attempt.
    case building
    case running(URLSessionTask)
    /// The task has ended, or couldn't be created. If the request is waiting for its retriers' decision, `pendingRetry` will
    /// receive the decision. Otherwise `pendingRetry` is nil.
    case completing(pendingRetry: PendingRetry?)
    /// The request waits for the retry delay to pass before its next attempt.
    case waiting
    /// The response is being serialized for the response handlers. If serialization failed and the request is waiting for its
    /// retriers' decision, `pendingRetry` will receive the decision. Otherwise `pendingRetry` is nil.
    case finishing(pendingRetry: PendingRetry?)
    case done
  }

  /// A change of the request's state by `resume()`, `suspend()` or `cancel()`.
  struct Transition {
    let state: State
    /// The task that was running at the time of the change.
    let task: URLSessionTask?
    /// The work that the change requires in addition to notifying the monitors, or nil if no other work is required.
    let work: Work?
    /// The session that creates the task if `work` is `build`, or nil if the session has been released. It is retained, so that a
    /// request that was resumed before the session was released is still sent.
    var session: Session?

    /// The work that a transition requires. `build` creates the request's task. `stopWaiting` ends the wait for a retry.
    enum Work { case build, stopWaiting }
  }

  struct MutableState {
    var id: UUID?
    /// The state that the caller has set. It is never `finished`, because that state is derived from `stage`.
    var intent = State.initialized
    var stage = Stage.unbuilt
    /// The transitions that haven't been reported to monitors yet, oldest first.
    var transitions: ShortList<Transition> = []
    var error: AFError?
    var retryCount = 0
    var requests: ShortList<URLRequest> = []
    /// The number of elements of `requests` up to the latest one with which the creation handlers were called.
    var announcedRequestCount = 0
    /// Whether an attempt failed to create or adapt its `URLRequest`. If the adapters failed, `requests` contains the `URLRequest`
    /// that was passed to them.
    var hasFailedToBuild = false
    var tasks: ShortList<URLSessionTask> = []
    var metrics: ShortList<URLSessionTaskMetrics> = []

    var responses = ResponseHandlers()
    var hasHadHandler = false
    /// The interceptors that were added to the request, in order. The session's interceptor isn't among them.
    var interceptors: [any RequestInterceptor] = []
    var eventMonitor: CompositeEventMonitor?
    var redirectHandler: (any RedirectHandler)?
    var cachedResponseHandler: (any CachedResponseHandler)?
    var credential: URLCredential?
    var responseDecision: ResponseDecision?
    var creationHandlers: [CreationHandler] = []
    var taskHandlers: [TaskHandler] = []
    var finishHandlers: [@Sendable () -> Void] = []
    /// Whether the underlying queue may contain enqueued closures other than response handlers. If so, the request's end is
    /// enqueued on that queue too, so that the end doesn't overtake the closures. Otherwise, the end is processed immediately.
    var endIsQueued = false
    var uploadProgress: TransferProgress?
    var downloadProgress: TransferProgress?
  }

  /// The serial queue for the request's internal work, which is the root queue of the session.
  public var underlyingQueue: DispatchQueue { queues.underlying }
  /// The queue on which response bodies are serialized.
  public var serializationQueue: DispatchQueue { queues.serialization }
  /// Whether the first response handler resumes the request. If nil, the session's setting applies.
  public let shouldAutomaticallyResume: Bool?
  /// `shouldAutomaticallyResume` or, if that is nil, the session's setting at the request's creation. Stored, so that adding a
  /// response handler needn't read the session.
  let startsImmediately: Bool

  /// Runs the closures of the request on the underlying queue, in the order in which they are submitted.
  var root: SerialQueue { queues.root }
  let queues: RequestQueues
  /// The observation of the request, or nil if the session's engine isn't observed.
  let call: ObservedCall?
  // Not in the mutable state, which could then be moved only field by field.
  /// The session that created the request, or nil if the session has been released. Nothing else changes it.
  private(set) weak var session: Session?
  let mutableState: Mutex<MutableState>
  private let additions = Atomic<UInt8>(0)
  @usableFromInline package let registrySlot = RegistrySlot()

  // The session is borrowed, because the callers of initializers otherwise retain and release each argument.
  init(session: borrowing Session, shouldAutomaticallyResume: Bool?) {
    queues = session.queues
    call = ObservedCall(in: session.session)
    self.session = copy session
    self.shouldAutomaticallyResume = shouldAutomaticallyResume
    startsImmediately = shouldAutomaticallyResume ?? session.startRequestsImmediately
    let monitor = session.requestMonitor
    mutableState = Mutex(MutableState(eventMonitor: monitor, endIsQueued: monitor?.hasListeners ?? false))
  }

  /// The closure that decides whether to receive the response body after the response head has arrived. Nil if there is none.
  final var responseDecision: ResponseDecision? {
    has(.responseDecision) ? mutableState.withLock { $0.responseDecision } : nil
  }

  func has(_ addition: Addition) -> Bool { additions.load(ordering: .acquiring) & addition.rawValue != 0 }

  func didAdd(_ addition: Addition) { additions.bitwiseOr(addition.rawValue, ordering: .releasing) }

  /// Sets the property at `path`. The old value is released only after the lock, because the value's `deinit` may access the
  /// request.
  final func set<Value: Sendable>(_ path: WritableKeyPath<MutableState, Value>, to value: Value) {
    withExtendedLifetime(mutableState.withLock { exchange(&$0[keyPath: path], with: value) }) {}
  }

  // MARK: Steps that subclasses override

  /// Creates the `URLRequest` that is then adapted and sent. Called on the session's request queue in each attempt.
  func makeURLRequest() throws -> URLRequest {
    preconditionFailure("subclasses must override this method")
  }

  /// Prepares the body to upload. Called on the session's request queue after the adapters have run.
  func prepareBody() throws {}

  /// Creates the task that sends `request`. Called on the underlying queue.
  func makeTask(_ request: URLRequest, in session: URLSession) -> URLSessionTask {
    preconditionFailure("subclasses must override this method")
  }

  /// Creates the task without a `URLRequest` if that is possible, as when the request resumes a download. Otherwise returns nil.
  /// Called on the underlying queue in each attempt.
  func makeReadyTask(in session: URLSession) -> URLSessionTask? { nil }

  /// Cancels `task`. Subclasses override this method if they cancel their tasks in another way.
  func cancelTask(_ task: URLSessionTask) { task.cancel() }

  /// Called when the request's task has ended, before validation. Called on the underlying queue.
  func taskDidEnd(with error: AFError?) {}

  /// Returns the error of the first validation that rejects the response. Called on the underlying queue if there is no error and
  /// the request has validations.
  func validateResponse(_ response: HTTPURLResponse) -> AFError? { nil }

  /// Calls the retriers after a failure. Returns false, and calls nothing, if there is no retrier or the request is cancelled.
  ///
  /// `proceed` is called once, on the underlying queue, with the retriers' decision. If the request is cancelled or its session
  /// is released before the retriers decide, the decision is `.doNotRetry`.
  func askRetriers(dueTo error: AFError, then proceed: @escaping @Sendable (RetryResult) -> Void) -> Bool {
    callRetriers(dueTo: error, then: proceed)
  }

  /// Discards the results of the previous attempt before a retry. The error of that attempt has already been discarded.
  func reset() {
    mutableState.withLock { state in
      state.uploadProgress?.reset()
      state.downloadProgress?.reset()
    }
  }

  /// Deletes what a failed attempt has left for the next one, because the request was cancelled without a running task. Called on
  /// the underlying queue.
  func discardLeftovers() {}

  /// Releases resources that the finished request no longer needs. Called before the response handlers are called.
  func cleanup() {}

  // MARK: Events of the task that subclasses override, on the underlying queue

  /// Returns the stream of the request body, or nil if the body isn't a stream.
  func inputStream() -> InputStream? { nil }

  /// Returns the error if the request refuses a response because of its head, or nil if it receives the response body.
  func refusal(of response: URLResponse, to task: URLSessionDataTask, in session: URLSession) -> URLError? { nil }

  /// Called with each part of the response body, unless the body is downloaded.
  func didReceive(_ data: Data, from task: URLSessionDataTask, in session: URLSession) {}

  /// The part of the response body received so far, if the request keeps the body in memory, or nil otherwise.
  var keptBody: Data? { nil }

  /// Calls `body` when the request's handlers have processed all parts of the response body. Called after the last part of an
  /// attempt.
  func drain(_ body: @escaping @Sendable () -> Void) { body() }

  /// Called with the temporary file of a complete download.
  func didFinishDownloading(using task: URLSessionTask, to location: URL, _ fileManager: FileManager) {}

  /// Called when a WebSocket connection is open.
  func didConnect(protocol subprotocol: String?) {}

  /// Called when the server has closed a WebSocket connection.
  func didDisconnect(closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?) {}

  // MARK: Control

  /// Starts or resumes the request. Does nothing if the request was cancelled or has finished.
  ///
  /// - Returns: The request.
  @discardableResult
  public func resume() -> Self {
    move { state in
      guard state.state.canTransition(to: .resumed) else { return nil }
      guard case .unbuilt = state.stage else { return Transition(state: .resumed, task: state.runningTask, work: nil) }
      state.stage = .building
      return Transition(state: .resumed, task: nil, work: .build, session: session)
    }
    return self
  }

  /// Suspends the request. Does nothing if the request was cancelled or has finished.
  ///
  /// - Returns: The request.
  @discardableResult
  public func suspend() -> Self {
    move { state in
      guard state.state.canTransition(to: .suspended) else { return nil }
      return Transition(state: .suspended, task: state.runningTask, work: nil)
    }
    return self
  }

  /// Cancels the request. Its handlers receive `AFError.explicitlyCancelled`, unless the request has already failed.
  ///
  /// - Returns: The request.
  @discardableResult
  public func cancel() -> Self {
    cancel { _, _ in }
    return self
  }
}

extension Request {
  // MARK: Properties

  /// A unique identifier of the request.
  public var id: UUID {
    mutableState.withLock { state in
      // The ID is created on first access, because few programs read it, and creating it costs as much as building the request.
      if let id = state.id { return id }
      let id = UUID()
      state.id = id
      return id
    }
  }

  /// The state of the request: `.initialized`, the state that `resume()`, `suspend()` or `cancel()` has set, or `.finished`.
  public var state: State { mutableState.withLock { $0.state } }
  /// Whether the request's state is `.initialized`.
  public var isInitialized: Bool { state == .initialized }
  /// Whether the request's state is `.resumed`.
  public var isResumed: Bool { state == .resumed }
  /// Whether the request's state is `.suspended`.
  public var isSuspended: Bool { state == .suspended }
  /// Whether the request's state is `.cancelled`.
  public var isCancelled: Bool { state == .cancelled }
  /// Whether the request's state is `.finished`.
  public var isFinished: Bool { state == .finished }
  /// The error of the request, or nil if there is none so far.
  public var error: AFError? { mutableState.withLock { $0.error } }
  /// The number of retries so far.
  public var retryCount: Int { mutableState.withLock { $0.retryCount } }

  /// All `URLRequest`s created for this request, in order of creation, including those that adapters returned.
  public var requests: [URLRequest] { mutableState.withLock { Array($0.requests) } }
  /// The first `URLRequest` in ``requests``, or nil if there is none.
  public var firstRequest: URLRequest? { mutableState.withLock { $0.requests.first } }
  /// The last `URLRequest` in ``requests``, or nil if there is none.
  public var lastRequest: URLRequest? { mutableState.withLock { $0.requests.last } }
  /// The last `URLRequest` in ``requests``, or nil if there is none. It isn't changed by redirects.
  public var request: URLRequest? { lastRequest }
  /// For each task, the last `URLRequest` that the task sent. If a server redirected the task, this is the request after the last
  /// redirect.
  public var performedRequests: [URLRequest] { tasks.compactMap(\.currentRequest) }

  /// All tasks of the request, in order. Each retry adds a task.
  public var tasks: [URLSessionTask] { mutableState.withLock { Array($0.tasks) } }
  /// The first task in ``tasks``, or nil if there is none.
  public var firstTask: URLSessionTask? { mutableState.withLock { $0.tasks.first } }
  /// The last task in ``tasks``, or nil if there is none.
  public var lastTask: URLSessionTask? { mutableState.withLock { $0.tasks.last } }
  /// The last task in ``tasks``, or nil if there is none.
  public var task: URLSessionTask? { lastTask }
  /// The head of the last task's response, or nil before it has arrived.
  public var response: HTTPURLResponse? { lastTask?.httpResponse }

  /// The metrics of all completed tasks of the request, in order.
  public var allMetrics: [URLSessionTaskMetrics] { mutableState.withLock { Array($0.metrics) } }
  /// The first metrics in ``allMetrics``, or nil if there are none.
  public var firstMetrics: URLSessionTaskMetrics? { mutableState.withLock { $0.metrics.first } }
  /// The last metrics in ``allMetrics``, or nil if there are none.
  public var lastMetrics: URLSessionTaskMetrics? { mutableState.withLock { $0.metrics.last } }
  /// The last metrics in ``allMetrics``, or nil if there are none.
  public var metrics: URLSessionTaskMetrics? { lastMetrics }

  // MARK: Monitors

  /// The monitor of the request's own events, which notifies the session's monitors and then those added to the request. Nil if
  /// there are no monitors.
  public var eventMonitor: (any EventMonitor)? { mutableState.withLock { $0.eventMonitor } }
  /// The monitor to notify of events for which ``AlamofireNotifications`` posts no notification. Nil if ``AlamofireNotifications``
  /// is the only type of monitor.
  var monitors: CompositeEventMonitor? { mutableState.withLock { $0.listeningMonitors } }
}

extension Request.MutableState {
  /// The request's state as its public property ``Request/state`` reports it.
  var state: Request.State { isDone && intent != .cancelled ? .finished : intent }

  var isDone: Bool {
    if case .done = stage { true } else { false }
  }

  /// Returns whether the attempt with the number `attempt` is the current one and is creating its task.
  func isBuilding(_ attempt: Int) -> Bool {
    if case .building = stage { retryCount == attempt } else { false }
  }

  var runningTask: URLSessionTask? {
    if case .running(let task) = stage { task } else { nil }
  }

  /// The object that will receive the retriers' decision for which the request waits, or nil. It can be set only in the stages
  /// `completing` and `finishing`.
  var pendingRetry: PendingRetry? {
    get {
      switch stage {
      case .completing(let pendingRetry), .finishing(let pendingRetry): pendingRetry
      case .unbuilt, .building, .running, .waiting, .done: nil
      }
    }
    set {
      switch stage {
      case .completing: stage = .completing(pendingRetry: newValue)
      case .finishing: stage = .finishing(pendingRetry: newValue)
      case .unbuilt, .building, .running, .waiting, .done: break
      }
    }
  }

  /// The monitor to notify of events for which ``AlamofireNotifications`` posts no notification. Nil if ``AlamofireNotifications``
  /// is the only type of monitor.
  var listeningMonitors: CompositeEventMonitor? { eventMonitor.flatMap { $0.hasListeners ? $0 : nil } }
}

extension Request: RegistryMember {}

extension Request: Hashable {
  /// Returns whether both references are to the same request.
  public static func == (left: Request, right: Request) -> Bool { left === right }

  /// Hashes the request's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Request: CustomStringConvertible {
  /// The request's method, its URL, and the status code of its response, as far as they are known.
  public var description: String {
    guard let request = performedRequests.last ?? lastRequest, let url = request.url, let method = request.httpMethod
    else { return "No request created yet." }
    return "\(method) \(ReadableText.url(url))" + (response.map { " (\($0.statusCode))" } ?? "")
  }
}

/// A closure that decides whether to receive the response body, and the queue on which the closure is called. The closure is called
/// when the response head has arrived.
struct ResponseDecision: Sendable {
  let queue: DispatchQueue
  let decide: @Sendable (HTTPURLResponse, @escaping @Sendable (Request.ResponseDisposition) -> Void) -> Void

  func ask(
    about response: HTTPURLResponse, of request: Request,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    queue.async {
      decide(response) { disposition in
        switch disposition {
        case .allow: completionHandler(.allow)
        case .cancel:
          // The request is cancelled first, so that its error is `explicitlyCancelled`.
          request.cancel()
          completionHandler(.cancel)
        }
      }
    }
  }
}
