// SessionDelegate's closures, each of which overrides the behavior of one event.

public import Foundation
public import LupineURLSession

extension SessionDelegate {
  /// Called when the session has become invalid.
  public var sessionDidBecomeInvalidWithError: ((URLSession, (any Error)?) -> Void)? {
    get { overrides.closures.sessionDidBecomeInvalidWithError }
    set { update { $0.sessionDidBecomeInvalidWithError = newValue } }
  }

  /// Answers a server trust challenge (`NSURLAuthenticationMethodServerTrust`), or a challenge that belongs to no request. Not
  /// called for a server that the host's trust policy doesn't trust.
  public var sessionDidReceiveChallenge:
    ((URLSession, URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?))?
  {
    get { overrides.closures.sessionDidReceiveChallenge }
    set { update { $0.sessionDidReceiveChallenge = newValue } }
  }

  /// Answers the challenges of ``sessionDidReceiveChallenge`` asynchronously, with a completion handler. If this closure is set,
  /// ``sessionDidReceiveChallenge`` isn't called.
  public var sessionDidReceiveChallengeWithCompletion:
    (
      (URLSession, URLAuthenticationChallenge, @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
        -> Void
    )?
  {
    get { overrides.closures.sessionDidReceiveChallengeWithCompletion }
    set { update { $0.sessionDidReceiveChallengeWithCompletion = newValue } }
  }

  /// Called when all events of a background session have been delivered.
  public var sessionDidFinishEventsForBackgroundURLSession: ((URLSession) -> Void)? {
    get { overrides.closures.sessionDidFinishEventsForBackgroundURLSession }
    set { update { $0.sessionDidFinishEventsForBackgroundURLSession = newValue } }
  }

  /// Returns the request that follows a redirect, or nil to deliver the redirecting response.
  public var taskWillPerformHTTPRedirection: ((URLSession, URLSessionTask, HTTPURLResponse, URLRequest) -> URLRequest?)?
  {
    get { overrides.closures.taskWillPerformHTTPRedirection }
    set { update { $0.taskWillPerformHTTPRedirection = newValue } }
  }

  /// Decides about a redirect asynchronously, with a completion handler. If this closure is set,
  /// ``taskWillPerformHTTPRedirection`` isn't called.
  public var taskWillPerformHTTPRedirectionWithCompletion:
    ((URLSession, URLSessionTask, HTTPURLResponse, URLRequest, @escaping (URLRequest?) -> Void) -> Void)?
  {
    get { overrides.closures.taskWillPerformHTTPRedirectionWithCompletion }
    set { update { $0.taskWillPerformHTTPRedirectionWithCompletion = newValue } }
  }

  /// Answers an authentication challenge for a request. If this closure is set, the request's credential isn't used.
  public var taskDidReceiveChallenge:
    ((URLSession, URLSessionTask, URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?))?
  {
    get { overrides.closures.taskDidReceiveChallenge }
    set { update { $0.taskDidReceiveChallenge = newValue } }
  }

  /// Answers an authentication challenge for a request asynchronously, with a completion handler. If this closure is set,
  /// ``taskDidReceiveChallenge`` isn't called.
  public var taskDidReceiveChallengeWithCompletion:
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

  /// Provides the body of a streamed upload, instead of the request's stream.
  public var taskNeedNewBodyStream: ((URLSession, URLSessionTask) -> InputStream?)? {
    get { overrides.closures.taskNeedNewBodyStream }
    set { update { $0.taskNeedNewBodyStream = newValue } }
  }

  /// Provides the body of a streamed upload asynchronously, with a completion handler. If this closure is set,
  /// ``taskNeedNewBodyStream`` isn't called.
  public var taskNeedNewBodyStreamWithCompletion:
    ((URLSession, URLSessionTask, @escaping (InputStream?) -> Void) -> Void)?
  {
    get { overrides.closures.taskNeedNewBodyStreamWithCompletion }
    set { update { $0.taskNeedNewBodyStreamWithCompletion = newValue } }
  }

  /// Called with the progress of a request's body, instead of the request's progress handler.
  public var taskDidSendBodyData: ((URLSession, URLSessionTask, Int64, Int64, Int64) -> Void)? {
    get { overrides.closures.taskDidSendBodyData }
    set { update { $0.taskDidSendBodyData = newValue } }
  }

  /// Called when a task has completed and won't be retried, before the request's response handlers.
  public var taskDidComplete: ((URLSession, URLSessionTask, (any Error)?) -> Void)? {
    get { overrides.closures.taskDidComplete }
    set { update { $0.taskDidComplete = newValue } }
  }

  /// Decides whether a response's body is received.
  public var dataTaskDidReceiveResponse:
    ((URLSession, URLSessionDataTask, URLResponse) -> URLSession.ResponseDisposition)?
  {
    get { overrides.closures.dataTaskDidReceiveResponse }
    set { update { $0.dataTaskDidReceiveResponse = newValue } }
  }

  /// Decides asynchronously, with a completion handler, whether a response's body is received. If this closure is set,
  /// ``dataTaskDidReceiveResponse`` isn't called.
  public var dataTaskDidReceiveResponseWithCompletion:
    ((URLSession, URLSessionDataTask, URLResponse, @escaping (URLSession.ResponseDisposition) -> Void) -> Void)?
  {
    get { overrides.closures.dataTaskDidReceiveResponseWithCompletion }
    set { update { $0.dataTaskDidReceiveResponseWithCompletion = newValue } }
  }

  /// Called when a data task has become a download, because the decision about its response was `becomeDownload`.
  public var dataTaskDidBecomeDownloadTask: ((URLSession, URLSessionDataTask, URLSessionDownloadTask) -> Void)? {
    get { overrides.closures.dataTaskDidBecomeDownloadTask }
    set { update { $0.dataTaskDidBecomeDownloadTask = newValue } }
  }

  /// Receives each part of a response's body. If this closure is set, the request doesn't collect the body.
  public var dataTaskDidReceiveData: ((URLSession, URLSessionDataTask, Data) -> Void)? {
    get { overrides.closures.dataTaskDidReceiveData }
    set { update { $0.dataTaskDidReceiveData = newValue } }
  }

  /// Returns the response to store in the cache, or nil to store none.
  public var dataTaskWillCacheResponse: ((URLSession, URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?)? {
    get { overrides.closures.dataTaskWillCacheResponse }
    set { update { $0.dataTaskWillCacheResponse = newValue } }
  }

  /// Decides asynchronously, with a completion handler, which response to store in the cache. If this closure is set,
  /// ``dataTaskWillCacheResponse`` isn't called.
  public var dataTaskWillCacheResponseWithCompletion:
    ((URLSession, URLSessionDataTask, CachedURLResponse, @escaping (CachedURLResponse?) -> Void) -> Void)?
  {
    get { overrides.closures.dataTaskWillCacheResponseWithCompletion }
    set { update { $0.dataTaskWillCacheResponseWithCompletion = newValue } }
  }

  /// Receives a downloaded file. If this closure is set, the request doesn't move the file to its destination.
  public var downloadTaskDidFinishDownloadingToURL: ((URLSession, URLSessionDownloadTask, URL) -> Void)? {
    get { overrides.closures.downloadTaskDidFinishDownloadingToURL }
    set { update { $0.downloadTaskDidFinishDownloadingToURL = newValue } }
  }

  /// Called with the progress of a download, instead of the request's progress handler.
  public var downloadTaskDidWriteData: ((URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void)? {
    get { overrides.closures.downloadTaskDidWriteData }
    set { update { $0.downloadTaskDidWriteData = newValue } }
  }

  /// Called when a download is continued, instead of the request's progress handler.
  public var downloadTaskDidResumeAtOffset: ((URLSession, URLSessionDownloadTask, Int64, Int64) -> Void)? {
    get { overrides.closures.downloadTaskDidResumeAtOffset }
    set { update { $0.downloadTaskDidResumeAtOffset = newValue } }
  }
}
