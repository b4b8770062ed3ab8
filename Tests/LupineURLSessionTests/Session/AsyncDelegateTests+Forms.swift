// AsyncDelegateTests+Forms: which of a method's two forms is called, on which thread, and at which cost.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import LupineURLSession

extension AsyncDelegateTests {
  /// A delegate with both forms of a method. The async form refuses the redirect.
  private final class BothForms: NSObject, URLSessionTaskDelegate, Sendable {
    let notes = Notes()

    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      notes.add("completion handler")
      completionHandler(request)
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest
    ) async -> URLRequest? {
      notes.add("async")
      return nil
    }
  }

  /// A delegate that implements the completion forms. It refuses redirects, and calls each handler twice.
  private final class CompletionForms: NSObject, URLSessionTaskDelegate, Sendable {
    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      completionHandler(nil)
      completionHandler(request)
    }
  }

  /// A delegate whose async form calls another delegate and itself, and then refuses the redirect.
  private final class Forwarding: NSObject, URLSessionTaskDelegate, Sendable {
    private let inner: any URLSessionTaskDelegate
    let answers = Notes()

    init(to inner: any URLSessionTaskDelegate) { self.inner = inner }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest
    ) async -> URLRequest? {
      let answer = await inner.urlSession(
        session, task: task, willPerformHTTPRedirection: response, newRequest: request)
      answers.add(answer == nil ? "refused" : "followed")
      _ = await urlSession(session, task: task, willBeginDelayedRequest: request)
      return nil
    }
  }

  /// A delegate that is isolated to the main actor.
  @MainActor private final class OnMainActor: NSObject, URLSessionTaskDelegate {
    var count = 0

    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest
    ) async -> URLRequest? {
      MainActor.assertIsolated()
      count += 1
      return nil
    }
  }

  /// Requests "/moved" twice, which the server redirects, and returns the status codes of the responses.
  private func statuses(_ delegate: any URLSessionDelegate) async throws -> [Int?] {
    try await withServer(Self.reply) { origin in
      try await withSession(delegate: delegate) { session in
        var statuses: [Int?] = []
        for _ in 0..<2 {
          let (_, response) = try await session.data(for: origin.request("/moved"))
          statuses.append((response as? HTTPURLResponse)?.statusCode)
        }
        return statuses
      }
    }
  }

  @Test("if a delegate implements both forms of a method, only the one with the completion handler is called")
  func bothForms() async throws {
    let delegate = BothForms()
    #expect(try await statuses(delegate) == [200, 200])
    #expect(delegate.notes.all == ["completion handler", "completion handler"])
  }

  @Test("an async method that calls other delegates' async methods keeps its own answer")
  func forwarding() async throws {
    for (inner, answer) in [(Bare(), "followed"), (CompletionForms(), "refused")]
      as [(any URLSessionTaskDelegate, String)]
    {
      let delegate = Forwarding(to: inner)
      #expect(try await statuses(delegate) == [302, 302])
      #expect(delegate.answers.all == [answer, answer])
    }
  }

  @Test("the async methods of a class that is isolated to the main actor are called on the main actor, and are obeyed")
  func mainActor() async throws {
    let delegate = await OnMainActor()
    #expect(try await statuses(delegate) == [302, 302])
    #expect(await delegate.count == 2)
  }

  @Test("a delegate that implements neither form of a method gets a Swift task only for the first call of its class")
  func bare() async throws {
    final class Fresh: NSObject, URLSessionDataDelegate, Sendable {}
    let url = try #require(URL(string: "http://localhost/"))
    let head = try #require(HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: nil))
    let space = URLProtectionSpace(host: "h", port: 1, protocol: nil, realm: nil, authenticationMethod: nil)
    let challenge = URLAuthenticationChallenge(
      protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil)
    let cached = CachedURLResponse(response: head, data: Data())
    for number in 0..<2 {
      let delegate = Fresh()
      let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
      let task = session.dataTask(with: url)
      let answers = Notes()
      @Sendable func note(_ answer: Any?) {
        answers.add("\(answer ?? "nothing")" + (withUnsafeCurrentTask { $0 == nil } ? "" : " in a task"))
      }
      // The test itself runs in a Swift task, so the calls are made on another thread.
      await firstValue { (done: @escaping @Sendable (Bool) -> Void) in
        DispatchQueue(label: "calls").async {
          for _ in 0..<2 {
            delegate.urlSession(session, didReceive: challenge) { disposition, _ in note(disposition) }
            delegate.urlSession(session, task: task, didReceive: challenge) { disposition, _ in note(disposition) }
            delegate.urlSession(
              session, task: task, willPerformHTTPRedirection: head, newRequest: URLRequest(url: url)
            ) { note($0?.httpMethod) }
            delegate.urlSession(session, task: task, needNewBodyStream: { note($0) })
            delegate.urlSession(session, task: task, willBeginDelayedRequest: URLRequest(url: url)) {
              disposition, _ in note(disposition)
            }
            delegate.urlSession(session, dataTask: task, didReceive: head) { note($0) }
            delegate.urlSession(session, dataTask: task, willCacheResponse: cached) { note($0?.data.count) }
          }
          done(true)
        }
      }
      let expected = [
        "performDefaultHandling", "performDefaultHandling", "GET", "nothing", "continueLoading", "allow", "0",
      ]
      // The task's challenge is passed on to the session's method, whose form is known by then.
      #expect(answers.all == (number == 0 ? expected.map { $0 + " in a task" } : expected) + expected)
      task.cancel()
      session.invalidateAndCancel()
    }
  }
}
