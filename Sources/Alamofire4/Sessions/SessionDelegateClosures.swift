// SessionDelegateClosures: a session delegate's closures, each of which overrides the behavior of one event.

public import Foundation
public import LupineURLSession
import Synchronization

// Unchecked because the class is open. All state is in the Mutex.
/// The closures of a ``SessionDelegate``, which inherits them from this class. A subclass of ``SessionDelegate`` may override them.
open class SessionDelegateClosures: NSObject, @unchecked Sendable {
  private let latestOverrides = Mutex(DelegateOverrides())

  /// Creates an object without closures.
  public override init() {}

  private var overrides: DelegateOverrides { latestOverrides.withLock { $0 } }

  private func update(_ change: (inout DelegateClosures) -> Void) {
    let earlier = latestOverrides.withLock { overrides in
      let earlier = overrides
      var closures = earlier.closures
      change(&closures)
      overrides = DelegateOverrides(closures)
      return earlier
    }
    // A replaced closure is released outside the lock, because the deinitializers of what it captures may use the delegate.
    withExtendedLifetime(earlier) {}
  }

  /// The closure that is called when the session has become invalid.
  open var sessionDidBecomeInvalidWithError: ((URLSession, (any Error)?) -> Void)? {
    get { overrides.closures.sessionDidBecomeInvalidWithError }
    set { update { $0.sessionDidBecomeInvalidWithError = newValue } }
  }

  /// The closure that answers a server trust challenge (`NSURLAuthenticationMethodServerTrust`), or a challenge that belongs to no
  /// request. It isn't called for a server that the host's trust policy doesn't trust.
  open var sessionDidReceiveChallenge:
    ((URLSession, URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?))?
  {
    get { overrides.closures.sessionDidReceiveChallenge }
    set { update { $0.sessionDidReceiveChallenge = newValue } }
  }

  /// The closure that answers the challenges of ``sessionDidReceiveChallenge`` asynchronously. If it is set,
  /// ``sessionDidReceiveChallenge`` isn't called.
  open var sessionDidReceiveChallengeWithCompletion:
    (
      (URLSession, URLAuthenticationChallenge, @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
        -> Void
    )?
  {
    get { overrides.closures.sessionDidReceiveChallengeWithCompletion }
    set { update { $0.sessionDidReceiveChallengeWithCompletion = newValue } }
  }

  /// The closure that is called when all events of a background session have been delivered.
  open var sessionDidFinishEventsForBackgroundURLSession: ((URLSession) -> Void)? {
    get { overrides.closures.sessionDidFinishEventsForBackgroundURLSession }
    set { update { $0.sessionDidFinishEventsForBackgroundURLSession = newValue } }
  }

  /// The closure that returns the request with which to follow a redirect. If it returns nil, the redirect isn't followed, and the
  /// redirect's response is delivered.
  open var taskWillPerformHTTPRedirection: ((URLSession, URLSessionTask, HTTPURLResponse, URLRequest) -> URLRequest?)?
  {
    get { overrides.closures.taskWillPerformHTTPRedirection }
    set { update { $0.taskWillPerformHTTPRedirection = newValue } }
  }

  /// The closure that decides about a redirect asynchronously. If it is set, ``taskWillPerformHTTPRedirection`` isn't called.
  open var taskWillPerformHTTPRedirectionWithCompletion:
    ((URLSession, URLSessionTask, HTTPURLResponse, URLRequest, @escaping (URLRequest?) -> Void) -> Void)?
  {
    get { overrides.closures.taskWillPerformHTTPRedirectionWithCompletion }
    set { update { $0.taskWillPerformHTTPRedirectionWithCompletion = newValue } }
  }

  /// The closure that answers an authentication challenge for a request. If it is set, the request's credential isn't used.
  open var taskDidReceiveChallenge:
    ((URLSession, URLSessionTask, URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?))?
  {
    get { overrides.closures.taskDidReceiveChallenge }
    set { update { $0.taskDidReceiveChallenge = newValue } }
  }

  /// The closure that answers an authentication challenge for a request asynchronously. If it is set, ``taskDidReceiveChallenge``
  /// isn't called.
  open var taskDidReceiveChallengeWithCompletion:
    (
      (
        URLSession, URLSessionTask, URLAuthenticationChallenge,
        @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
      ) -> Void
    )?
  {
    get { overrides.closures.taskDidReceiveChallengeWithCompletion }
    set { update { $0.taskDidReceiveChallengeWithCompletion = newValue } }
  }

  /// The closure that provides the body stream of a streamed upload, in place of the request's stream.
  open var taskNeedNewBodyStream: ((URLSession, URLSessionTask) -> InputStream?)? {
    get { overrides.closures.taskNeedNewBodyStream }
    set { update { $0.taskNeedNewBodyStream = newValue } }
  }

  /// The closure that provides the body stream of a streamed upload asynchronously. If it is set, ``taskNeedNewBodyStream`` isn't
  /// called.
  open var taskNeedNewBodyStreamWithCompletion:
    ((URLSession, URLSessionTask, @escaping (InputStream?) -> Void) -> Void)?
  {
    get { overrides.closures.taskNeedNewBodyStreamWithCompletion }
    set { update { $0.taskNeedNewBodyStreamWithCompletion = newValue } }
  }

  /// The closure that is called with the progress of sending a request body. If it is set, the request doesn't report that
  /// progress.
  open var taskDidSendBodyData: ((URLSession, URLSessionTask, Int64, Int64, Int64) -> Void)? {
    get { overrides.closures.taskDidSendBodyData }
    set { update { $0.taskDidSendBodyData = newValue } }
  }

  /// The closure that is called when a task has completed and won't be retried, before the request's response handlers run.
  open var taskDidComplete: ((URLSession, URLSessionTask, (any Error)?) -> Void)? {
    get { overrides.closures.taskDidComplete }
    set { update { $0.taskDidComplete = newValue } }
  }

  /// The closure that decides whether to receive the response body.
  open var dataTaskDidReceiveResponse:
    ((URLSession, URLSessionDataTask, URLResponse) -> URLSession.ResponseDisposition)?
  {
    get { overrides.closures.dataTaskDidReceiveResponse }
    set { update { $0.dataTaskDidReceiveResponse = newValue } }
  }

  /// The closure that decides asynchronously whether to receive the response body. If it is set, ``dataTaskDidReceiveResponse``
  /// isn't called.
  open var dataTaskDidReceiveResponseWithCompletion:
    ((URLSession, URLSessionDataTask, URLResponse, @escaping (URLSession.ResponseDisposition) -> Void) -> Void)?
  {
    get { overrides.closures.dataTaskDidReceiveResponseWithCompletion }
    set { update { $0.dataTaskDidReceiveResponseWithCompletion = newValue } }
  }

  /// The closure that is called when a data task has become a download task, because the decision about its response was
  /// `becomeDownload`.
  open var dataTaskDidBecomeDownloadTask: ((URLSession, URLSessionDataTask, URLSessionDownloadTask) -> Void)? {
    get { overrides.closures.dataTaskDidBecomeDownloadTask }
    set { update { $0.dataTaskDidBecomeDownloadTask = newValue } }
  }

  /// The closure that receives each part of a response body. If it is set, the request doesn't collect the body.
  open var dataTaskDidReceiveData: ((URLSession, URLSessionDataTask, Data) -> Void)? {
    get { overrides.closures.dataTaskDidReceiveData }
    set { update { $0.dataTaskDidReceiveData = newValue } }
  }

  /// The closure that returns the response to store in the cache, or nil to store none.
  open var dataTaskWillCacheResponse: ((URLSession, URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?)? {
    get { overrides.closures.dataTaskWillCacheResponse }
    set { update { $0.dataTaskWillCacheResponse = newValue } }
  }

  /// The closure that decides asynchronously which response to store in the cache. If it is set, ``dataTaskWillCacheResponse``
  /// isn't called.
  open var dataTaskWillCacheResponseWithCompletion:
    ((URLSession, URLSessionDataTask, CachedURLResponse, @escaping (CachedURLResponse?) -> Void) -> Void)?
  {
    get { overrides.closures.dataTaskWillCacheResponseWithCompletion }
    set { update { $0.dataTaskWillCacheResponseWithCompletion = newValue } }
  }

  /// The closure that receives a downloaded file. If it is set, the request doesn't move the file to its destination.
  open var downloadTaskDidFinishDownloadingToURL: ((URLSession, URLSessionDownloadTask, URL) -> Void)? {
    get { overrides.closures.downloadTaskDidFinishDownloadingToURL }
    set { update { $0.downloadTaskDidFinishDownloadingToURL = newValue } }
  }

  /// The closure that is called with the progress of a download. If it is set, the request doesn't report that progress.
  open var downloadTaskDidWriteData: ((URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void)? {
    get { overrides.closures.downloadTaskDidWriteData }
    set { update { $0.downloadTaskDidWriteData = newValue } }
  }

  /// The closure that is called when a download is resumed. If it is set, the request doesn't report that progress.
  open var downloadTaskDidResumeAtOffset: ((URLSession, URLSessionDownloadTask, Int64, Int64) -> Void)? {
    get { overrides.closures.downloadTaskDidResumeAtOffset }
    set { update { $0.downloadTaskDidResumeAtOffset = newValue } }
  }

  /// The closure that is called when the reading side of a stream is closed.
  open var streamTaskReadClosed: ((URLSession, URLSessionStreamTask) -> Void)? {
    get { overrides.closures.streamTaskReadClosed }
    set { update { $0.streamTaskReadClosed = newValue } }
  }

  /// The closure that is called when the writing side of a stream is closed.
  open var streamTaskWriteClosed: ((URLSession, URLSessionStreamTask) -> Void)? {
    get { overrides.closures.streamTaskWriteClosed }
    set { update { $0.streamTaskWriteClosed = newValue } }
  }

  /// The closure for a better route of a stream. Never called on Linux.
  open var streamTaskBetterRouteDiscovered: ((URLSession, URLSessionStreamTask) -> Void)? {
    get { overrides.closures.streamTaskBetterRouteDiscovered }
    set { update { $0.streamTaskBetterRouteDiscovered = newValue } }
  }

  /// The closure that receives the captured streams of a stream task.
  open var streamTaskDidBecomeInputAndOutputStreams:
    ((URLSession, URLSessionStreamTask, InputStream, OutputStream) -> Void)?
  {
    get { overrides.closures.streamTaskDidBecomeInputAndOutputStreams }
    set { update { $0.streamTaskDidBecomeInputAndOutputStreams = newValue } }
  }
}
