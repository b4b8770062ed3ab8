// URLSessionDelegate+Defaults: the default implementations, which are called if a delegate doesn't implement a method. They behave as
// in Foundation.

public import Foundation

// The default implementation of a completion form calls the async form, unless the delegate is known to lack both forms. That of an
// async form calls the completion form, unless it is itself called by the completion form's default implementation; then its answer
// is ignored.

extension URLSessionDelegate {
  /// Default implementation. Does nothing.
  public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}

  /// Default implementation. Does nothing.
  public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {}

  /// Default implementation. Calls the async form, if the delegate implements it. Otherwise answers with each proposed credential once,
  /// and lets the trust roots decide about a server's certificate.
  @preconcurrency
  public func urlSession(
    _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    @Sendable func passOn() { completionHandler(.performDefaultHandling, nil) }
    if session.lacks(.sessionChallenge, self) { return passOn() }
    AsyncForm.sessionChallenge.call(of: self, orElse: passOn, completion: { completionHandler($0.0, $0.1) }) {
      await self.urlSession(session, didReceive: challenge)
    }
  }

  /// Default implementation. Calls the completion form, if the delegate implements it. Otherwise answers like its default.
  public func urlSession(
    _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
    if AsyncForm.sessionChallenge.reachesDefault(of: self, in: session) { return (.performDefaultHandling, nil) }
    return await firstAnswer { answer in urlSession(session, didReceive: challenge) { answer(($0, $1)) } }
  }
}

extension URLSessionTaskDelegate {
  /// Default implementation. Does nothing.
  public func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {}

  /// Default implementation. Calls the async form, if the delegate implements it. Otherwise, a task's own delegate calls the
  /// session's, if there is one, and the last delegate follows the redirect.
  @preconcurrency
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    @Sendable func passOn() {
      guard let next = task.delegate(after: self) else { return completionHandler(request) }
      next.urlSession(
        session, task: task, willPerformHTTPRedirection: response, newRequest: request,
        completionHandler: completionHandler)
    }
    if session.lacks(.redirect, self) { return passOn() }
    AsyncForm.redirect.call(of: self, orElse: passOn, completion: completionHandler) {
      await self.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: request)
    }
  }

  /// Default implementation. Calls the completion form, if the delegate implements it. Otherwise answers like its default.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest
  ) async -> URLRequest? {
    if AsyncForm.redirect.reachesDefault(of: self, in: session) { return nil }
    return await firstAnswer {
      urlSession(
        session, task: task, willPerformHTTPRedirection: response, newRequest: request, completionHandler: $0)
    }
  }

  /// Default implementation. Calls the async form, if the delegate implements it. Otherwise, a task's own delegate passes the
  /// challenge to the session's, if there is one, and the last delegate calls `urlSession(_:didReceive:completionHandler:)` of the
  /// session's delegate.
  @preconcurrency
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    @Sendable func passOn() {
      if let next = task.delegate(after: self) {
        guard next !== session.delegates?.session else {
          return task.askSession(session, challenge, answer: completionHandler)
        }
        return next.urlSession(session, task: task, didReceive: challenge, completionHandler: completionHandler)
      }
      session.ask(challenge, answer: completionHandler)
    }
    if session.lacks(.taskChallenge, self) { return passOn() }
    AsyncForm.taskChallenge.call(of: self, orElse: passOn, completion: { completionHandler($0.0, $0.1) }) {
      await self.urlSession(session, task: task, didReceive: challenge)
    }
  }

  /// Default implementation. Calls the completion form, if the delegate implements it. Otherwise answers like its default.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
    if AsyncForm.taskChallenge.reachesDefault(of: self, in: session) { return (.performDefaultHandling, nil) }
    return await firstAnswer { answer in
      urlSession(session, task: task, didReceive: challenge) { answer(($0, $1)) }
    }
  }

  /// Default implementation. Calls the async form, if the delegate implements it. Otherwise, a task's own delegate calls the
  /// session's, if there is one, and the last delegate provides no stream, so that the task fails with
  /// `URLError.requestBodyStreamExhausted`.
  @preconcurrency
  public func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) {
    @Sendable func passOn() {
      guard let next = task.delegate(after: self) else { return completionHandler(nil) }
      next.urlSession(session, task: task, needNewBodyStream: completionHandler)
    }
    if session.lacks(.bodyStream, self) { return passOn() }
    AsyncForm.bodyStream.call(of: self, orElse: passOn, completion: { completionHandler($0?.stream) }) {
      await self.urlSession(session, needNewBodyStreamForTask: task).map(BodyStream.box)
    }
  }

  /// Default implementation. Calls the completion form, if the delegate implements it. Otherwise answers like its default.
  public func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream? {
    if AsyncForm.bodyStream.reachesDefault(of: self, in: session) { return nil }
    return await firstAnswer { answer in
      urlSession(session, task: task, needNewBodyStream: { answer($0.map(BodyStream.box)) })
    }?.stream
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

  /// Default implementation. Calls the async form, if the delegate implements it. Otherwise, a task's own delegate calls the
  /// session's, if there is one, and the last delegate sends the request unchanged.
  @preconcurrency
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
  ) {
    @Sendable func passOn() {
      guard let next = task.delegate(after: self) else { return completionHandler(.continueLoading, nil) }
      next.urlSession(session, task: task, willBeginDelayedRequest: request, completionHandler: completionHandler)
    }
    if session.lacks(.delayedRequest, self) { return passOn() }
    AsyncForm.delayedRequest.call(of: self, orElse: passOn, completion: { completionHandler($0.0, $0.1) }) {
      await self.urlSession(session, task: task, willBeginDelayedRequest: request)
    }
  }

  /// Default implementation. Calls the completion form, if the delegate implements it. Otherwise answers like its default.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
  ) async -> (URLSession.DelayedRequestDisposition, URLRequest?) {
    if AsyncForm.delayedRequest.reachesDefault(of: self, in: session) { return (.continueLoading, nil) }
    return await firstAnswer { answer in
      urlSession(session, task: task, willBeginDelayedRequest: request) { answer(($0, $1)) }
    }
  }
}

extension URLSessionDataDelegate {
  /// Default implementation. Calls the async form, if the delegate implements it. Otherwise, a task's own delegate calls the
  /// session's, if there is one, and the last delegate accepts the body.
  @preconcurrency
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    @Sendable func passOn() {
      guard let next = dataTask.dataDelegate(after: self) else { return completionHandler(.allow) }
      next.urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
    }
    if session.lacks(.response, self) { return passOn() }
    AsyncForm.response.call(of: self, orElse: passOn, completion: completionHandler) {
      await self.urlSession(session, dataTask: dataTask, didReceive: response)
    }
  }

  /// Default implementation. Calls the completion form, if the delegate implements it. Otherwise answers like its default.
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
  ) async -> URLSession.ResponseDisposition {
    if AsyncForm.response.reachesDefault(of: self, in: session) { return .allow }
    return await firstAnswer {
      urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: $0)
    }
  }

  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate does nothing.
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
  ) { dataTask.dataDelegate(after: self)?.urlSession(session, dataTask: dataTask, didBecome: downloadTask) }

  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate discards the part.
  public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    dataTask.dataDelegate(after: self)?.urlSession(session, dataTask: dataTask, didReceive: data)
  }

  /// Default implementation. Calls the async form, if the delegate implements it. Otherwise, a task's own delegate calls the
  /// session's, if there is one, and the last delegate lets the session store the proposed response.
  @preconcurrency
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
    completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
  ) {
    @Sendable func passOn() {
      guard let next = dataTask.dataDelegate(after: self) else {
        return dataTask.leaveCachingDecision(on: proposedResponse, completionHandler)
      }
      next.urlSession(
        session, dataTask: dataTask, willCacheResponse: proposedResponse, completionHandler: completionHandler)
    }
    if session.lacks(.caching, self) { return passOn() }
    AsyncForm.caching.call(of: self, orElse: passOn, completion: completionHandler) {
      await self.urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse)
    }
  }

  /// Default implementation. Calls the completion form, if the delegate implements it. Otherwise answers like its default.
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
  ) async -> CachedURLResponse? {
    if AsyncForm.caching.reachesDefault(of: self, in: session) { return nil }
    return await firstAnswer {
      urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse, completionHandler: $0)
    }
  }
}

extension URLSessionDownloadDelegate {
  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate does nothing.
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
  ) {
    downloadTask.downloadDelegate(after: self)?.urlSession(
      session, downloadTask: downloadTask, didWriteData: bytesWritten, totalBytesWritten: totalBytesWritten,
      totalBytesExpectedToWrite: totalBytesExpectedToWrite)
  }

  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate does nothing.
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64
  ) {
    downloadTask.downloadDelegate(after: self)?.urlSession(
      session, downloadTask: downloadTask, didResumeAtOffset: fileOffset, expectedTotalBytes: expectedTotalBytes)
  }
}
