// Delegates and handlers written before Swift 6: completion handlers aren't @Sendable, and state isn't protected.
// Never run; it has to compile without warnings.

import Alamofire
import Foundation

class LoggingSessionDelegate: SessionDelegate, @unchecked Sendable {
  override func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    print("URLSession will perform HTTP redirection to request: \(request)")
    super.urlSession(
      session, task: task, willPerformHTTPRedirection: response, newRequest: request,
      completionHandler: completionHandler)
  }

  override func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    super.urlSession(session, task: task, didReceive: challenge) { disposition, credential in
      print("URLSession answers the challenge: \(disposition)")
      completionHandler(disposition, credential)
    }
  }

  override func urlSession(
    _ session: URLSession, task: URLSessionTask, needNewBodyStream completionHandler: @escaping (InputStream?) -> Void
  ) {
    super.urlSession(session, task: task, needNewBodyStream: completionHandler)
  }

  override func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    super.urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
  }

  override func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
    completionHandler: @escaping (CachedURLResponse?) -> Void
  ) {
    super.urlSession(
      session, dataTask: dataTask, willCacheResponse: proposedResponse, completionHandler: completionHandler)
  }
}

// As in code for Apple's systems, neither final nor declared Sendable.
class CountingDelegate: NSObject, URLSessionDataDelegate {
  var bytes = 0
  var pending: ((URLRequest?) -> Void)?

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    pending = completionHandler
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    DispatchQueue.global().async { completionHandler(.performDefaultHandling, nil) }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { bytes += data.count }
}

final class SavingDelegate: NSObject, URLSessionDownloadDelegate {
  var files: [URL] = []

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    files.append(location)
  }
}

final class OuterInterceptor: RequestInterceptor {
  let inner = RetryPolicy()

  func adapt(
    _ urlRequest: URLRequest, for session: Session, completion: @escaping (Result<URLRequest, Error>) -> Void
  ) {
    inner.adapt(urlRequest, for: session, completion: completion)
  }

  func retry(
    _ request: Request, for session: Session, dueTo error: Error, completion: @escaping (RetryResult) -> Void
  ) {
    inner.retry(request, for: session, dueTo: error, completion: completion)
  }
}

final class OuterHandler: CachedResponseHandler, RedirectHandler {
  func dataTask(
    _ task: URLSessionDataTask, willCacheResponse response: CachedURLResponse,
    completion: @escaping (CachedURLResponse?) -> Void
  ) {
    ResponseCacher.cache.dataTask(task, willCacheResponse: response, completion: completion)
  }

  func task(
    _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
    completion: @escaping (URLRequest?) -> Void
  ) {
    Redirector.follow.task(task, willBeRedirectedTo: request, for: response, completion: completion)
  }
}

func taskCount(of session: URLSession) -> Int {
  var count = 0
  session.getAllTasks { count = $0.count }
  return count
}
