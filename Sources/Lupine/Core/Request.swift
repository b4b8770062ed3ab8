// A request's life: built when it is first resumed, run by a task, finished when its response handlers have run.

public import Foundation
import Synchronization

// Unchecked since the class has subclasses: all state is constant or in a Mutex or an Atomic.
/// What every kind of request has in common: its state, its task, its progress.
public class Request: TaskDelegate, @unchecked Sendable {
  /// How far the work on it has come, apart from what its user wants.
  private enum Stage {
    case unbuilt
    case building
    case running(URLSessionTask)
    /// The response, or the error, is there; response handlers run.
    case finishing
    case done
  }

  /// Is told of progress.
  public typealias ProgressHandler = @Sendable (_ progress: Progress) -> Void
  /// What a validation says.
  public typealias ValidationResult = Result<Void, any Error>

  /// Makes a response of what the request has, and returns how to hand it over.
  typealias ResponseHandler = @Sendable () -> @Sendable () -> Void

  private struct MutableState {
    weak var session: Session?
    var id: UUID?
    var state = State.initialized
    var stage = Stage.unbuilt
    var error: AFError?
    var requests: [URLRequest] = []
    var tasks: [URLSessionTask] = []
    var metrics: [URLSessionTaskMetrics] = []
    var responseHandlers: [ResponseHandler] = []
    var creationHandlers: [@Sendable (URLRequest) -> Void] = []
    var downloadProgress: DownloadProgress?
  }

  /// The queue on which the request's work is done: the session's root queue.
  public let underlyingQueue: DispatchQueue
  /// The queue on which responses are serialised.
  public let serializationQueue: DispatchQueue
  /// Whether the first response handler resumes the request; nil leaves it to the session.
  public let shouldAutomaticallyResume: Bool?

  private let mutableState: Mutex<MutableState>
  private let isProgressWanted = Atomic<Bool>(false)

  init(session: Session, shouldAutomaticallyResume: Bool?) {
    underlyingQueue = session.rootQueue
    serializationQueue = session.serializationQueue
    self.shouldAutomaticallyResume = shouldAutomaticallyResume
    mutableState = Mutex(MutableState(session: session))
  }

  // MARK: What a subclass does

  /// Makes the request that is to be sent.
  func makeURLRequest() throws -> URLRequest {
    preconditionFailure("each kind of request makes its own")
  }

  /// Looks at the response before it is handed over; called on the underlying queue if there is one and no error.
  func validate(_ response: HTTPURLResponse) -> AFError? { nil }

  // MARK: Control

  /// Starts the request, or goes on with it; does nothing if it was cancelled or has finished.
  @discardableResult
  public func resume() -> Self {
    enum Action { case build, steer(URLSessionTask), nothing }
    let action = mutableState.withLock { state -> Action in
      guard state.state.canTransition(to: .resumed) else { return .nothing }
      state.state = .resumed
      switch state.stage {
      case .unbuilt:
        state.stage = .building
        return .build
      case .running(let task): return .steer(task)
      case .building, .finishing, .done: return .nothing
      }
    }
    switch action {
    case .build: build()
    case .steer(let task): steer(task)
    case .nothing: break
    }
    return self
  }

  /// Stops the request; does nothing if it was cancelled or has finished.
  @discardableResult
  public func suspend() -> Self {
    let task = mutableState.withLock { state -> URLSessionTask? in
      guard state.state.canTransition(to: .suspended) else { return nil }
      state.state = .suspended
      if case .running(let task) = state.stage { return task } else { return nil }
    }
    if let task { steer(task) }
    return self
  }

  /// Ends the request; its handlers get `AFError.explicitlyCancelled`, unless it had failed before.
  @discardableResult
  public func cancel() -> Self {
    enum Action { case finish, steer(URLSessionTask), nothing }
    let action = mutableState.withLock { state -> Action in
      guard state.state.canTransition(to: .cancelled) else { return .nothing }
      state.state = .cancelled
      state.error = state.error ?? .explicitlyCancelled
      switch state.stage {
      case .unbuilt:
        state.stage = .finishing
        return .finish
      case .running(let task): return .steer(task)
      case .building, .finishing, .done: return .nothing
      }
    }
    switch action {
    case .finish: underlyingQueue.async { self.handleResponse() }
    case .steer(let task): steer(task)
    case .nothing: break
    }
    return self
  }

  /// Brings the task to where the request stands. Another thread may move the request meanwhile, so it is asked again.
  private func steer(_ task: URLSessionTask) {
    var wanted: State
    repeat {
      wanted = state
      switch wanted {
      case .resumed: task.resume()
      case .suspended: task.suspend()
      case .cancelled: task.cancel()
      case .initialized, .finished: break
      }
    } while state != wanted
  }

  // MARK: What is known of it

  /// Tells this request from all others.
  public var id: UUID {
    mutableState.withLock { state in
      // Made when it is asked for: few programs do, and it costs as much as building the request.
      if let id = state.id { return id }
      let id = UUID()
      state.id = id
      return id
    }
  }

  /// Where the request stands.
  public var state: State { mutableState.withLock { $0.state } }
  /// Why it failed, or nil.
  public var error: AFError? { mutableState.withLock { $0.error } }

  /// Every request that was built, in order.
  public var requests: [URLRequest] { mutableState.withLock { $0.requests } }
  /// The first of `requests`.
  public var firstRequest: URLRequest? { requests.first }
  /// The last of `requests`.
  public var lastRequest: URLRequest? { requests.last }
  /// The last of `requests`, before redirects.
  public var request: URLRequest? { lastRequest }
  /// What each task sent in the end, redirects applied.
  public var performedRequests: [URLRequest] { tasks.compactMap(\.currentRequest) }

  /// Every task, in order.
  public var tasks: [URLSessionTask] { mutableState.withLock { $0.tasks } }
  /// The first of `tasks`.
  public var firstTask: URLSessionTask? { tasks.first }
  /// The last of `tasks`.
  public var lastTask: URLSessionTask? { tasks.last }
  /// The last of `tasks`.
  public var task: URLSessionTask? { lastTask }
  /// The response's head, once it came.
  public var response: HTTPURLResponse? { lastTask?.httpResponse }

  /// The measurements of every task that has completed.
  public var allMetrics: [URLSessionTaskMetrics] { mutableState.withLock { $0.metrics } }
  /// The first of `allMetrics`.
  public var firstMetrics: URLSessionTaskMetrics? { allMetrics.first }
  /// The last of `allMetrics`.
  public var lastMetrics: URLSessionTaskMetrics? { allMetrics.last }
  /// The last of `allMetrics`.
  public var metrics: URLSessionTaskMetrics? { lastMetrics }

  var session: Session? { mutableState.withLock { $0.session } }

  // MARK: Building

  private func build() {
    guard let session else { return underlyingQueue.async { self.finish(with: .sessionDeinitialized) } }
    session.keep(self)
    session.requestQueue.async { [weak session] in
      // A request that was cancelled meanwhile is not built.
      if let error = self.cancellation { return self.underlyingQueue.async { self.finish(with: error) } }
      let result = Result { try self.makeURLRequest() }.mapError {
        $0.asAFError(or: .createURLRequestFailed(error: $0))
      }
      guard let session else { return self.underlyingQueue.async { self.finish(with: .sessionDeinitialized) } }
      if session.requestQueueIsRoot {
        self.run(result, session)
      } else {
        self.underlyingQueue.async { self.run(result, session) }
      }
    }
  }

  private var cancellation: AFError? {
    mutableState.withLock { $0.state == .cancelled ? $0.error : nil }
  }

  /// Makes the task, and brings it to where the request stands by now.
  private func run(_ result: Result<URLRequest, AFError>, _ session: Session) {
    switch result {
    case .failure(let error): finish(with: error)
    case .success(let request):
      let task = session.makeDataTask(request, delegate: self)
      let handlers = mutableState.withLock { state in
        state.requests.append(request)
        state.tasks.append(task)
        state.stage = .running(task)
        return state.creationHandlers
      }
      for handler in handlers { handler(request) }
      steer(task)
    }
  }

  /// Calls `handler` on the underlying queue with each request when it is built, and with the latest if there is one.
  func onCreation(_ handler: @escaping @Sendable (URLRequest) -> Void) {
    let existing = mutableState.withLock { state in
      state.creationHandlers.append(handler)
      return state.requests.last
    }
    if let existing { underlyingQueue.async { handler(existing) } }
  }

  // MARK: Finishing

  /// Ends the request with an error of the session's or of building it, unless it has ended; the first error stays.
  func finish(with error: AFError) {
    enum Action { case finish, cancel(URLSessionTask), nothing }
    let action = mutableState.withLock { state -> Action in
      switch state.stage {
      case .finishing, .done: return .nothing
      case .running(let task):
        state.error = state.error ?? error
        return .cancel(task)
      case .unbuilt, .building:
        state.error = state.error ?? error
        state.stage = .finishing
        return .finish
      }
    }
    switch action {
    case .finish: handleResponse()
    case .cancel(let task): task.cancel()
    case .nothing: break
    }
  }

  func taskDidComplete(_ task: URLSessionTask) {
    underlyingQueue.async {
      let error = self.mutableState.withLock { state -> AFError? in
        state.stage = .finishing
        state.metrics.append(task.metrics)
        if state.error == nil { state.error = task.error.map { .sessionTaskFailed(error: $0) } }
        return state.error
      }
      self.finishProgress(task)
      if error == nil, let response = task.httpResponse, let error = self.validate(response) {
        self.mutableState.withLock { $0.error = $0.error ?? error }
      }
      self.handleResponse()
    }
  }

  /// Adds a response handler, which resumes the request if nothing else did, and runs at once if it has finished.
  func append(_ handler: @escaping ResponseHandler) {
    enum Action { case handle, resume, nothing }
    let action = mutableState.withLock { state -> Action in
      state.responseHandlers.append(handler)
      switch state.stage {
      case .done:
        state.stage = .finishing
        if state.state == .finished { state.state = .resumed }
        return .handle
      case .unbuilt:
        return state.state == .initialized ? .resume : .nothing
      case .building, .running, .finishing:
        return .nothing
      }
    }
    switch action {
    case .handle: underlyingQueue.async { self.handleResponse() }
    case .resume: if shouldAutomaticallyResume ?? session?.startRequestsImmediately ?? true { resume() }
    case .nothing: break
    }
  }

  /// Runs the response handlers; on the underlying queue.
  private func handleResponse() {
    let handlers = takeHandlers()
    guard !handlers.isEmpty else { return conclude([]) }
    serialize { self.handle(handlers, completions: []) }
  }

  /// Serialises with each handler, those that are added meanwhile included, before any completion is called.
  private func handle(_ handlers: [ResponseHandler], completions: [@Sendable () -> Void]) {
    let completions = completions + handlers.map { $0() }
    let more = takeHandlers()
    guard more.isEmpty else { return handle(more, completions: completions) }
    if serializationQueueIsRoot { conclude(completions) } else { underlyingQueue.async { self.conclude(completions) } }
  }

  private func conclude(_ completions: [@Sendable () -> Void]) {
    let late = mutableState.withLock { state -> Bool in
      guard state.responseHandlers.isEmpty else { return true }
      state.stage = .done
      if state.state.canTransition(to: .finished) { state.state = .finished }
      return false
    }
    for completion in completions { completion() }
    if late { handleResponse() } else { session?.forget(self) }
  }

  private func takeHandlers() -> [ResponseHandler] {
    mutableState.withLock { state in
      let handlers = state.responseHandlers
      state.responseHandlers = []
      return handlers
    }
  }

  private func serialize(_ body: @escaping @Sendable () -> Void) {
    if serializationQueueIsRoot { body() } else { serializationQueue.async(execute: body) }
  }

  private var serializationQueueIsRoot: Bool { serializationQueue === underlyingQueue }

  // MARK: Progress

  /// How much of the response's body has come. Its total is -1 while the length isn't known.
  public var downloadProgress: Progress { progress().progress }

  /// Calls `closure` on `queue` whenever a part of the body has come; a closure that was set before is replaced.
  @discardableResult
  public func downloadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
    progress().setHandler(closure, on: queue)
    return self
  }

  var wantsProgress: Bool { isProgressWanted.load(ordering: .relaxed) }

  func taskDidAdvance(_ task: URLSessionTask) {
    let progress = progress()
    guard progress.needsUpdate() else { return }
    underlyingQueue.async { progress.update(task) }
  }

  private func finishProgress(_ task: URLSessionTask) {
    guard wantsProgress, task.countOfBytesReceived > 0 else { return }
    progress().update(task)
  }

  private func progress() -> DownloadProgress {
    isProgressWanted.store(true, ordering: .relaxed)
    return mutableState.withLock { state in
      if let progress = state.downloadProgress { return progress }
      let progress = DownloadProgress()
      state.downloadProgress = progress
      return progress
    }
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
