// SessionDelegate+AsyncForms: the async forms of a session delegate's methods, which subclasses can't override.

public import Foundation
public import LupineURLSession

// A session calls only the forms with completion handlers. If a subclass could declare one of these async forms, for example to
// refuse a challenge, it would never be called. Because they are declared here, the compiler reports it.
extension SessionDelegate {
  /// Calls ``urlSession(_:didReceive:completionHandler:)``, which a subclass overrides in place of this method.
  public func urlSession(
    _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
    await firstAnswer { answer in urlSession(session, didReceive: challenge) { answer(($0, $1)) } }
  }

  /// Calls ``urlSession(_:task:didReceive:completionHandler:)``, which a subclass overrides in place of this method.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
    await firstAnswer { answer in urlSession(session, task: task, didReceive: challenge) { answer(($0, $1)) } }
  }

  /// Calls ``urlSession(_:task:needNewBodyStream:)``, which a subclass overrides in place of this method.
  public func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream? {
    await firstAnswer { answer in
      urlSession(session, task: task, needNewBodyStream: { answer($0.map(BodyStream.box)) })
    }?.stream
  }

  /// Calls ``urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)``, which a subclass overrides in place of
  /// this method.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest
  ) async -> URLRequest? {
    await firstAnswer {
      urlSession(
        session, task: task, willPerformHTTPRedirection: response, newRequest: request, completionHandler: $0)
    }
  }

  /// Calls ``urlSession(_:dataTask:didReceive:completionHandler:)``, which a subclass overrides in place of this method.
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
  ) async -> URLSession.ResponseDisposition {
    await firstAnswer { urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: $0) }
  }

  /// Calls ``urlSession(_:dataTask:willCacheResponse:completionHandler:)``, which a subclass overrides in place of this method.
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
  ) async -> CachedURLResponse? {
    await firstAnswer {
      urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse, completionHandler: $0)
    }
  }
}
