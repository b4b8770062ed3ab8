// URLSessionDelegate+Defaults: the default implementations, which are called if a delegate doesn't implement a method. They behave as
// in Foundation.

public import Foundation

extension URLSessionDelegate {
  /// Default implementation. Does nothing.
  public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}

  /// Default implementation. Does nothing.
  public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {}

  /// Default implementation. Answers with each proposed credential once. The trust roots decide about a server's certificate.
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
  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate follows the redirect.
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

  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate calls
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

  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate provides no stream, so
  /// that the task fails with `URLError.requestBodyStreamExhausted`.
  @preconcurrency
  public func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) {
    guard let next = task.delegate(after: self) else { return completionHandler(nil) }
    next.urlSession(session, task: task, needNewBodyStream: completionHandler)
  }

  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate does nothing.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    task.delegate(after: self)?.urlSession(
      session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
      totalBytesExpectedToSend: totalBytesExpectedToSend)
  }

  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate does nothing.
  public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
    task.delegate(after: self)?.urlSession(session, taskIsWaitingForConnectivity: task)
  }

  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate does nothing.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
  ) { task.delegate(after: self)?.urlSession(session, task: task, didFinishCollecting: metrics) }

  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate does nothing.
  public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    task.delegate(after: self)?.urlSession(session, task: task, didCompleteWithError: error)
  }

  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate sends the request
  /// unchanged.
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
  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate accepts the body.
  @preconcurrency
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    guard let next = dataTask.dataDelegate(after: self) else { return completionHandler(.allow) }
    next.urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
  }

  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate does nothing.
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
  ) { dataTask.dataDelegate(after: self)?.urlSession(session, dataTask: dataTask, didBecome: downloadTask) }

  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate discards the part.
  public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    dataTask.dataDelegate(after: self)?.urlSession(session, dataTask: dataTask, didReceive: data)
  }

  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate lets the session store
  /// the proposed response.
  @preconcurrency
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
    completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
  ) {
    guard let next = dataTask.dataDelegate(after: self) else {
      return dataTask.leaveCachingDecision(on: proposedResponse, completionHandler)
    }
    next.urlSession(
      session, dataTask: dataTask, willCacheResponse: proposedResponse, completionHandler: completionHandler)
  }
}

extension URLSessionDownloadDelegate {
  /// Default implementation. Does nothing.
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
  ) {}

  /// Default implementation. Does nothing.
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64
  ) {}
}
