// URLSession: creates tasks that share a configuration, an engine, a delegate and its queue.

public import Foundation
import Synchronization

// Unchecked because the class is open. All state is constant or protected by the Mutex.
/// Creates tasks, each of which performs one request, and reports their progress to a delegate.
///
/// The tasks of a session share its configuration, its connections and its delegate. Responses are delivered to the
/// delegate, to a completion handler, or to the caller of an async method such as ``data(for:delegate:)``. A task does
/// nothing until it is resumed:
///
/// ```swift
/// final class Printer: NSObject, URLSessionDataDelegate {
///   func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
///     print("\(data.count) bytes of \(dataTask.currentRequest?.url?.path ?? "")")
///   }
///
///   func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
///     print(error.map { "failed: \($0)" } ?? "done")
///   }
/// }
///
/// let session = URLSession(configuration: .default, delegate: Printer(), delegateQueue: nil)
/// session.dataTask(with: URLRequest(url: URL(string: "https://example.com/")!)).resume()
/// session.finishTasksAndInvalidate()
/// ```
///
/// A session retains its delegate until it has been invalidated and its last task has ended, so a session with a
/// delegate must be invalidated after use. Methods and properties may be used on any thread.
open class URLSession: NSObject, @unchecked Sendable {
  /// The delegate's decision about a response's body.
  public enum ResponseDisposition: Int, Sendable {
    /// Discards the body. The task completes with `URLError.cancelled`.
    case cancel = 0
    /// Delivers the body to the delegate as it is received.
    case allow = 1
    /// Turns the data task into a download task, which writes the body to a file. The delegate is notified by
    /// ``URLSessionDataDelegate/urlSession(_:dataTask:didBecome:)``.
    case becomeDownload = 2
  }

  /// The delegate's decision about a delayed request whose earliest date has passed.
  public enum DelayedRequestDisposition: Int, Sendable {
    /// Sends the request.
    case continueLoading = 0
    /// Sends the request that the delegate provides.
    case useNewRequest = 1
    /// Cancels the task, which completes with `URLError.cancelled`.
    case cancel = 2
  }

  /// The delegate's decision about a challenge.
  public enum AuthChallengeDisposition: Int, Sendable {
    /// Sends the given credential. If there is none, the response that requires a credential is delivered.
    case useCredential = 0
    /// Sends the proposed credential once. If there is none, or if the server has refused it, the response is delivered.
    case performDefaultHandling = 1
    /// Cancels the request. The task completes with `URLError.cancelled`.
    case cancelAuthenticationChallenge = 2
    /// Sends no credential. The response is delivered.
    case rejectProtectionSpace = 3
  }

  private enum Life {
    case valid
    /// New tasks fail. The session becomes invalid when its last task has ended.
    case invalidating
    case invalid
  }

  private struct MutableState {
    var life = Life.valid
    var delegates: Delegates?
    /// The tasks that haven't completed.
    var tasks = Registry<URLSessionTask>()
    var taskCount = 0
    /// The number of calls of `keepingRecords` in progress. Until they end, the session doesn't become invalid.
    var creationCount = 0
    var sessionDescription: String?
    var fileTransfers: ReadyTransfers?
  }

  /// The session that the whole program shares. It has the default configuration and no delegate.
  ///
  /// Because there is no delegate, response bodies are discarded and redirects are followed.
  open class var shared: URLSession { sharedSession }

  /// The queue on which the delegate's methods are called, one call at a time.
  public let delegateQueue: OperationQueue

  package let client: EngineClient
  /// Runs work on the delegate queue.
  package let delivery: SerialQueue
  /// The transfers whose events are delivered on the delegate queue.
  let readyTransfers: ReadyTransfers
  /// The records of a background session, or nil for other sessions.
  let background: BackgroundSession?
  private let settings: URLSessionConfiguration
  private let mutableState: Mutex<MutableState>

  private static let sharedSession = URLSession(configuration: .default)

  /// Creates a session without a delegate.
  ///
  /// - Parameter configuration: The settings. The session copies them, so later changes have no effect on it.
  public convenience init(configuration: URLSessionConfiguration) {
    self.init(configuration: configuration, delegate: nil, delegateQueue: nil)
  }

  /// Creates a session.
  ///
  /// - Parameters:
  ///   - configuration: The settings. The session copies them, so later changes have no effect on it.
  ///   - delegate: The delegate, or nil. It is retained until the session has become invalid.
  ///   - queue: The queue on which the delegate's methods are called, one call at a time, or nil for a dedicated serial queue. If
  ///     its `maxConcurrentOperationCount` is 1 and it has an `underlyingQueue`, that must be a serial queue too.
  public init(
    configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue queue: OperationQueue?
  ) {
    settings = configuration.copy() as? URLSessionConfiguration ?? configuration
    delegateQueue = queue ?? OperationQueue(serial: DispatchQueue(label: "lupine.session.delegate"))
    let snapshot = settings.snapshot
    background = BackgroundSession(snapshot)
    delivery = SerialQueue(delegateQueue)
    readyTransfers = ReadyTransfers(on: delivery)
    client = EngineClient(snapshot, iterations: readyTransfers)
    mutableState = Mutex(MutableState(delegates: delegate.map(Delegates.init)))
    super.init()
    if let consultant = makeTrustConsultant() { client.consult(consultant) }
    if let background { prepareBackgroundTasks(background) }
  }

  /// A copy of the session's configuration. Changes to it have no effect on the session.
  open var configuration: URLSessionConfiguration { settings.copy() as? URLSessionConfiguration ?? settings }

  /// The delegate, or nil if there is none or the session has become invalid.
  open var delegate: (any URLSessionDelegate)? { delegates?.session }

  var delegates: Delegates? { mutableState.withLock { $0.delegates } }

  /// A text for the caller's use, which appears in ``description``. Nil by default.
  open var sessionDescription: String? {
    get { mutableState.withLock { $0.sessionDescription } }
    set { mutableState.withLock { $0.sessionDescription = newValue } }
  }

  /// The session's description, the number of tasks that haven't completed, and whether the session is valid.
  open override var description: String {
    let name = sessionDescription.map { "\($0), " } ?? ""
    let state = isValid ? "valid" : "invalidated"
    return "\(type(of: self))(\(name)\(ReadableText.count(tasks.count, "task")), \(state))"
  }

  // MARK: Tasks

  /// Creates a suspended task whose response body is delivered to the delegate as it is received.
  ///
  /// Call ``URLSessionTask/resume()`` to send the request. The ``delegate`` then receives the response, the body in
  /// parts, and the completion:
  ///
  /// ```swift
  /// var request = URLRequest(url: URL(string: "https://example.com/items")!)
  /// request.setValue("application/json", forHTTPHeaderField: "Accept")
  /// let task = session.dataTask(with: request)
  /// task.resume()
  /// ```
  ///
  /// - Parameter request: The request. It is copied, including its body.
  /// - Returns: The task. If the session is invalid, it completes with `URLError.cancelled` once it is resumed.
  open func dataTask(with request: URLRequest) -> URLSessionDataTask {
    guard background == nil else { return makeRefusedDataTask(request) }
    return add(URLSessionDataTask(self, request, identifier: nextTaskIdentifier()))
  }

  /// Creates a suspended task that uploads bytes from memory.
  ///
  /// - Parameters:
  ///   - request: The request. Its body isn't sent.
  ///   - bodyData: The body to send.
  /// - Returns: The task. If the session is invalid, it completes with `URLError.cancelled` once it is resumed.
  open func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
    makeUpload(request, .data(bodyData))
  }

  /// Creates a suspended task that uploads a file.
  ///
  /// The file is opened when the task starts. The body's length is the length of the file at that time. The task completes with a
  /// `URLError` if the file doesn't exist, or if it becomes shorter while it is being sent.
  ///
  /// - Parameters:
  ///   - request: The request. Its body isn't sent.
  ///   - fileURL: The URL of a file on this machine.
  /// - Returns: The task. If the session is invalid, it completes with `URLError.cancelled` once it is resumed.
  open func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
    makeUpload(request, .file(fileURL))
  }

  /// Creates a suspended task that uploads a stream, which the delegate provides.
  ///
  /// The task calls ``URLSessionTaskDelegate/urlSession(_:task:needNewBodyStream:)`` each time it must send the body from its
  /// start. If the request has a Content-Length field, the stream must have exactly that many bytes, or the task fails. Without
  /// the field, the body is sent with chunked transfer coding.
  ///
  /// - Parameter request: The request. Its body isn't sent.
  /// - Returns: The task. If the session is invalid, it completes with `URLError.cancelled` once it is resumed.
  open func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
    makeUpload(request, .stream)
  }

  private func makeUpload(_ request: URLRequest, _ content: UploadContent) -> URLSessionUploadTask {
    if let background { return makeBackgroundUpload(background, request, content) }
    return add(URLSessionUploadTask(self, request, content, identifier: nextTaskIdentifier()))
  }

  /// Creates a suspended task that writes the response's body to a temporary file.
  ///
  /// - Parameter request: The request. It is copied, including its body.
  /// - Returns: The task. If the session is invalid, it completes with `URLError.cancelled` once it is resumed.
  open func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {
    if let background { return makeBackgroundDownload(background, request) }
    return add(URLSessionDownloadTask(self, request: request, identifier: nextTaskIdentifier()))
  }

  /// Creates a suspended task that continues a download that has failed or was cancelled.
  ///
  /// The task completes with `URLError.unsupportedURL` if the data can't be read. It downloads the entire resource
  /// again if the partial file no longer exists or the resource has changed.
  ///
  /// - Parameter resumeData: The data from ``URLSessionDownloadTask/cancel(byProducingResumeData:)``, or the value of
  ///   ``NSURLSessionDownloadTaskResumeData`` in the `userInfo` of the earlier task's error.
  /// - Returns: The task. If the session is invalid, it completes with `URLError.cancelled` once it is resumed.
  open func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {
    if let background { return makeBackgroundDownload(background, resuming: resumeData) }
    return add(URLSessionDownloadTask(self, resumeData: resumeData, identifier: nextTaskIdentifier()))
  }

  /// The transfers whose events are delivered on the session's file queue. That queue writes one download at a time, so that a
  /// slow disk delays only downloads.
  var fileTransfers: ReadyTransfers {
    mutableState.withLock { state in
      if let transfers = state.fileTransfers { return transfers }
      let transfers = ReadyTransfers(on: SerialQueue(DispatchQueue(label: "lupine.session.files")))
      state.fileTransfers = transfers
      return transfers
    }
  }

  /// Registers a new task. If the session is invalid, the task isn't registered, and fails when it is resumed.
  func add<Task: URLSessionTask>(_ task: Task) -> Task {
    mutableState.withLock { state in
      guard state.life == .valid else { return }
      state.tasks.insert(task)
    }
    return task
  }

  /// Calls `create`, which may record and register a task. If the session is valid, its records remain open during the call, even
  /// if it is invalidated meanwhile.
  func keepingRecords<Value>(_ create: (_ isValid: Bool) -> Value) -> Value {
    let isValid = mutableState.withLock { state in
      if state.life == .valid { state.creationCount += 1 }
      return state.life == .valid
    }
    defer { if isValid { endCreation() } }
    return create(isValid)
  }

  private func endCreation() {
    let isLast = mutableState.withLock { state in
      state.creationCount -= 1
      return state.creationCount == 0 && state.life == .invalidating && state.tasks.members.isEmpty
    }
    if isLast { becomeInvalid() }
  }

  /// Returns a number that is unique among the session's tasks, starting at 1.
  func nextTaskIdentifier() -> Int {
    mutableState.withLock { state in
      state.taskCount += 1
      return state.taskCount
    }
  }

  /// Reserves the task numbers up to `number` for tasks of earlier processes.
  func reserveTaskIdentifiers(upTo number: Int) { mutableState.withLock { $0.taskCount = max($0.taskCount, number) } }

  /// Returns whether the task is registered and may therefore run.
  package func owns(_ task: URLSessionTask) -> Bool { mutableState.withLock { $0.tasks.contains(task) } }

  /// Registers a task in place of another task.
  func replace(_ task: URLSessionTask, by other: URLSessionTask) {
    mutableState.withLock { state in
      state.tasks.insert(other)
      _ = state.tasks.remove(task)
    }
  }

  /// Unregisters a task after its delegate has been notified of the completion.
  func remove(_ task: URLSessionTask) {
    if background != nil { removeBackgroundRecord(of: task) }
    let (isIdle, isLast) = mutableState.withLock { state in
      let isIdle = state.tasks.remove(task) && state.tasks.members.isEmpty
      return (isIdle, isIdle && state.life == .invalidating && state.creationCount == 0)
    }
    if isIdle { client.releaseRetired() }
    if let background { backgroundTaskCompleted(task, background) }
    if isLast { becomeInvalid() }
  }

  /// Calls a handler on the delegate queue with the tasks that were resumed and haven't ended, oldest first.
  ///
  /// A task that was resumed and then suspended is included. An invalidated session has no tasks.
  ///
  /// - Parameter completionHandler: Called once, even if there are no tasks.
  @preconcurrency
  open func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
    delivery.perform { completionHandler(self.listedTasks) }
  }

  /// Calls a handler on the delegate queue with the tasks that were resumed and haven't ended, separated by kind, and within
  /// each kind oldest first.
  ///
  /// - Parameter completionHandler: Called once with the data tasks, the upload tasks and the download tasks. Upload tasks aren't
  ///   included in the data tasks.
  @preconcurrency
  open func getTasksWithCompletionHandler(
    _ completionHandler:
      @escaping @Sendable (
        [URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]
      ) -> Void
  ) {
    delivery.perform {
      let tasks = self.listedTasks
      let uploads = tasks.compactMap { $0 as? URLSessionUploadTask }
      let data = tasks.filter { !($0 is URLSessionUploadTask) }.compactMap { $0 as? URLSessionDataTask }
      completionHandler(data, uploads, tasks.compactMap { $0 as? URLSessionDownloadTask })
    }
  }

  private var tasks: [URLSessionTask] {
    mutableState.withLock { $0.tasks.members }.sorted { $0.taskIdentifier < $1.taskIdentifier }
  }

  /// Whether no task is registered.
  var isIdle: Bool { mutableState.withLock { $0.tasks.members.isEmpty } }

  private var listedTasks: [URLSessionTask] { isValid ? tasks.filter(\.isListed) : [] }

  // MARK: Invalidation

  /// Whether new tasks can run.
  package var isValid: Bool { mutableState.withLock { $0.life == .valid } }

  /// Invalidates the session, but lets its tasks finish.
  ///
  /// Tasks created afterward fail. After the last task has completed, the delegate's
  /// ``URLSessionDelegate/urlSession(_:didBecomeInvalidWithError:)`` is called and the delegate is released.
  open func finishTasksAndInvalidate() { invalidate(cancelling: false) }

  /// Invalidates the session and cancels its tasks, which complete with `URLError.cancelled`.
  ///
  /// Tasks created afterward fail. After the last task has completed, the delegate's
  /// ``URLSessionDelegate/urlSession(_:didBecomeInvalidWithError:)`` is called and the delegate is released.
  open func invalidateAndCancel() { invalidate(cancelling: true) }

  private func invalidate(cancelling: Bool) {
    let (tasks, isOver) = mutableState.withLock { state -> ([URLSessionTask], Bool) in
      guard state.life == .valid else { return (cancelling ? state.tasks.members : [], false) }
      state.life = .invalidating
      return (cancelling ? state.tasks.members : [], state.tasks.members.isEmpty && state.creationCount == 0)
    }
    for task in tasks { task.cancel() }
    if isOver { becomeInvalid() }
  }

  /// Invalidates a session without tasks, which can't be used because of `error`.
  func invalidate(because error: URLError) {
    mutableState.withLock { $0.life = .invalid }
    becomeInvalid(error)
  }

  private func becomeInvalid(_ error: URLError? = nil) {
    background?.close()
    delivery.perform {
      let delegates = self.mutableState.withLock { state in
        state.life = .invalid
        return state.delegates
      }
      delegates?.session.urlSession(self, didBecomeInvalidWithError: error)
      self.mutableState.withLock { $0.delegates = nil }
      self.client.close()
    }
  }
}
