// DelegateClosures: the closures by which a program overrides a session delegate's methods.

import Foundation
import LupineURLSession

// Unchecked because closures of Alamofire 4's programs aren't Sendable. They are called on the session's queue.
/// The closures of a ``SessionDelegate``. Each closure has the parameters of the method that it overrides.
struct DelegateClosures: @unchecked Sendable {
  var sessionDidBecomeInvalidWithError: ((URLSession, (any Error)?) -> Void)?
  var sessionDidReceiveChallenge:
    ((URLSession, URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?))?
  var sessionDidReceiveChallengeWithCompletion:
    (
      (URLSession, URLAuthenticationChallenge, @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
        -> Void
    )?
  var sessionDidFinishEventsForBackgroundURLSession: ((URLSession) -> Void)?
  var taskWillPerformHTTPRedirection: ((URLSession, URLSessionTask, HTTPURLResponse, URLRequest) -> URLRequest?)?
  var taskWillPerformHTTPRedirectionWithCompletion:
    ((URLSession, URLSessionTask, HTTPURLResponse, URLRequest, @escaping (URLRequest?) -> Void) -> Void)?
  var taskDidReceiveChallenge:
    ((URLSession, URLSessionTask, URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?))?
  var taskDidReceiveChallengeWithCompletion:
    (
      (
        URLSession, URLSessionTask, URLAuthenticationChallenge,
        @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
      ) -> Void
    )?
  var taskNeedNewBodyStream: ((URLSession, URLSessionTask) -> InputStream?)?
  var taskNeedNewBodyStreamWithCompletion: ((URLSession, URLSessionTask, @escaping (InputStream?) -> Void) -> Void)?
  var taskDidSendBodyData: ((URLSession, URLSessionTask, Int64, Int64, Int64) -> Void)?
  var taskDidComplete: ((URLSession, URLSessionTask, (any Error)?) -> Void)?
  var dataTaskDidReceiveResponse: ((URLSession, URLSessionDataTask, URLResponse) -> URLSession.ResponseDisposition)?
  var dataTaskDidReceiveResponseWithCompletion:
    ((URLSession, URLSessionDataTask, URLResponse, @escaping (URLSession.ResponseDisposition) -> Void) -> Void)?
  var dataTaskDidBecomeDownloadTask: ((URLSession, URLSessionDataTask, URLSessionDownloadTask) -> Void)?
  var dataTaskDidReceiveData: ((URLSession, URLSessionDataTask, Data) -> Void)?
  var dataTaskWillCacheResponse: ((URLSession, URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?)?
  var dataTaskWillCacheResponseWithCompletion:
    ((URLSession, URLSessionDataTask, CachedURLResponse, @escaping (CachedURLResponse?) -> Void) -> Void)?
  var downloadTaskDidFinishDownloadingToURL: ((URLSession, URLSessionDownloadTask, URL) -> Void)?
  var downloadTaskDidWriteData: ((URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void)?
  var downloadTaskDidResumeAtOffset: ((URLSession, URLSessionDownloadTask, Int64, Int64) -> Void)?
  var streamTaskReadClosed: ((URLSession, URLSessionStreamTask) -> Void)?
  var streamTaskWriteClosed: ((URLSession, URLSessionStreamTask) -> Void)?
  var streamTaskBetterRouteDiscovered: ((URLSession, URLSessionStreamTask) -> Void)?
  var streamTaskDidBecomeInputAndOutputStreams: ((URLSession, URLSessionStreamTask, InputStream, OutputStream) -> Void)?
}

/// An immutable snapshot of a ``SessionDelegate``'s closures. Reading a closure retains only this object instead of all closures.
final class DelegateOverrides: Sendable {
  let closures: DelegateClosures

  init(_ closures: DelegateClosures = DelegateClosures()) { self.closures = closures }
}
