// SessionDelegate: passes the events of a session's tasks to the requests, or to the closures that override their behavior.

public import Foundation
public import LupineURLSession
import Synchronization

// Unchecked because the class is open. All state is in the Mutex and in the superclass.
/// The delegate of a session manager's tasks, which passes the events of the tasks to the requests.
///
/// A closure overrides the behavior of one event. A subclass may override methods and call `super`, and it may override the closures.
/// The closures and the overriding methods are called on the session's delegate queue.
open class SessionDelegate: SessionDelegateClosures, URLSessionDataDelegate, URLSessionDownloadDelegate,
  @unchecked Sendable
{
  private struct Wiring {
    weak var manager: SessionManager?
    /// The active requests, by the identifiers of their tasks.
    var requests: [Int: Request] = [:]
  }

  private let wiring = Mutex(Wiring())

  /// Creates a delegate without closures.
  public override init() {}

  var manager: SessionManager? { wiring.withLock { $0.manager } }

  func attach(to manager: SessionManager) { wiring.withLock { $0.manager = manager } }

  /// The request to which `task` belongs, or nil after the task has completed and `Task.DidComplete` has been posted.
  open subscript(task: URLSessionTask) -> Request? {
    get { wiring.withLock { $0.requests[task.taskIdentifier] } }
    set {
      let identifier = task.taskIdentifier
      // The request is released outside the lock, because the deinitializer of an object that its closures own may send another.
      withExtendedLifetime(wiring.withLock { exchange(&$0.requests[identifier], with: newValue) }) {}
    }
  }

  /// The request to which `task` belongs. The same as the subscript without a label.
  public subscript(task task: URLSessionTask) -> Request? {
    get { self[task] }
    set { self[task] = newValue }
  }

  // MARK: URLSessionDelegate

  /// Calls the closure ``sessionDidBecomeInvalidWithError``, if it is set.
  open func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
    sessionDidBecomeInvalidWithError?(session, error)
  }

  /// Lets ``sessionDidReceiveChallenge`` or ``sessionDidReceiveChallengeWithCompletion`` answer a server trust challenge, or a
  /// challenge that belongs to no request. If neither closure is set, answers with the default handling. The engine has evaluated
  /// the host's trust policy before.
  @preconcurrency
  open func urlSession(
    _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    if let decide = sessionDidReceiveChallengeWithCompletion {
      return decide(session, challenge, completionHandler)
    }
    let answer = sessionDidReceiveChallenge?(session, challenge) ?? (.performDefaultHandling, nil)
    completionHandler(answer.0, answer.1)
  }

  /// Calls the closure ``sessionDidFinishEventsForBackgroundURLSession``, if it is set.
  open func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    sessionDidFinishEventsForBackgroundURLSession?(session)
  }

  // MARK: URLSessionTaskDelegate

  /// Lets ``taskWillPerformHTTPRedirection`` or ``taskWillPerformHTTPRedirectionWithCompletion`` decide about a redirect. If
  /// neither closure is set, follows the redirect with the proposed request.
  @preconcurrency
  open func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    if let decide = taskWillPerformHTTPRedirectionWithCompletion {
      return decide(session, task, response, request, completionHandler)
    }
    guard let decide = taskWillPerformHTTPRedirection else { return completionHandler(request) }
    completionHandler(decide(session, task, response, request))
  }

  /// Lets ``taskDidReceiveChallenge`` or ``taskDidReceiveChallengeWithCompletion`` answer an authentication challenge. If neither
  /// closure is set, the answer to a challenge from the request's own origin is the request's credential, and other challenges get
  /// the default handling. If an earlier answer failed, rejects the protection space.
  @preconcurrency
  open func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    if let decide = taskDidReceiveChallengeWithCompletion {
      return decide(session, task, challenge, completionHandler)
    }
    if let decide = taskDidReceiveChallenge {
      let answer = decide(session, task, challenge)
      return completionHandler(answer.0, answer.1)
    }
    guard let request = self[task] else {
      return urlSession(session, didReceive: challenge, completionHandler: completionHandler)
    }
    // A server that has rejected the credential would reject it again.
    guard challenge.previousFailureCount == 0 else { return completionHandler(.rejectProtectionSpace, nil) }
    guard let credential = request.credential(for: challenge.protectionSpace, of: task) else {
      return completionHandler(.performDefaultHandling, nil)
    }
    completionHandler(.useCredential, credential)
  }

  /// Provides the body stream that ``taskNeedNewBodyStream`` or ``taskNeedNewBodyStreamWithCompletion`` returns. If neither closure
  /// is set, provides the upload's own stream.
  @preconcurrency
  open func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) {
    if let provide = taskNeedNewBodyStreamWithCompletion {
      return provide(session, task, completionHandler)
    }
    if let provide = taskNeedNewBodyStream { return completionHandler(provide(session, task)) }
    guard case .upload(.stream(let stream), _)? = self[task]?.source else { return completionHandler(nil) }
    completionHandler(stream)
  }

  /// Calls ``taskDidSendBodyData``. If that closure isn't set, reports the progress to the upload.
  open func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    if let report = taskDidSendBodyData {
      return report(session, task, bytesSent, totalBytesSent, totalBytesExpectedToSend)
    }
    (self[task] as? UploadRequest)?.dataDelegate.uploadProgress
      .update(completed: totalBytesSent, total: totalBytesExpectedToSend)
  }

  /// Stores the task's metrics, which are part of the request's responses.
  open func urlSession(
    _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
  ) {
    self[task]?.taskDelegate.metrics = metrics
  }

  /// Validates the response after a task has ended. Then completes or retries the request.
  open func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    guard let request = self[task] else { return complete(session, task, with: error) }
    request.runValidations()
    let error = request.taskDelegate.error ?? error?.withoutTrustRefusal
    guard let error, let manager, let retrier = manager.retrier else { return complete(session, task, with: error) }
    manager.ask(retrier, toRetry: request, after: error) { [weak self] in
      self?.complete(session, task, with: error)
    }
  }

  /// Completes a request that won't be retried.
  private func complete(_ session: URLSession, _ task: URLSessionTask, with error: (any Error)?) {
    taskDidComplete?(session, task, error)
    let request = self[task]
    request?.taskDelegate.complete(with: error)
    var userInfo: [String: Any] = [Notification.Key.Task: task]
    if let data = request?.taskDelegate.data { userInfo[Notification.Key.ResponseData] = data }
    NotificationCenter.default.post(name: Notification.Name.Task.DidComplete, object: self, userInfo: userInfo)
    // Observers of the notification look up the task's request.
    self[task] = nil
  }

  // MARK: URLSessionDataDelegate

  /// Lets ``dataTaskDidReceiveResponse`` or ``dataTaskDidReceiveResponseWithCompletion`` decide whether the body is received. If
  /// neither closure is set, receives the body. Refuses a body in memory whose declared length exceeds the session's `bodyBytesMax`.
  @preconcurrency
  open func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    let body = (self[dataTask] as? DataRequest)?.dataDelegate
    if body?.refuses(response, of: dataTask, within: session.collectedBodyLimit) == true {
      return completionHandler(.cancel)
    }
    if let decide = dataTaskDidReceiveResponseWithCompletion {
      return decide(session, dataTask, response, completionHandler)
    }
    completionHandler(dataTaskDidReceiveResponse?(session, dataTask, response) ?? .allow)
  }

  /// Calls the closure ``dataTaskDidBecomeDownloadTask``, if it is set.
  open func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
  ) {
    dataTaskDidBecomeDownloadTask?(session, dataTask, downloadTask)
  }

  /// Calls ``dataTaskDidReceiveData``. If that closure isn't set, passes the part of the response body to the request.
  open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    if let receive = dataTaskDidReceiveData { return receive(session, dataTask, data) }
    (self[dataTask] as? DataRequest)?.dataDelegate.receive(data, from: dataTask, within: session.collectedBodyLimit)
  }

  /// Stores the response in the cache that ``dataTaskWillCacheResponse`` or ``dataTaskWillCacheResponseWithCompletion`` chooses. If
  /// neither closure is set, stores the received response unchanged.
  @preconcurrency
  open func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
    completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
  ) {
    if let decide = dataTaskWillCacheResponseWithCompletion {
      return decide(session, dataTask, proposedResponse, completionHandler)
    }
    guard let decide = dataTaskWillCacheResponse else {
      return dataTask.leaveCachingDecision(on: proposedResponse, completionHandler)
    }
    completionHandler(decide(session, dataTask, proposedResponse))
  }

  // MARK: URLSessionDownloadDelegate

  /// Calls ``downloadTaskDidFinishDownloadingToURL``. If that closure isn't set, moves the downloaded file to the request's
  /// destination.
  open func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
  ) {
    if let receive = downloadTaskDidFinishDownloadingToURL {
      return receive(session, downloadTask, location)
    }
    (self[downloadTask] as? DownloadRequest)?.downloadDelegate
      .receive(location, response: downloadTask.response as? HTTPURLResponse)
  }

  /// Calls ``downloadTaskDidWriteData``. If that closure isn't set, reports the progress to the request.
  open func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
  ) {
    if let report = downloadTaskDidWriteData {
      return report(session, downloadTask, bytesWritten, totalBytesWritten, totalBytesExpectedToWrite)
    }
    (self[downloadTask] as? DownloadRequest)?.downloadDelegate.progress
      .update(completed: totalBytesWritten, total: totalBytesExpectedToWrite)
  }

  /// Calls ``downloadTaskDidResumeAtOffset``. If that closure isn't set, reports the progress to the request.
  open func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64
  ) {
    if let report = downloadTaskDidResumeAtOffset {
      return report(session, downloadTask, fileOffset, expectedTotalBytes)
    }
    (self[downloadTask] as? DownloadRequest)?.downloadDelegate.progress
      .update(completed: fileOffset, total: expectedTotalBytes)
  }

  // MARK: URLSessionStreamDelegate

  /// Calls the closure ``streamTaskReadClosed``, if it is set.
  open func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
    streamTaskReadClosed?(session, streamTask)
  }

  /// Calls the closure ``streamTaskWriteClosed``, if it is set.
  open func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
    streamTaskWriteClosed?(session, streamTask)
  }

  /// Calls the closure ``streamTaskBetterRouteDiscovered``, if it is set.
  open func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask) {
    streamTaskBetterRouteDiscovered?(session, streamTask)
  }

  /// Calls the closure ``streamTaskDidBecomeInputAndOutputStreams``, if it is set. The task then no longer belongs to a request.
  open func urlSession(
    _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
    outputStream: OutputStream
  ) {
    streamTaskDidBecomeInputAndOutputStreams?(session, streamTask, inputStream, outputStream)
    self[streamTask] = nil
  }
}

extension SessionDelegate: URLSessionStreamDelegate {}

/// Defers the restoration of earlier processes' background tasks until the manager has set the trust policies.
extension SessionDelegate: DeferredRestoration {}

extension SessionDelegate: CredentialDelegate {
  package func credential(of task: URLSessionTask, for space: URLProtectionSpace) -> URLCredential? {
    // A closure or a subclass may answer the challenge in another way.
    guard type(of: self) == SessionDelegate.self, taskDidReceiveChallengeWithCompletion == nil,
      taskDidReceiveChallenge == nil
    else { return nil }
    return self[task]?.credential(for: space, of: task)
  }
}

extension Request {
  /// Returns the credential of `authenticate(usingCredential:)` if the protection space is at the request's own origin. If a
  /// redirect leads to another origin, that origin must not receive the credential.
  fileprivate func credential(for space: URLProtectionSpace, of task: URLSessionTask) -> URLCredential? {
    task.originalRequest?.url.map(space.isAt) == true ? taskDelegate.credential : nil
  }
}

extension SessionDelegate: SelectiveTrustDelegate {
  package static var mayDecideOnTrust: Bool { true }

  /// Whether this delegate itself answers server trust challenges. True if a closure for session challenges is set, or if this
  /// object is an instance of a subclass, which may override the method for challenges. If false, every challenge gets the default
  /// handling.
  package var decidesOnTrust: Bool {
    type(of: self) != SessionDelegate.self || sessionDidReceiveChallenge != nil
      || sessionDidReceiveChallengeWithCompletion != nil
  }
}

extension SessionDelegate: LateRetrying {
  func retry(_ request: Request, after error: any Error) {
    guard let manager, let retrier = manager.retrier else { return }
    let queue = request.taskDelegate.queue
    queue.isSuspended = true
    manager.ask(retrier, toRetry: request, after: error) { queue.isSuspended = false }
  }
}
