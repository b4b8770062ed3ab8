// `SessionDelegate`: receives the events of a session's tasks and passes them to the requests.

public import Foundation
public import LupineURLSession
import Synchronization

// Unchecked because the class is open. All state is constant or protected by the Mutex.
/// The delegate that passes the events of a ``Session``'s tasks to the session's requests and monitors. Its methods are called on
/// the session's root queue. A subclass that overrides a method must call `super`.
open class SessionDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, URLSessionWebSocketDelegate,
  @unchecked Sendable
{
  private struct Wiring {
    weak var session: Session?
    var eventMonitor: CompositeEventMonitor?
  }

  let fileManager: FileManager
  private let wiring = Mutex(Wiring())
  // Read without the lock, because most sessions have none of these.
  private let hasMonitors = Atomic(false)
  private let hasCachedResponseHandler = Atomic(false)
  private let limitsBodies = Atomic(false)

  /// Creates a delegate for a ``Session``.
  ///
  /// - Parameter fileManager: The file manager that moves downloaded files to their destinations.
  public init(fileManager: FileManager = .default) {
    self.fileManager = fileManager
  }

  /// Attaches the delegate to its session, and restores the session's background tasks. Called after the evaluation of servers'
  /// certificates has been configured.
  func attach(to session: Session) {
    let monitors = session.eventMonitor.hasListeners ? session.eventMonitor : nil
    wiring.withLock { $0 = Wiring(session: session, eventMonitor: monitors) }
    hasMonitors.store(monitors != nil, ordering: .releasing)
    hasCachedResponseHandler.store(session.cachedResponseHandler != nil, ordering: .releasing)
    limitsBodies.store(session.session.collectedBodyLimit != nil, ordering: .releasing)
    session.session.restoreBackgroundTasks()
  }

  /// The session's monitors, or nil if none of them observes URLSession's events. The monitors of a single request aren't included,
  /// because they receive only the request's own events.
  private var monitors: CompositeEventMonitor? {
    hasMonitors.load(ordering: .acquiring) ? wiring.withLock { $0.eventMonitor } : nil
  }

  /// The name of the delegate's type, as a textual description.
  open override var description: String { "\(type(of: self))" }

  // MARK: URLSessionDelegate

  /// Makes the session's unfinished requests fail with `AFError.sessionInvalidated(error:)`.
  open func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
    let wiring = wiring.withLock { $0 }
    wiring.eventMonitor?.urlSession(session, didBecomeInvalidWithError: error)
    wiring.session?.endRequests(with: .sessionInvalidated(error: error))
  }

  // MARK: URLSessionTaskDelegate

  /// Answers an authentication challenge. If it comes from the request's own origin, the answer is the request's credential, and
  /// otherwise the credential that the session's storage proposes. After the server has rejected a credential, doesn't send another
  /// one.
  @preconcurrency
  open func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    monitors?.urlSession(session, task: task, didReceive: challenge)
    // The credential answers only one challenge, because a server that has rejected it would reject it again.
    guard challenge.previousFailureCount == 0 else { return completionHandler(.rejectProtectionSpace, nil) }
    guard let credential = task.request?.credential(for: challenge.protectionSpace, of: task) else {
      return completionHandler(.performDefaultHandling, nil)
    }
    completionHandler(.useCredential, credential)
  }

  /// Reports the progress of sending the request body to the request.
  open func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    monitors?.urlSession(
      session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
      totalBytesExpectedToSend: totalBytesExpectedToSend)
    task.request?.didSend(totalBytesSent, of: totalBytesExpectedToSend)
  }

  /// Provides the stream from which the upload's body is sent. Every call provides the same stream. If the body isn't a stream, the
  /// task fails.
  @preconcurrency
  open func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) {
    monitors?.urlSession(session, taskNeedsNewBodyStream: task)
    completionHandler(task.request?.inputStream())
  }

  /// Lets the redirect handler of the request or, if it has none, of the session decide about a redirect. If there is no handler,
  /// follows the redirect.
  @preconcurrency
  open func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    monitors?.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: request)
    guard let handler = task.request?.redirectHandler ?? wiring.withLock({ $0.session })?.redirectHandler else {
      return completionHandler(request)
    }
    handler.task(task, willBeRedirectedTo: request, for: response, completion: completionHandler)
  }

  /// Passes the metrics of a task to the task's request.
  open func urlSession(
    _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
  ) {
    monitors?.urlSession(session, task: task, didFinishCollecting: metrics)
    task.request?.didGather(metrics)
  }

  /// Notifies a task's request that the task has ended.
  open func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    if let refusal = error?.serverTrustRefusal as? AFError { task.request?.didFail(task, earlyWith: refusal) }
    monitors?.urlSession(session, task: task, didCompleteWithError: error)
    task.request?.taskDidComplete(
      task,
      with: error.map { error in
        // If the session is invalid, a cancellation comes from the invalidation, not from the request. Other errors are the
        // task's own.
        let isInvalidated = !session.isValid && (error as? URLError)?.code == .cancelled
        return isInvalidated ? .sessionInvalidated(error: nil) : error.asAFError(or: .sessionTaskFailed(error: error))
      })
  }

  /// Notifies the monitors that a task waits for a network.
  open func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
    monitors?.urlSession(session, taskIsWaitingForConnectivity: task)
  }

  // MARK: URLSessionDataDelegate

  /// Lets the request's `onHTTPResponse` handler decide whether to receive the response body. Without such a handler, receives the
  /// body. Refuses the body of a data request or an upload if its declared length exceeds the session's `bodyBytesMax`.
  @preconcurrency
  open func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    monitors?.urlSession(session, dataTask: dataTask, didReceive: response)
    guard let request = dataTask.request else { return completionHandler(.allow) }
    if let error = request.refusal(of: response, to: dataTask, in: session) {
      request.didFail(dataTask, earlyWith: .sessionTaskFailed(error: error))
      return completionHandler(.cancel)
    }
    guard let response = response as? HTTPURLResponse, let decision = request.responseDecision else {
      return completionHandler(.allow)
    }
    decision.ask(about: response, of: request, completionHandler: completionHandler)
  }

  /// Passes a piece of the response body to the task's request.
  open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    monitors?.urlSession(session, dataTask: dataTask, didReceive: data)
    dataTask.request?.didReceive(data, from: dataTask, in: session)
  }

  /// Whether the delegate must receive all events of all tasks. This is the case if it is an instance of a subclass or has
  /// monitors.
  fileprivate var isWatched: Bool { isSubclass || hasMonitors.load(ordering: .acquiring) }

  fileprivate var isSubclass: Bool { type(of: self) != SessionDelegate.self }

  fileprivate func cachedResponseHandler(for task: URLSessionTask) -> (any CachedResponseHandler)? {
    task.request?.cachedResponseHandler ?? wiring.withLock { $0.session }?.cachedResponseHandler
  }

  /// Lets the cached-response handler of the request or, if it has none, of the session decide how to cache the response.
  @preconcurrency
  open func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
    completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
  ) {
    monitors?.urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse)
    guard let handler = cachedResponseHandler(for: dataTask) else {
      return dataTask.leaveCachingDecision(on: proposedResponse, completionHandler)
    }
    handler.dataTask(dataTask, willCacheResponse: proposedResponse, completion: completionHandler)
  }

  // MARK: URLSessionDownloadDelegate

  /// Notifies the task's request of the offset at which its download was resumed.
  open func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64
  ) {
    monitors?.urlSession(
      session, downloadTask: downloadTask, didResumeAtOffset: fileOffset, expectedTotalBytes: expectedTotalBytes)
    downloadTask.request?.didReceive(fileOffset, of: expectedTotalBytes)
  }

  /// Reports the progress of the download to the task's request.
  open func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
  ) {
    monitors?.urlSession(
      session, downloadTask: downloadTask, didWriteData: bytesWritten, totalBytesWritten: totalBytesWritten,
      totalBytesExpectedToWrite: totalBytesExpectedToWrite)
    downloadTask.request?.didReceive(totalBytesWritten, of: totalBytesExpectedToWrite)
  }

  /// Moves the downloaded file to the destination of the task's request.
  open func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
  ) {
    monitors?.urlSession(session, downloadTask: downloadTask, didFinishDownloadingTo: location)
    downloadTask.request?.didFinishDownloading(using: downloadTask, to: location, fileManager)
  }

  // MARK: URLSessionWebSocketDelegate

  /// Notifies the task's request that its connection is open.
  open func urlSession(
    _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
  ) { webSocketTask.request?.didConnect(protocol: `protocol`) }

  /// Notifies the task's request that the server has closed the connection.
  open func urlSession(
    _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
    didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
  ) { webSocketTask.request?.didDisconnect(closeCode: closeCode, reason: reason) }
}

// The delegate restores background tasks itself, in `attach(to:)`.
extension SessionDelegate: DeferredRestoration {}

// The delegate doesn't decide on servers' certificates. A `ServerTrustManager` evaluates them without a hop to the root queue.
extension SessionDelegate: SelectiveTrustDelegate {
  package static var mayDecideOnTrust: Bool { false }
  package var decidesOnTrust: Bool { false }
}

extension SessionDelegate: CredentialDelegate {
  package func credential(of task: URLSessionTask, for space: URLProtectionSpace) -> URLCredential? {
    // A subclass may answer the challenge in another way.
    isSubclass ? nil : task.request?.credential(for: space, of: task)
  }
}

extension Request {
  /// Returns the credential of `authenticate(with:)` if the protection space is at the request's own origin. If a redirect leads to
  /// another origin, that origin must not receive the credential.
  fileprivate func credential(for space: URLProtectionSpace, of task: URLSessionTask) -> URLCredential? {
    task.originalRequest?.url.map(space.isAt) == true ? credential : nil
  }
}

extension SessionDelegate: SelectiveDataDelegate {
  package func needsResponse(of task: URLSessionDataTask) -> Bool {
    isWatched || limitsBodies.load(ordering: .acquiring) || task.request?.has(.responseDecision) == true
  }

  package func needsCachingDecision(for task: URLSessionDataTask) -> Bool {
    isWatched || hasCachedResponseHandler.load(ordering: .acquiring)
      || task.request?.has(.cachedResponseHandler) == true
  }

  package func keptBody(of task: URLSessionDataTask) -> Data? { task.request?.keptBody }

  // Waits for the handlers of a stream, which may still be running. If one of them throws an error, the error ends the request
  // before its validation.
  package func urlSession(drain task: URLSessionDataTask, completion: @escaping @Sendable () -> Void) {
    guard let request = task.request else { return completion() }
    request.drain(completion)
  }
}

extension URLSessionTask {
  /// The request to which the task belongs, or nil after the task has completed.
  var request: Request? { owner as? Request }
}
