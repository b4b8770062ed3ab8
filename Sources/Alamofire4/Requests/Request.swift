// Request: the common properties and controls of all requests; StreamRequest, which adds nothing to them.

public import Foundation
public import LupineURLSession
import Synchronization

// Unchecked because the class is open. All state is constant or in the Mutex.
/// A request that a ``SessionManager`` sends.
open class Request: @unchecked Sendable {
  /// A closure that is called with the progress of a transfer.
  public typealias ProgressHandler = (Progress) -> Void

  /// The outcome of validating a response.
  public enum ValidationResult: Sendable {
    /// The validation accepts the response.
    case success
    /// The validation rejects the response, and the request fails with this error.
    case failure(any Error)
  }

  private struct State: ~Copyable {
    var task: URLSessionTask?
    var retryCount: UInt = 0
    var startTime: Double?
    var validations: [Transferred<() -> ValidationResult>] = []
    /// Whether the validations of the latest attempt have started.
    var isValidated = false
    var hasHandlers = false
    var isCancelled = false
  }

  /// The `URLSession` that creates the request's tasks.
  public let session: URLSession

  let taskDelegate: TaskDelegate
  /// The `URLRequest` and the body from which the tasks are created, or nil if no `URLRequest` could be created.
  let source: TaskSource?
  private let state: Mutex<State>

  init(session: URLSession, source: TaskSource?, task: URLSessionTask?, delegate: TaskDelegate) {
    self.session = session
    self.source = source
    taskDelegate = delegate
    state = Mutex(State(task: task))
  }

  /// The delegate of the request's task. It holds the task's data and error, and the queue on which responses are serialized.
  open var delegate: TaskDelegate { taskDelegate }

  /// The request's latest task, or nil if no task could be created.
  open var task: URLSessionTask? { state.withLock { $0.task } }

  /// The `URLRequest` of the latest task, as the adapter returned it, or nil if there is no task.
  open var request: URLRequest? { task?.originalRequest }

  /// The head of the latest task's response, or nil before it has arrived.
  open var response: HTTPURLResponse? { task?.response as? HTTPURLResponse }

  /// The number of times that the request was retried.
  open var retryCount: UInt { state.withLock { $0.retryCount } }

  // MARK: Authentication

  /// Answers authentication challenges from the request's own origin with a user name and a password. Doesn't answer challenges
  /// from proxies, or from other origins after a redirect.
  @discardableResult
  open func authenticate(user: String, password: String, persistence: URLCredential.Persistence = .forSession) -> Self {
    authenticate(usingCredential: URLCredential(user: user, password: password, persistence: persistence))
  }

  /// Answers authentication challenges from the request's own origin with a credential. Doesn't answer challenges from proxies,
  /// or from other origins after a redirect.
  @discardableResult
  open func authenticate(usingCredential credential: URLCredential) -> Self {
    taskDelegate.credential = credential
    return self
  }

  /// Returns the Authorization field of Basic authentication (RFC 7617) for a user name and a password.
  open class func authorizationHeader(user: String, password: String) -> (key: String, value: String)? {
    ("Authorization", "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())")
  }

  /// Returns the Authorization field of Basic authentication, as the class method of the same name does.
  public func authorizationHeader(user: String, password: String) -> (key: String, value: String)? {
    Self.authorizationHeader(user: user, password: password)
  }

  // MARK: Controls

  /// Starts or resumes the request. A request that couldn't be created completes with its error.
  open func resume() {
    let task = state.withLock { state in
      state.startTime = state.startTime ?? Date().timeIntervalSinceReferenceDate
      return state.task
    }
    guard let task else { return taskDelegate.complete(with: nil) }
    task.resume()
    post(Notification.Name.Task.DidResume, task)
  }

  /// Suspends the request until ``resume()`` is called. Does nothing if the request couldn't be created.
  open func suspend() {
    guard let task else { return }
    task.suspend()
    post(Notification.Name.Task.DidSuspend, task)
  }

  /// Cancels the request, which then completes with `URLError.cancelled`.
  open func cancel() {
    cancel { $0.cancel() }
  }

  /// Marks the request as cancelled, so that it isn't retried. Then calls `stop` to cancel its task.
  func cancel(_ stop: (URLSessionTask) -> Void) {
    let task = state.withLock { state in
      state.isCancelled = true
      return state.task
    }
    guard let task else { return }
    stop(task)
    post(Notification.Name.Task.DidCancel, task)
  }

  private func post(_ name: Notification.Name, _ task: URLSessionTask) {
    NotificationCenter.default.post(name: name, object: self, userInfo: [Notification.Key.Task: task])
  }

  // MARK: Attempts

  /// Starts the request's next attempt with `task`, which the caller then resumes. Returns false if the request was cancelled.
  func restart(with task: URLSessionTask) -> Bool {
    let isRestarted = state.withLock { state in
      guard !state.isCancelled else { return false }
      state.task = task
      state.retryCount += 1
      state.isValidated = false
      state.startTime = Date().timeIntervalSinceReferenceDate
      return true
    }
    if isRestarted { taskDelegate.reset() }
    return isRestarted
  }

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Adds a response handler. It runs on the serialization queue after the request has completed.
  func addHandler(_ handler: @escaping () -> Void) {
    state.withLock { $0.hasHandlers = true }
    taskDelegate.queue.perform(handler)
  }

  /// Adds a closure that accepts or rejects the response.
  ///
  /// A request starts when it is created, so it may have ended before its validations are added. A late validation runs before
  /// the response handlers that are added after it. If there are no earlier response handlers, the retrier decides whether the
  /// error of a late validation causes a retry.
  func addValidation(_ validation: @escaping () -> ValidationResult) {
    let validation = Transferred(validation)
    let late = state.withLock { state -> (attempt: UInt, isRetried: Bool)? in
      state.validations.append(validation)
      return state.isValidated ? (state.retryCount, !state.hasHandlers) : nil
    }
    guard let late else { return }
    taskDelegate.queue.perform { [self] in
      // If the request has been retried since, the new attempt has already run all validations.
      guard retryCount == late.attempt, response != nil, taskDelegate.error == nil,
        case .failure(let error) = validation.value()
      else { return }
      taskDelegate.error = error
      // Without a body, the request can't be sent again: the file of a multipart form was removed at the request's end.
      guard late.isRetried, source?.hasBody == true, !isCancelled else { return }
      (session.delegate as? any LateRetrying)?.retry(self, after: error)
    }
  }

  func runValidations() {
    let validations = state.withLock { state in
      state.isValidated = true
      return state.validations
    }
    guard response != nil else { return }
    for validation in validations where taskDelegate.error == nil {
      if case .failure(let error) = validation.value() { taskDelegate.error = error }
    }
  }

  /// The times of the request. Reading this property sets the end of serialization to the current time.
  var timeline: Timeline {
    Timeline(
      start: state.withLock { $0.startTime }, metrics: taskDelegate.metrics,
      now: Date().timeIntervalSinceReferenceDate)
  }
}

// Unchecked because the superclass is. It adds no state.
/// A request whose task is a `URLSessionStreamTask`, with which the program reads from and writes to a TCP connection.
open class StreamRequest: Request, @unchecked Sendable {}

/// An object that decides whether a request is sent again after a late validation has rejected its response.
protocol LateRetrying {
  /// Decides whether `request` is sent again, and sends it again. Called on the request's serialization queue. This queue is
  /// suspended until the decision is made and, if the request is retried, until the new attempt has ended.
  func retry(_ request: Request, after error: any Error)
}
