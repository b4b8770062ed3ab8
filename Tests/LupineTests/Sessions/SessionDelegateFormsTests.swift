// SessionDelegateFormsTests: the async forms of SessionDelegate's methods, which call the methods that a subclass overrides.

import Foundation
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct SessionDelegateFormsTests {
  /// A SessionDelegate that refuses everything.
  private final class Refusing: SessionDelegate, @unchecked Sendable {
    override func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      completionHandler(.cancelAuthenticationChallenge, nil)
    }

    override func urlSession(
      _ session: URLSession, task: URLSessionTask,
      needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
      completionHandler(InputStream(data: Data("body".utf8)))
    }

    override func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      completionHandler(nil)
    }

    override func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
      completionHandler(.cancel)
    }

    override func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
      completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
      completionHandler(nil)
    }
  }

  @Test("the async forms of SessionDelegate's methods call the methods that a subclass overrides")
  func forms() async throws {
    let url = try #require(URL(string: "http://localhost/"))
    let head = try #require(HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: nil))
    let cached = CachedURLResponse(response: head, data: Data())
    let space = URLProtectionSpace(host: "h", port: 1, protocol: nil, realm: nil, authenticationMethod: nil)
    let challenge = URLAuthenticationChallenge(
      protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil)
    for (delegate, isRefusing) in [(Refusing(), true), (SessionDelegate(), false)] {
      let session = Session(delegate: delegate)
      let task = session.session.dataTask(with: url)
      let redirected = await delegate.urlSession(
        session.session, task: task, willPerformHTTPRedirection: head, newRequest: URLRequest(url: url))
      #expect((redirected == nil) == isRefusing)
      let stream = await delegate.urlSession(session.session, needNewBodyStreamForTask: task)
      #expect((stream == nil) != isRefusing)
      let answer = await delegate.urlSession(session.session, task: task, didReceive: challenge).0
      #expect(answer == (isRefusing ? .cancelAuthenticationChallenge : .performDefaultHandling))
      #expect(await delegate.urlSession(session.session, didReceive: challenge).0 == .performDefaultHandling)
      let disposition = await delegate.urlSession(session.session, dataTask: task, didReceive: head)
      #expect(disposition == (isRefusing ? .cancel : .allow))
      let stored = await delegate.urlSession(session.session, dataTask: task, willCacheResponse: cached)
      #expect((stored == nil) == isRefusing)
    }
  }
}
