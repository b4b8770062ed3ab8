// The same delegates in Swift 6's language mode, with the completion handlers that it requires.
// Never run; it has to compile without warnings.

import Alamofire
import Foundation

class LoggingSessionDelegate: SessionDelegate, @unchecked Sendable {
  override func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    print("URLSession will perform HTTP redirection to request: \(request)")
    super.urlSession(
      session, task: task, willPerformHTTPRedirection: response, newRequest: request,
      completionHandler: completionHandler)
  }

  override func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    super.urlSession(session, task: task, didReceive: challenge) { disposition, credential in
      print("URLSession answers the challenge: \(disposition)")
      completionHandler(disposition, credential)
    }
  }

  override func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
    completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
  ) {
    super.urlSession(
      session, dataTask: dataTask, willCacheResponse: proposedResponse, completionHandler: completionHandler)
  }
}

// A completion handler needn't be @Sendable unless it is passed to other code.
final class RefusingDelegate: NSObject, URLSessionDataDelegate {
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    Task { completionHandler(.performDefaultHandling, nil) }
  }
}

@MainActor
final class Model {
  private(set) var names: [String: Any] = [:]

  @available(*, deprecated)
  func load(_ url: String) {
    AF.request(url).responseJSON { response in
      MainActor.assumeIsolated { self.names = response.value as? [String: Any] ?? [:] }
    }
  }
}
