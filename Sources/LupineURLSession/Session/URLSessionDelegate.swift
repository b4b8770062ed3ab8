// URLSessionDelegate: the protocols through which a session reports its tasks, on its delegate queue; the decisions that delegates
// make; and `Delegates`, a delegate in the forms in which it is called.

public import Foundation
import Synchronization

/// The methods that a session calls on its delegate queue to report events that concern the whole session.
///
/// Each method with a completion handler also has an async form, which returns the answer. A delegate implements one of the two forms;
/// if it implements both, the session calls only the one with the completion handler. The async form runs in a Swift task that begins
/// on the delegate queue, or on the actor to which the method is isolated. The request waits for its answer as for a completion
/// handler. If the request ends earlier, for example because it is cancelled, the method isn't cancelled, and its answer has no effect.
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
  /// Called when a background session has completed all tasks that earlier processes had resumed, after all other calls about these
  /// tasks. Not called if there were no such tasks, or if ``URLSessionConfiguration/sessionSendsLaunchEvents`` is false.
  ///
  /// - Parameter session: The background session.
  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
  /// Called in each TLS handshake in which a server or a proxy sends its certificate. Also called when a server requests a client
  /// certificate, or requires NTLM or Negotiate, unless the task's own delegate implements
  /// ``URLSessionTaskDelegate/urlSession(_:task:didReceive:completionHandler:)``. Other challenges are only passed to that method.
  ///
  /// The challenge of a TLS handshake has the authentication method ``NSURLAuthenticationMethodServerTrust`` and a
  /// ``URLProtectionSpace/serverTrust``. The handshake waits for the answer, up to the time limit of the handshake. There is no
  /// challenge if a connection is reused or a TLS session is resumed.
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
  /// The async form of ``urlSession(_:didReceive:completionHandler:)``, which returns the decision and the credential.
  func urlSession(
    _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)
}

/// The methods that a session calls on its delegate queue, one at a time, to report the events of tasks of all kinds.
@preconcurrency
public protocol URLSessionTaskDelegate: URLSessionDelegate {
  /// Called when a task has been created, before the method that creates it returns, on the caller's thread instead of the delegate
  /// queue. Also called for the tasks of async methods, on the session's delegate and on the delegate that such a method was given.
  ///
  /// Not called for the tasks of earlier processes in a background session, and for tasks that a session creates itself.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - task: The task, which hasn't been resumed yet.
  func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask)
  /// Called when a response redirects the task to another URL.
  ///
  /// The task waits until `completionHandler` is called, on any thread. By default, the task follows the redirect.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - task: The task.
  ///   - response: The redirect response.
  ///   - request: The request to send next, according to the rules of HTTP and the session's redirect rule.
  ///   - completionHandler: The closure that receives the request to send, which the delegate may have changed. If it receives nil,
  ///     the redirect response becomes the task's response.
  @preconcurrency
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)
  /// The async form of ``urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)``, which returns the request to
  /// send, or nil to refuse the redirect.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest
  ) async -> URLRequest?
  /// Called when a server or a proxy requires a credential. If it requests a client certificate, or requires NTLM or Negotiate, this
  /// method of a session's delegate is only called if the delegate doesn't implement
  /// ``URLSessionDelegate/urlSession(_:didReceive:completionHandler:)``.
  ///
  /// The task waits until `completionHandler` is called, on any thread. By default, it sends each proposed credential once.
  /// For Basic, Digest and NTLM, answer with a credential that has a user and a password. For Negotiate, answer with a credential
  /// whose user is empty, which means the process's Kerberos ticket. If a server offers several schemes, the delegate receives a
  /// challenge for each scheme, starting with the strongest, as long as it answers with `rejectProtectionSpace`.
  ///
  /// If the authentication method is `NSURLAuthenticationMethodClientCertificate`, the server requests a client certificate in the
  /// TLS handshake. Answer with a credential that has an identity. Otherwise, the request is sent without a certificate.
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
  /// The async form of ``urlSession(_:task:didReceive:completionHandler:)``, which returns the decision and the credential.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)
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
  /// The async form of ``urlSession(_:task:needNewBodyStream:)``, which returns the stream. As on Apple's systems, it has other
  /// argument labels.
  func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream?
  /// Called after a part of the request's body has been sent.
  ///
  /// The total never decreases: if a body is sent again, only bytes beyond the previous total are counted.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - task: The task.
  ///   - bytesSent: The number of bytes of the body that were sent since the previous call.
  ///   - totalBytesSent: The number of bytes of the body that were sent so far.
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
  /// The async form of ``urlSession(_:task:willBeginDelayedRequest:completionHandler:)``, which returns the decision and the request.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
  ) async -> (URLSession.DelayedRequestDisposition, URLRequest?)
  /// Called at most once per task, when it begins to wait for a network. See
  /// ``URLSessionConfiguration/waitsForConnectivity``.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - task: The task.
  func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)
  /// Called once per task with the task's metrics, before the call that reports the completion.
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
  ///   - error: A `URLError` or the error that a ``URLProtocol`` has reported. Nil if the response was received completely. A
  ///     status code of 400 or above isn't reported as an error.
  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

/// The methods that a session calls on its delegate queue to report the events of tasks that deliver the response's body in parts.
@preconcurrency
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
  /// Called when the response's head has been received.
  ///
  /// The task doesn't deliver the body until `completionHandler` is called, on any thread. By default, the body is delivered.
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
  /// The async form of ``urlSession(_:dataTask:didReceive:completionHandler:)``, which returns the decision about the body.
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
  ) async -> URLSession.ResponseDisposition
  /// Called when a data task has become a download task, because the delegate has answered its response with `becomeDownload`.
  ///
  /// This is the last call about the data task. The download task has the same identifier, request and description as the data
  /// task. The session reports the download task's events to the methods of ``URLSessionDownloadDelegate``.
  ///
  /// - Parameters:
  ///   - session: The session of the tasks.
  ///   - dataTask: The data task, which has completed without an error.
  ///   - downloadTask: The download task.
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask)
  /// Called with each part of the response's body, in order and after content decoding. While the delegate queue is busy, the task
  /// receives at most `engine.windowBytes` (1 MiB) of its body in advance. The default implementation discards the part.
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
  /// caching rules forbid storing the returned response. Not called for a body of more than 4 MiB that the cache can't store.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - dataTask: The task.
  ///   - proposedResponse: The response with its body, which would be stored by default.
  ///   - completionHandler: The closure that receives the response to store, or nil to store nothing.
  @preconcurrency
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
    completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void)
  /// The async form of ``urlSession(_:dataTask:willCacheResponse:completionHandler:)``, which returns the response to store, or nil
  /// to store nothing.
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
  ) async -> CachedURLResponse?
}

/// The methods that a session calls on its delegate queue to report the events of tasks that write the response's body to a file.
@preconcurrency
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
  /// Called when the entire body has been written to a temporary file. Move the file in this method, because the session removes it
  /// when the method returns.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - downloadTask: The task. Its response may have the status code of an error.
  ///   - location: The URL of a temporary file.
  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)
  /// Called after a part of the body has been written to the file. The default implementation does nothing.
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
  /// Called when the server continues an earlier download, before any bytes are written. The default implementation does nothing.
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

extension URLSession {
  /// The delegate's decision about a response's body.
  public enum ResponseDisposition: Int, Sendable {
    /// Discards the body. The task then completes with `URLError.cancelled`.
    case cancel = 0
    /// Delivers the body to the delegate while the body is being received.
    case allow = 1
    /// Turns the data task into a download task, which writes the body to a file. The session then calls
    /// ``URLSessionDataDelegate/urlSession(_:dataTask:didBecome:)``.
    case becomeDownload = 2
  }

  /// The delegate's decision about a request whose earliest begin date has passed.
  public enum DelayedRequestDisposition: Int, Sendable {
    /// Sends the task's request unchanged.
    case continueLoading = 0
    /// Sends the request that the delegate provides instead of the task's request.
    case useNewRequest = 1
    /// Cancels the task, which then completes with `URLError.cancelled`.
    case cancel = 2
  }

  /// The delegate's decision about an authentication challenge.
  public enum AuthChallengeDisposition: Int, Sendable {
    /// Sends the credential that the delegate passes with the decision. If the delegate passes none, the 401 or 407 response
    /// becomes the task's response.
    case useCredential = 0
    /// Sends the proposed credential. Each one is sent only once. If there is none, or if the server has refused all of them, the
    /// 401 or 407 response becomes the task's response.
    case performDefaultHandling = 1
    /// Cancels the request. The task then completes with `URLError.cancelled`.
    case cancelAuthenticationChallenge = 2
    /// Rejects this challenge. If the response offers another authentication scheme, the delegate receives a challenge for that
    /// scheme. Otherwise, the 401 or 407 response becomes the task's response.
    case rejectProtectionSpace = 3
  }
}

/// A session's delegate that states which of its methods it needs, so that tasks don't call the others. The delegate can also take
/// response bodies from tasks.
///
/// A session checks only once whether its delegate conforms to this protocol. All methods are called on the delegate queue.
package protocol SelectiveDataDelegate: URLSessionDataDelegate {
  /// Returns whether the task must ask this delegate whether to accept the response.
  func needsResponse(of task: URLSessionDataTask) -> Bool
  /// Returns whether the task must ask this delegate whether to store the response in the session's cache.
  func needsCachingDecision(for task: URLSessionDataTask) -> Bool
  /// Returns the response's body if the task's owner has collected it, so that the task doesn't collect it too. Otherwise nil.
  func keptBody(of task: URLSessionDataTask) -> Data?
  /// Calls `completion` when the task's owner has processed all delivered bytes. Called only if the body is streamed.
  func urlSession(drain task: URLSessionDataTask, completion: @escaping @Sendable () -> Void)
}

/// A session's delegate that answers challenges with a credential that is known before them.
package protocol CredentialDelegate: URLSessionDelegate {
  /// Returns the credential with which the delegate always answers the first challenge for a protection space. Returns nil if there
  /// is none, or if the delegate may decide otherwise. Called on any thread.
  func credential(of task: URLSessionTask, for space: URLProtectionSpace) -> URLCredential?
}

/// A session's delegate that states whether it decides about the certificates of servers. If it doesn't, TLS handshakes don't wait
/// for the delegate.
package protocol SelectiveTrustDelegate: URLSessionDelegate {
  /// Whether delegates of this type ever decide about the certificates of servers. If false, TLS handshakes never call the
  /// delegate.
  static var mayDecideOnTrust: Bool { get }
  /// Whether the delegate currently decides about the certificates of servers. Read on event loops, so the property must not block.
  var decidesOnTrust: Bool { get }
}

extension URLSession {
  /// A delegate, cast to each of the delegate protocols. The casts are made only once, because a cast costs more than calling a
  /// method.
  final class Delegates: Sendable {
    let session: any URLSessionDelegate
    let task: (any URLSessionTaskDelegate)?
    let data: (any URLSessionDataDelegate)?
    let download: (any URLSessionDownloadDelegate)?
    let selective: (any SelectiveDataDelegate)?
    /// The delegate as a `SelectiveTrustDelegate`, which states whether it decides about the certificates of servers. Nil for a
    /// task's own delegate, which never decides about certificates.
    let trust: (any SelectiveTrustDelegate)?
    /// The methods of which the session's delegate implements neither form, as far as calls have shown: a bit for each `AsyncForm`.
    let missingForms = Atomic<UInt8>(0)

    init(_ delegate: any URLSessionDelegate) {
      session = delegate
      task = delegate as? any URLSessionTaskDelegate
      data = delegate as? any URLSessionDataDelegate
      download = delegate as? any URLSessionDownloadDelegate
      selective = delegate as? any SelectiveDataDelegate
      trust = delegate as? any SelectiveTrustDelegate
    }

    /// Combines a task's delegate with the session's delegates (`others`). The session's delegates are called for the protocols to
    /// which `delegate` doesn't conform.
    init(_ delegate: any URLSessionTaskDelegate, orElse others: Delegates?) {
      session = delegate
      task = delegate
      data = delegate as? any URLSessionDataDelegate ?? others?.data
      download = delegate as? any URLSessionDownloadDelegate ?? others?.download
      selective = delegate is any URLSessionDataDelegate ? delegate as? any SelectiveDataDelegate : others?.selective
      trust = nil
    }
  }
}
