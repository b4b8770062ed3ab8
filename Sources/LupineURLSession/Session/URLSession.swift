// URLSession: creates tasks that share a configuration, an engine, a delegate and its queue.

public import Foundation
import Synchronization

// Unchecked because the class is open. All state is constant or protected by the Mutex.
/// Creates tasks and reports their progress to a delegate. Each task performs one request.
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
/// A session retains its delegate until it has been invalidated and its last task has completed. Therefore, invalidate a session
/// with a delegate after use. A session and its tasks retain each other until the tasks have completed. A program may release a
/// session while its requests are in progress, but a task that is neither resumed nor canceled keeps its session in memory. Methods
/// and properties may be used on any thread.
///
/// Tests can override the methods that create tasks. The methods of this class don't call each other, so overriding one doesn't
/// affect the others. The async methods are exceptions: `data` and `upload` call the methods with a completion handler, and
/// `download` and `bytes` call the methods without one.
open class URLSession: NSObject, @unchecked Sendable {
  /// The session that the whole program shares. It has the default configuration and no delegate, so it follows redirects. It can't
  /// be invalidated.
  open class var shared: URLSession { sharedSession }

  /// The operation queue on which the session calls its delegate, one call at a time.
  open var delegateQueue: OperationQueue { parts.queue }

  package final var client: EngineClient { parts.client }
  /// The delegate queue, as a `SerialQueue` that performs one block of work at a time.
  package final var delivery: SerialQueue { parts.delivery }
  /// The transfers whose data and events wait for delivery on the delegate queue.
  final var readyTransfers: ReadyTransfers { parts.readyTransfers }
  /// The part of a background session that records its tasks on disk. Nil for other sessions.
  final var background: BackgroundSession? { parts.background }
  private let parts: Parts
  final let mutableState: Mutex<MutableState>
  /// The highest identifier of a task so far.
  final let taskCount = Atomic(0)
  /// Whether the `life` in `mutableState` is anything but `valid`. Read without the lock.
  final let isInvalidated = Atomic(false)

  private static let sharedSession: URLSession = {
    let session = URLSession(configuration: .default)
    session.mutableState.withLock { $0.isShared = true }
    return session
  }()

  /// The constant parts of a session, which depend on its configuration and its delegate queue.
  private struct Parts {
    let settings: URLSessionConfiguration
    let queue: OperationQueue
    let client: EngineClient
    let delivery: SerialQueue
    let readyTransfers: ReadyTransfers
    let background: BackgroundSession?

    init(_ configuration: URLSessionConfiguration, _ queue: OperationQueue?) {
      settings = configuration.copy() as? URLSessionConfiguration ?? configuration
      self.queue = queue ?? OperationQueue(serial: DispatchQueue(label: "lupine.session.delegate"))
      let snapshot = settings.snapshot
      background = BackgroundSession(snapshot)
      delivery = SerialQueue(self.queue)
      readyTransfers = ReadyTransfers(on: delivery)
      client = EngineClient(snapshot, iterations: readyTransfers)
    }
  }

  /// Creates a session without a delegate.
  ///
  /// - Parameter configuration: The session's settings. The session copies them, so later changes have no effect on the session.
  public init(configuration: URLSessionConfiguration) {
    parts = Parts(configuration, nil)
    mutableState = Mutex(MutableState())
    super.init()
    prepare()
  }

  /// Creates a session with a delegate.
  ///
  /// - Parameters:
  ///   - configuration: The session's settings. The session copies them, so later changes have no effect on the session.
  ///   - delegate: The session's delegate, or nil. The session retains its delegate until it has become invalid.
  ///   - queue: The queue on which the delegate's methods are called, one call at a time. If nil, the session creates a serial
  ///     queue. If the queue's `maxConcurrentOperationCount` is 1 and it has an `underlyingQueue`, the underlying queue must also
  ///     be serial.
  public init(
    configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue queue: OperationQueue?
  ) {
    parts = Parts(configuration, queue)
    mutableState = Mutex(MutableState(delegates: delegate.map(Delegates.init)))
    super.init()
    prepare()
  }

  private func prepare() {
    if let challenger = ServerTrustChallenger(self) { client.consult(challenger) }
    background?.prepare(self)
  }

  /// A copy of the session's configuration. Changes to it have no effect on the session.
  open var configuration: URLSessionConfiguration {
    parts.settings.copy() as? URLSessionConfiguration ?? parts.settings
  }

  /// The session's delegate, or nil if there is none or the session has become invalid.
  open var delegate: (any URLSessionDelegate)? { delegates?.session }

  var delegates: Delegates? { mutableState.withLock { $0.delegates } }

  /// A text that the program can choose, and that appears in ``description``. Nil by default.
  open var sessionDescription: String? {
    get { mutableState.withLock { $0.sessionDescription } }
    set { mutableState.withLock { $0.sessionDescription = newValue } }
  }

  /// A textual description of the session: `sessionDescription`, the number of uncompleted tasks, and whether the session is valid.
  open override var description: String {
    let name = sessionDescription.map { "\($0), " } ?? ""
    let state = isValid ? "valid" : "invalidated"
    return "\(type(of: self))(\(name)\(ReadableText.count(uncompletedTasks.count, "task")), \(state))"
  }

  // MARK: Tasks

  /// Creates a suspended task that delivers the response's body to the delegate while the body is being received.
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
  /// - Parameter request: The request to send. It is copied, including its body.
  /// - Returns: The task. If the session is invalid, the task completes with `URLError.cancelled` after it has been resumed.
  open func dataTask(with request: URLRequest) -> URLSessionDataTask { makeDataTask(request) }

  /// Creates a suspended task for a GET request to a URL. See ``dataTask(with:)``.
  open func dataTask(with url: URL) -> URLSessionDataTask { makeDataTask(URLRequest(url: url)) }

  /// Creates a suspended task that sends bytes as the body of a request.
  ///
  /// - Parameters:
  ///   - request: The request to send. Its own body is ignored.
  ///   - bodyData: The body to send instead.
  /// - Returns: The task. If the session is invalid, the task completes with `URLError.cancelled` after it has been resumed.
  open func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
    makeUpload(request, .data(bodyData))
  }

  /// Creates a suspended task that sends a file as the body of a request.
  ///
  /// The file is opened when the task starts. The body's length is the length of the file at that time. The task completes with a
  /// `URLError` if the file doesn't exist, or if it becomes shorter while it is being sent.
  ///
  /// - Parameters:
  ///   - request: The request to send. Its own body is ignored.
  ///   - fileURL: The URL of a file on this machine.
  /// - Returns: The task. If the session is invalid, the task completes with `URLError.cancelled` after it has been resumed.
  open func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
    makeUpload(request, .file(fileURL))
  }

  /// Creates a suspended task that sends a stream as the body of a request. The delegate provides the stream.
  ///
  /// The task calls ``URLSessionTaskDelegate/urlSession(_:task:needNewBodyStream:)`` each time it must send the body from its
  /// start. If the request has a Content-Length field, the stream must have exactly that many bytes, or the task fails. Without the
  /// field, the body is sent with the chunked transfer coding.
  ///
  /// - Parameter request: The request to send. Its own body is ignored.
  /// - Returns: The task. If the session is invalid, the task completes with `URLError.cancelled` after it has been resumed.
  open func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask { makeUpload(request, .stream) }

  /// Creates a suspended task that writes the response's body to a temporary file.
  ///
  /// - Parameter request: The request to send. It is copied, including its body.
  /// - Returns: The task. If the session is invalid, the task completes with `URLError.cancelled` after it has been resumed.
  open func downloadTask(with request: URLRequest) -> URLSessionDownloadTask { makeDownload(request) }

  /// Creates a suspended download task for a GET request to a URL. See ``downloadTask(with:)``.
  open func downloadTask(with url: URL) -> URLSessionDownloadTask { makeDownload(URLRequest(url: url)) }

  /// Creates a suspended task that resumes a download that has failed or was canceled.
  ///
  /// The task completes with `URLError.unsupportedURL` if the resume data can't be read. The task downloads the entire resource
  /// again if the partial file no longer exists or the resource has changed.
  ///
  /// - Parameter resumeData: The data from ``URLSessionDownloadTask/cancel(byProducingResumeData:)``, or the value of
  ///   ``NSURLSessionDownloadTaskResumeData`` in the `userInfo` of the earlier task's error.
  /// - Returns: The task. If the session is invalid, the task completes with `URLError.cancelled` after it has been resumed.
  open func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {
    makeDownload(resuming: resumeData)
  }

  /// Creates a suspended task that reads from and writes to a TCP connection in any protocol. See ``URLSessionStreamTask``.
  ///
  /// - Parameters:
  ///   - hostname: The name or the IP address of the host.
  ///   - port: The port, from 1 to 65535.
  /// - Returns: The task. If the session is invalid, the task completes with `URLError.cancelled` after it has been resumed. If the
  ///   host or the port is malformed, it completes with `URLError.badURL`.
  open func streamTask(withHostName hostname: String, port: Int) -> URLSessionStreamTask {
    add(URLSessionStreamTask(self, host: hostname, port: port, identifier: nextTaskIdentifier()))
  }

  // MARK: Tasks with completion handlers

  /// Creates a suspended task that calls a handler with the response and its whole body.
  ///
  /// The delegate is notified of redirects, challenges, sent bytes and metrics, but not of the response, its body or the
  /// completion. The body is collected in memory; ``URLSessionConfiguration/bodyBytesMax`` limits its size.
  ///
  /// ```swift
  /// let url = URL(string: "https://example.com/")!
  /// URLSession.shared.dataTask(with: URLRequest(url: url)) { data, response, error in
  ///   print(data?.count ?? 0, error?.localizedDescription ?? "no error")
  /// }.resume()
  /// ```
  ///
  /// - Parameters:
  ///   - request: The request to send. It is copied, including its body.
  ///   - completionHandler: Called once, on the delegate queue, with the body and the response's head. If the request fails, the
  ///     handler receives the error, and the head if it was received. A status code of 400 or above isn't an error.
  /// - Returns: The task. If the session is invalid, the task completes with `URLError.cancelled` after it has been resumed.
  @preconcurrency
  open func dataTask(
    with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDataTask {
    collect(makeHandledDataTask(request), by: DataCollector(limit: collectedBodyLimit, completionHandler))
  }

  /// Creates a suspended task for a GET request to a URL. The task calls a handler with the response and its whole body.
  @preconcurrency
  open func dataTask(
    with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDataTask {
    collect(makeHandledDataTask(URLRequest(url: url)), by: DataCollector(limit: collectedBodyLimit, completionHandler))
  }

  /// Creates a suspended task that sends bytes as a request's body, and calls a handler with the response and its whole body.
  ///
  /// - Parameters:
  ///   - request: The request to send. Its own `httpBody` is sent if `bodyData` is nil.
  ///   - bodyData: The body to send instead, or nil.
  ///   - completionHandler: Called like the handler of `dataTask(with:completionHandler:)`.
  /// - Returns: The task. If the session is invalid, the task completes with `URLError.cancelled` after it has been resumed.
  @preconcurrency
  open func uploadTask(
    with request: URLRequest, from bodyData: Data?,
    completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionUploadTask {
    let content = UploadContent.data(bodyData ?? request.httpBody ?? Data())
    return collect(makeUpload(request, content), by: DataCollector(limit: collectedBodyLimit, completionHandler))
  }

  /// Creates a suspended task that sends a file as the body of a request, and calls a handler with the response and its whole body.
  ///
  /// - Parameters:
  ///   - request: The request to send. Its own body is ignored.
  ///   - fileURL: The URL of a file on this machine.
  ///   - completionHandler: Called like the handler of `dataTask(with:completionHandler:)`.
  /// - Returns: The task. If the session is invalid, the task completes with `URLError.cancelled` after it has been resumed.
  @preconcurrency
  open func uploadTask(
    with request: URLRequest, fromFile fileURL: URL,
    completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionUploadTask {
    collect(makeUpload(request, .file(fileURL)), by: DataCollector(limit: collectedBodyLimit, completionHandler))
  }

  /// Creates a suspended task that writes the response's body to a temporary file, and calls a handler with the file's URL.
  ///
  /// - Parameters:
  ///   - request: The request to send. It is copied, including its body.
  ///   - completionHandler: Called once, on the delegate queue, with the file's URL and the response's head. If the request fails,
  ///     the handler receives the error, and the head if it was received. The file is removed when the handler returns.
  /// - Returns: The task. If the session is invalid, the task completes with `URLError.cancelled` after it has been resumed.
  @preconcurrency
  open func downloadTask(
    with request: URLRequest, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDownloadTask {
    collect(makeDownload(request), by: DownloadCollector(keepsFile: false, completionHandler))
  }

  /// Creates a suspended task that downloads a URL to a temporary file, and calls a handler with the URL of that file.
  @preconcurrency
  open func downloadTask(
    with url: URL, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDownloadTask {
    collect(makeDownload(URLRequest(url: url)), by: DownloadCollector(keepsFile: false, completionHandler))
  }

  /// Creates a suspended task that resumes a stopped download, and calls a handler with the file's URL.
  ///
  /// - Parameters:
  ///   - resumeData: The resume data of the stopped download, as for ``downloadTask(withResumeData:)``.
  ///   - completionHandler: Called like the handler of `downloadTask(with:completionHandler:)`.
  /// - Returns: The task. If the session is invalid, the task completes with `URLError.cancelled` after it has been resumed.
  @preconcurrency
  open func downloadTask(
    withResumeData resumeData: Data,
    completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDownloadTask {
    collect(makeDownload(resuming: resumeData), by: DownloadCollector(keepsFile: false, completionHandler))
  }

  /// Calls a handler on the delegate queue with the tasks that were resumed and haven't completed, oldest first.
  ///
  /// A task that was resumed and then suspended is included. If the session has been invalidated, the array is empty.
  ///
  /// - Parameter completionHandler: Called once, even if there are no tasks.
  @preconcurrency
  open func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
    delivery.perform { completionHandler(self.listedTasks) }
  }

  /// Calls a handler on the delegate queue with the tasks that were resumed and haven't completed. Each kind of task has an array,
  /// which starts with the oldest task.
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

  // MARK: Invalidation

  /// Invalidates the session after its tasks have completed. Has no effect on the shared session.
  ///
  /// New tasks fail from now on. After the last task has completed, the session calls its delegate's
  /// ``URLSessionDelegate/urlSession(_:didBecomeInvalidWithError:)`` and releases the delegate.
  open func finishTasksAndInvalidate() { invalidate(cancelling: false) }

  /// Invalidates the session and cancels its tasks, which complete with `URLError.cancelled`. Has no effect on the shared session.
  ///
  /// New tasks fail from now on. After the last task has completed, the session calls its delegate's
  /// ``URLSessionDelegate/urlSession(_:didBecomeInvalidWithError:)`` and releases the delegate.
  open func invalidateAndCancel() { invalidate(cancelling: true) }

  // MARK: Connections and stored data

  /// Makes later requests open new connections. The session's current connections are closed after the requests that use or await
  /// them have ended.
  ///
  /// The method writes nothing to the disk: cookies and credentials exist only in memory, and responses are cached when received.
  ///
  /// - Parameter completionHandler: Called immediately on the delegate queue, without waiting for the tasks in progress.
  @preconcurrency
  open func flush(completionHandler: @escaping @Sendable () -> Void) { renewConnections(then: completionHandler) }

  private func renewConnections(then completionHandler: @escaping @Sendable () -> Void) {
    client.renewConnections()
    delivery.perform { completionHandler() }
  }

  /// Removes the cookies, credentials and cached responses from the session's storages, and the client certificates that the
  /// session's delegates have chosen. Also makes later requests open new connections, like ``flush(completionHandler:)``.
  ///
  /// - Parameter completionHandler: Called immediately on the delegate queue, without waiting for the tasks in progress.
  @preconcurrency
  open func reset(completionHandler: @escaping @Sendable () -> Void) {
    client.removeStoredData()
    renewConnections(then: completionHandler)
  }
}

extension URLSession {
  /// The task executor of the session's event loop, or of the first event loop if there are several.
  ///
  /// A Swift task that prefers this executor (`Task(executorPreference:)`, `withTaskExecutorPreference`) runs on the thread that
  /// also serves the session's sockets, so that its requests wake fewer threads. The Swift task must not block, because it would
  /// also block the event loop. Reading the property starts the session's engine if necessary, and throws a `URLError` if the
  /// engine can't be started. ``flush(completionHandler:)`` and ``reset(completionHandler:)`` replace the event loop and its
  /// executor.
  public var executor: any TaskExecutor { get throws { try client.executor() } }
}
