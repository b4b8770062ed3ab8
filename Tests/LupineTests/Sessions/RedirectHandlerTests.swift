// Redirector: the request returned for each behavior.

import Foundation
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct RedirectHandlerTests {
  /// Calls the redirect handler for the redirect of a real task. Returns the handler's request, the task and the response.
  private func answer(
    of handler: any RedirectHandler, to proposed: URLRequest
  ) async throws -> (answer: URLRequest?, task: URLSessionTask, response: HTTPURLResponse) {
    try await withServer { _ in
      Reply()
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url)
        let response = try #require(await request.outcome().response)
        let task = try #require(request.task)
        let answer = await withCheckedContinuation { continuation in
          handler.task(task, willBeRedirectedTo: proposed, for: response) { continuation.resume(returning: $0) }
        }
        return (answer, task, response)
      }
    }
  }

  private let proposed = URLRequest(url: URL(filePath: "/next"))

  @Test("a Redirector with follow returns the proposed request")
  func follow() async throws {
    #expect(try await answer(of: Redirector(behavior: .follow), to: proposed).answer == proposed)
    #expect(try await answer(of: .follow, to: proposed).answer == proposed)
    #expect(try await answer(of: Redirector.follow, to: proposed).answer == proposed)
  }

  @Test("a Redirector with doNotFollow returns no request")
  func doNotFollow() async throws {
    #expect(try await answer(of: Redirector(behavior: .doNotFollow), to: proposed).answer == nil)
    #expect(try await answer(of: .doNotFollow, to: proposed).answer == nil)
    #expect(try await answer(of: Redirector.doNotFollow, to: proposed).answer == nil)
  }

  @Test("a Redirector with modify returns the request from its closure, with another method and URL")
  func modify() async throws {
    let seen = Recorder<(URLSessionTask, HTTPURLResponse)>()
    let outcome = try await answer(
      of: .modify { task, request, response in
        seen.record((task, response))
        var request = request
        request.httpMethod = "PUT"
        request.url?.append(path: "changed")
        return request
      }, to: proposed)
    #expect(outcome.answer?.httpMethod == "PUT" && outcome.answer?.url?.path() == "/next/changed")
    let (task, response) = try #require(await seen.next())
    #expect(task === outcome.task && response === outcome.response)
    #expect(try await answer(of: .modify { _, _, _ in nil }, to: proposed).answer == nil)
  }

  @Test("the completion closure that a caller passes to a redirect handler doesn't have to be Sendable")
  func plainCompletion() async throws {
    struct Forwarding: RedirectHandler {
      let inner: any RedirectHandler

      func task(
        _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
        completion: @escaping (URLRequest?) -> Void
      ) {
        inner.task(task, willBeRedirectedTo: request, for: response) { completion($0) }
      }
    }
    #expect(try await answer(of: Forwarding(inner: Redirector.doNotFollow), to: proposed).answer == nil)
  }
}
