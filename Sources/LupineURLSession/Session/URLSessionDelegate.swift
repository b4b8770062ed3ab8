// URLSessionDelegate: the protocols through which a session reports its tasks, on its delegate queue.

public import Foundation

/// The methods that a session calls on its delegate queue about events that concern the session as a whole.
@preconcurrency
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
  /// Called once, after the session has been invalidated and its last task has completed. Afterward, the session releases its
  /// delegate.
  ///
  /// - Parameters:
  ///   - session: The session.
  ///   - error: The reason why a background session can't be used, such as `URLError.backgroundSessionInUseByAnotherProcess`,
  ///     or nil for a session that the program has invalidated.
  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)
  /// Called when all tasks that a background session has continued from earlier processes have completed, after all other calls
  /// about these tasks. Not called if there were no such tasks, or if none of them had been resumed.
  ///
  /// - Parameter session: The background session.
  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
  /// Called in each TLS handshake in which a server or a proxy sends its certificate. Also called when a server requires a
  /// credential, unless a delegate implements the method for the task.
  ///
  /// The challenges of handshakes have the authentication method ``NSURLAuthenticationMethodServerTrust`` and a
  /// ``URLProtectionSpace/serverTrust``. The handshake waits for the answer within its time limit. There is no challenge if a
  /// connection is reused or a TLS session is resumed.
  ///
  /// | Answer | Result |
  /// | --- | --- |
  /// | `useCredential` with `URLCredential(trust: serverTrust)` | the server is accepted, even if its certificate isn't valid |
  /// | `performDefaultHandling`, or `useCredential` with another credential | the trust roots decide, as without a delegate |
  /// | `rejectProtectionSpace` | the server is refused with `URLError.serverCertificateUntrusted` |
  /// | `cancelAuthenticationChallenge` | the tasks that wait for the connection complete with `URLError.cancelled` |
  ///
  /// - Parameters:
  ///   - session: The session.
  ///   - challenge: The challenge, with a proposed credential if one was found.
  ///   - completionHandler: The closure that receives the decision, and the credential for `useCredential`. May be called on any
  ///     thread. Only the first call has an effect.
  @preconcurrency
  func urlSession(
    _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
}

/// The methods that a session calls on its delegate queue about tasks of all kinds, one at a time.
@preconcurrency
public protocol URLSessionTaskDelegate: URLSessionDelegate {
  /// Called when a response redirects the task to another URL.
  ///
  /// The task waits until `completionHandler` is called, on any thread. By default, the task follows the redirect.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - task: The task.
  ///   - response: The response that redirects.
  ///   - request: The request to send next, according to the rules of HTTP and the session's redirect rule.
  ///   - completionHandler: The closure that receives the request to send, changed if necessary, or nil to use the redirect
  ///     response itself as the task's response.
  @preconcurrency
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)
  /// Called when a server or a proxy requires a credential.
  ///
  /// The task waits until `completionHandler` is called, on any thread. By default, the task sends the proposed credential once, if
  /// there is one. For Basic, Digest and NTLM, the answer is a credential with a user and a password. For Negotiate, it is a
  /// credential with an empty user, which means the process's Kerberos ticket. If a server offers several schemes, the delegate
  /// receives a challenge for each scheme, starting with the strongest, as long as it answers with `rejectProtectionSpace`.
  ///
  /// With `NSURLAuthenticationMethodClientCertificate`, the server requests a client certificate in the TLS handshake, before the
  /// request is sent. The answer is a credential with an identity; otherwise, the request is sent without a certificate.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - task: The task.
  ///   - challenge: The challenge, with a proposed credential if one was found.
  ///   - completionHandler: The closure that receives the decision, and the credential for `useCredential`.
  @preconcurrency
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
  /// Called when a task must send a streamed body from its start: for the first time, or again after a redirect, after a challenge
  /// or on a new connection.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - task: The task.
  ///   - completionHandler: The closure that receives a stream that hasn't been opened. If it receives nil (the default), the task
  ///     fails with `URLError.requestBodyStreamExhausted`. May be called on any thread.
  @preconcurrency
  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void)
  /// Called after a part of the request's body has been sent.
  ///
  /// The total never decreases: if a body is sent again, only bytes beyond the earlier total count.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - task: The task.
  ///   - bytesSent: The number of the body's bytes sent since the previous call.
  ///   - totalBytesSent: The number of the body's bytes sent so far.
  ///   - totalBytesExpectedToSend: The body's length in bytes, or ``NSURLSessionTransferSizeUnknown``.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64)
  /// Called when the ``URLSessionTask/earliestBeginDate`` of a task has passed, before the request is sent.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - task: The task.
  ///   - request: The task's request.
  ///   - completionHandler: The closure that receives the decision, and the request for `useNewRequest`. May be called on any
  ///     thread.
  @preconcurrency
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void)
  /// Called at most once per task, when it begins to wait for a network. See
  /// ``URLSessionConfiguration/waitsForConnectivity``.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - task: The task.
  func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)
  /// Called once per task, before the call about its completion, with the task's metrics.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - task: The task.
  ///   - metrics: The times and properties of all of the task's requests.
  func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)
  /// Called when a task has completed. This is the last call for the task.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - task: The task, with its final ``URLSessionTask/response``.
  ///   - error: A `URLError`, or nil if the response was received completely. A status code of 400 or above isn't reported as an
  ///     error.
  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

/// The methods that a session calls on its delegate queue about tasks that deliver the response's body in parts.
@preconcurrency
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
  /// Called when the response's head has been received.
  ///
  /// The task doesn't deliver the body until `completionHandler` is called, on any thread. By default, it delivers the body.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - dataTask: The task.
  ///   - response: The response's head, after redirects and challenges.
  ///   - completionHandler: The closure that receives the decision about the body.
  @preconcurrency
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)
  /// Called when a data task has become a download task, because the delegate's decision about its response was `becomeDownload`.
  ///
  /// This is the last call about the data task. The download task has the same identifier, request and description as the data
  /// task. The session reports its events to the methods of ``URLSessionDownloadDelegate``.
  ///
  /// - Parameters:
  ///   - session: The session of the tasks.
  ///   - dataTask: The data task, which has completed without an error.
  ///   - downloadTask: The download task.
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask)
  /// Called with each part of the response's body, in order and after content decoding. By default, the part is discarded.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - dataTask: The task.
  ///   - data: The next part of the body, at least 1 byte.
  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
  /// Called when a response that a cache may store has been received completely from the server.
  ///
  /// When `completionHandler` is called, on any thread, the session stores the response in its
  /// ``URLSessionConfiguration/urlCache``. Then the task completes. Nothing is stored if the session has no cache, or if HTTP's
  /// rules forbid storing the returned response.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - dataTask: The task.
  ///   - proposedResponse: The response with its body.
  ///   - completionHandler: The closure that receives the response to store, by default the proposed one, or nil to store nothing.
  @preconcurrency
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
    completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void)
}

/// The methods that a session calls on its delegate queue about tasks that write the response's body to a file.
@preconcurrency
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
  /// Called when the entire body has been written to a file. The session removes the file when this method returns, so the method
  /// must move it.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - downloadTask: The task. Its response may have the status code of an error.
  ///   - location: The URL of a temporary file.
  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)
  /// Called after a part of the body has been written to the file. By default, does nothing.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - downloadTask: The task.
  ///   - bytesWritten: The number of bytes written since the previous call.
  ///   - totalBytesWritten: The number of bytes in the file, including those of an earlier download that the task continues.
  ///   - totalBytesExpectedToWrite: The length of the entire file in bytes, or ``NSURLSessionTransferSizeUnknown``.
  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)
  /// Called when the server continues an earlier download, before any bytes are written. By default, does nothing.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - downloadTask: The task.
  ///   - fileOffset: The number of bytes that the file already contains.
  ///   - expectedTotalBytes: The length of the entire file in bytes, or ``NSURLSessionTransferSizeUnknown``.
  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64)
}

/// A session's delegate that states which of its methods it needs, so that tasks needn't call the others. It can also take response
/// bodies from tasks.
///
/// A session checks only once whether its delegate conforms to this protocol. All methods are called on the delegate queue.
package protocol SelectiveDataDelegate: URLSessionDataDelegate {
  /// Returns whether the task must ask this delegate what to do with the response.
  func needsResponse(of task: URLSessionDataTask) -> Bool
  /// Returns whether the task must ask this delegate whether to store the response in the cache.
  func needsCachingDecision(for task: URLSessionDataTask) -> Bool
  /// Returns the response's body if the task's owner has collected it, so that the task needn't collect it too. Returns nil
  /// otherwise.
  func keptBody(of task: URLSessionDataTask) -> Data?
  /// Calls `completion` once the task's owner has processed all body bytes that were delivered to it. Called only if the task has
  /// a receive window.
  func urlSession(drain task: URLSessionDataTask, completion: @escaping @Sendable () -> Void)
}

/// A session's delegate that states whether it decides on servers' certificates. If it doesn't decide, handshakes needn't wait for
/// it.
package protocol SelectiveTrustDelegate: URLSessionDelegate {
  /// Whether delegates of this type ever decide on servers' certificates. If false, handshakes never call the delegate.
  static var mayDecideOnTrust: Bool { get }
  /// Whether the delegate currently decides on servers' certificates. Read on event loops, so the property must not block.
  var decidesOnTrust: Bool { get }
}

// The default implementations, which are called if a delegate doesn't implement a method. They behave as in Foundation.

extension URLSessionDelegate {
  /// Does nothing.
  public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}

  /// Does nothing.
  public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {}

  /// The default implementation: answers with the proposed credential once, if there is one. A server's certificate is verified with
  /// the trust roots.
  @preconcurrency
  public func urlSession(
    _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    session.noteMissingChallengeMethod(of: self)
    completionHandler(.performDefaultHandling, nil)
  }
}

extension URLSessionTaskDelegate {
  /// If this is the task's own delegate, passes the call to the session's delegate. Otherwise follows the redirect unchanged.
  @preconcurrency
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    guard let next = task.delegate(after: self) else { return completionHandler(request) }
    next.urlSession(
      session, task: task, willPerformHTTPRedirection: response, newRequest: request,
      completionHandler: completionHandler)
  }

  /// If this is the task's own delegate, passes the call to the session's delegate. Otherwise calls
  /// `urlSession(_:didReceive:completionHandler:)` of the session's delegate.
  @preconcurrency
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    if let next = task.delegate(after: self) {
      return next.urlSession(session, task: task, didReceive: challenge, completionHandler: completionHandler)
    }
    guard let delegate = session.delegate else { return completionHandler(.performDefaultHandling, nil) }
    delegate.urlSession(session, didReceive: challenge, completionHandler: completionHandler)
  }

  /// If this is the task's own delegate, passes the call to the session's delegate. Otherwise provides no stream, which fails the
  /// task with `URLError.requestBodyStreamExhausted`.
  @preconcurrency
  public func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) {
    guard let next = task.delegate(after: self) else { return completionHandler(nil) }
    next.urlSession(session, task: task, needNewBodyStream: completionHandler)
  }

  /// If this is the task's own delegate, passes the call to the session's delegate. Otherwise does nothing.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    task.delegate(after: self)?.urlSession(
      session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
      totalBytesExpectedToSend: totalBytesExpectedToSend)
  }

  /// If this is the task's own delegate, passes the call to the session's delegate. Otherwise does nothing.
  public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
    task.delegate(after: self)?.urlSession(session, taskIsWaitingForConnectivity: task)
  }

  /// If this is the task's own delegate, passes the call to the session's delegate. Otherwise does nothing.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
  ) { task.delegate(after: self)?.urlSession(session, task: task, didFinishCollecting: metrics) }

  /// If this is the task's own delegate, passes the call to the session's delegate. Otherwise does nothing.
  public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    task.delegate(after: self)?.urlSession(session, task: task, didCompleteWithError: error)
  }

  /// If this is the task's own delegate, passes the call to the session's delegate. Otherwise sends the request unchanged.
  @preconcurrency
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
  ) {
    guard let next = task.delegate(after: self) else { return completionHandler(.continueLoading, nil) }
    next.urlSession(session, task: task, willBeginDelayedRequest: request, completionHandler: completionHandler)
  }
}

extension URLSessionDataDelegate {
  /// If this is the task's own delegate, passes the call to the session's delegate. Otherwise accepts the body.
  @preconcurrency
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    guard let next = dataTask.dataDelegate(after: self) else { return completionHandler(.allow) }
    next.urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
  }

  /// If this is the task's own delegate, passes the call to the session's delegate. Otherwise does nothing.
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
  ) { dataTask.dataDelegate(after: self)?.urlSession(session, dataTask: dataTask, didBecome: downloadTask) }

  /// If this is the task's own delegate, passes the call to the session's delegate. Otherwise discards the part.
  public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    dataTask.dataDelegate(after: self)?.urlSession(session, dataTask: dataTask, didReceive: data)
  }

  /// If this is the task's own delegate, passes the call to the session's delegate. Otherwise permits storing the proposed
  /// response.
  @preconcurrency
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
    completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
  ) {
    guard let next = dataTask.dataDelegate(after: self) else { return completionHandler(proposedResponse) }
    next.urlSession(
      session, dataTask: dataTask, willCacheResponse: proposedResponse, completionHandler: completionHandler)
  }
}

extension URLSessionDownloadDelegate {
  /// Does nothing.
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
  ) {}

  /// Does nothing.
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64
  ) {}
}
