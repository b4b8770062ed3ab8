// Who hears of a URLSession's tasks, call by call, on its delegate queue.

public import Foundation

/// Hears of the session itself.
@preconcurrency
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
  /// The session was invalidated and its last task has ended; it lets go of its delegate now.
  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)
}

/// Hears of tasks of every kind.
@preconcurrency
public protocol URLSessionTaskDelegate: URLSessionDelegate {
  /// The server redirects; `completionHandler` is to be called with the request to send, or nil to take the response.
  @preconcurrency
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)
  /// The server asks for a credential. Only a challenge of the method `NSURLAuthenticationMethodHTTPBasic` can be answered
  /// with one; for Digest, NTLM and Negotiate the 401 is the response, unless the challenge is cancelled.
  @preconcurrency
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
  /// A body is to be read from its start, for the first time or again behind a redirect, a challenge or a connection that
  /// turned out to be closed; `completionHandler` is to be called with a stream that wasn't opened, or nil to fail the task.
  @preconcurrency
  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void)
  /// A part of the request's body was sent. The counts are in bytes; the expected one is -1 if it isn't known. The total
  /// never goes back: a body that is sent again counts again only beyond what was counted.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64)
  /// The task was measured; called once, before its completion.
  func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)
  /// The task has ended; nothing more is said of it.
  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

/// Hears of tasks whose body is handed over as it comes.
@preconcurrency
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
  /// The response's head came; its body waits until `completionHandler` has said what is to become of it.
  @preconcurrency
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)
  /// A piece of the body came.
  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
  /// The response is complete and might be stored; `completionHandler` is to be called with what is to be stored, or nil.
  @preconcurrency
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
    completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void)
}

/// Hears of tasks whose body is written into a file.
@preconcurrency
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
  /// The body is complete in the file at `location`, which is removed when this returns, unless it was moved away.
  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)
  /// A part of the body was written. The counts are in bytes; the expected one is -1 if it isn't known.
  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)
  /// The server goes on where an earlier download had stopped. The counts are in bytes.
  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64)
}

// What happens without an answer of the delegate's own: as Foundation does it where a method isn't implemented.

extension URLSessionDelegate {
  /// Nothing is done.
  public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}
}

extension URLSessionTaskDelegate {
  /// The redirect is followed.
  @preconcurrency
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) { completionHandler(request) }

  /// The proposed credential is offered once, if there is one.
  @preconcurrency
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) { completionHandler(.performDefaultHandling, nil) }

  /// There is no other stream.
  @preconcurrency
  public func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) { completionHandler(nil) }

  /// Nothing is done.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {}

  /// Nothing is done.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
  ) {}

  /// Nothing is done.
  public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {}
}

extension URLSessionDataDelegate {
  /// The body is wanted.
  @preconcurrency
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) { completionHandler(.allow) }

  /// Nothing is done.
  public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}

  /// The response may be stored as it is.
  @preconcurrency
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
    completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
  ) { completionHandler(proposedResponse) }
}

extension URLSessionDownloadDelegate {
  /// Nothing is done.
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
  ) {}

  /// Nothing is done.
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64
  ) {}
}
