// SessionDelegateClosures: a session delegate's closures, each of which overrides the behavior of one event.

public import Foundation
public import LupineURLSession

// Unchecked because the class is open. Each closure is protected by its wrapper's Mutex.
/// The closures of a ``SessionDelegate``, which inherits them from this class. A subclass of ``SessionDelegate`` may override them.
open class SessionDelegateClosures: NSObject, @unchecked Sendable {
  /// Creates an object without closures.
  public override init() {}

  /// The closure that is called when the session has become invalid.
  @EventClosure open var sessionDidBecomeInvalidWithError: ((URLSession, (any Error)?) -> Void)?

  /// The closure that answers a server trust challenge (`NSURLAuthenticationMethodServerTrust`), or a challenge that belongs to no
  /// request. It isn't called for a server that the host's trust policy doesn't trust.
  @EventClosure open var sessionDidReceiveChallenge:
    ((URLSession, URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?))?

  /// The closure that answers the challenges of ``sessionDidReceiveChallenge`` asynchronously. If it is set,
  /// ``sessionDidReceiveChallenge`` isn't called.
  @EventClosure open var sessionDidReceiveChallengeWithCompletion:
    (
      (URLSession, URLAuthenticationChallenge, @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
        -> Void
    )?

  /// The closure that is called when all events of a background session have been delivered.
  @EventClosure open var sessionDidFinishEventsForBackgroundURLSession: ((URLSession) -> Void)?

  /// The closure that returns the request with which to follow a redirect. If it returns nil, the redirect isn't followed, and the
  /// redirect's response is delivered.
  @EventClosure open var taskWillPerformHTTPRedirection:
    ((URLSession, URLSessionTask, HTTPURLResponse, URLRequest) -> URLRequest?)?

  /// The closure that decides about a redirect asynchronously. If it is set, ``taskWillPerformHTTPRedirection`` isn't called.
  @EventClosure open var taskWillPerformHTTPRedirectionWithCompletion:
    ((URLSession, URLSessionTask, HTTPURLResponse, URLRequest, @escaping (URLRequest?) -> Void) -> Void)?

  /// The closure that answers an authentication challenge for a request. If it is set, the request's credential isn't used.
  @EventClosure open var taskDidReceiveChallenge:
    ((URLSession, URLSessionTask, URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?))?

  /// The closure that answers an authentication challenge for a request asynchronously. If it is set, ``taskDidReceiveChallenge``
  /// isn't called.
  @EventClosure open var taskDidReceiveChallengeWithCompletion:
    (
      (
        URLSession, URLSessionTask, URLAuthenticationChallenge,
        @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
      ) -> Void
    )?

  /// The closure that provides the body stream of a streamed upload, in place of the request's stream.
  @EventClosure open var taskNeedNewBodyStream: ((URLSession, URLSessionTask) -> InputStream?)?

  /// The closure that provides the body stream of a streamed upload asynchronously. If it is set, ``taskNeedNewBodyStream`` isn't
  /// called.
  @EventClosure open var taskNeedNewBodyStreamWithCompletion:
    ((URLSession, URLSessionTask, @escaping (InputStream?) -> Void) -> Void)?

  /// The closure that is called with the progress of sending a request body. If it is set, the request doesn't report that
  /// progress.
  @EventClosure open var taskDidSendBodyData: ((URLSession, URLSessionTask, Int64, Int64, Int64) -> Void)?

  /// The closure that is called when a task has completed and won't be retried, before the request's response handlers run.
  @EventClosure open var taskDidComplete: ((URLSession, URLSessionTask, (any Error)?) -> Void)?

  /// The closure that decides whether to receive the response body.
  @EventClosure open var dataTaskDidReceiveResponse:
    ((URLSession, URLSessionDataTask, URLResponse) -> URLSession.ResponseDisposition)?

  /// The closure that decides asynchronously whether to receive the response body. If it is set, ``dataTaskDidReceiveResponse``
  /// isn't called.
  @EventClosure open var dataTaskDidReceiveResponseWithCompletion:
    ((URLSession, URLSessionDataTask, URLResponse, @escaping (URLSession.ResponseDisposition) -> Void) -> Void)?

  /// The closure that is called when a data task has become a download task, because the decision about its response was
  /// `becomeDownload`.
  @EventClosure open var dataTaskDidBecomeDownloadTask:
    ((URLSession, URLSessionDataTask, URLSessionDownloadTask) -> Void)?

  /// The closure that receives each part of a response body. If it is set, the request doesn't collect the body.
  @EventClosure open var dataTaskDidReceiveData: ((URLSession, URLSessionDataTask, Data) -> Void)?

  /// The closure that returns the response to store in the cache, or nil to store none.
  @EventClosure open var dataTaskWillCacheResponse:
    ((URLSession, URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?)?

  /// The closure that decides asynchronously which response to store in the cache. If it is set, ``dataTaskWillCacheResponse``
  /// isn't called.
  @EventClosure open var dataTaskWillCacheResponseWithCompletion:
    ((URLSession, URLSessionDataTask, CachedURLResponse, @escaping (CachedURLResponse?) -> Void) -> Void)?

  /// The closure that receives a downloaded file. If it is set, the request doesn't move the file to its destination.
  @EventClosure open var downloadTaskDidFinishDownloadingToURL: ((URLSession, URLSessionDownloadTask, URL) -> Void)?

  /// The closure that is called with the progress of a download. If it is set, the request doesn't report that progress.
  @EventClosure open var downloadTaskDidWriteData: ((URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void)?

  /// The closure that is called when a download is resumed. If it is set, the request doesn't report that progress.
  @EventClosure open var downloadTaskDidResumeAtOffset: ((URLSession, URLSessionDownloadTask, Int64, Int64) -> Void)?

  /// The closure that is called when the reading side of a stream is closed.
  @EventClosure open var streamTaskReadClosed: ((URLSession, URLSessionStreamTask) -> Void)?

  /// The closure that is called when the writing side of a stream is closed.
  @EventClosure open var streamTaskWriteClosed: ((URLSession, URLSessionStreamTask) -> Void)?

  /// The closure for a better route of a stream. Never called on Linux.
  @EventClosure open var streamTaskBetterRouteDiscovered: ((URLSession, URLSessionStreamTask) -> Void)?

  /// The closure that receives the captured streams of a stream task.
  @EventClosure open var streamTaskDidBecomeInputAndOutputStreams:
    ((URLSession, URLSessionStreamTask, InputStream, OutputStream) -> Void)?
}
