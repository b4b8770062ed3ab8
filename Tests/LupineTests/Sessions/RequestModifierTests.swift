// RequestModifierTests: the request modifier of each kind of request, in each attempt.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct RequestModifierTests {
  enum Kind: CaseIterable, Sendable { case data, upload, multipart, download, stream }

  @Test(
    "the request modifier is called for each attempt of a request, and the timeout that it sets applies to the attempt",
    arguments: Kind.allCases)
  func eachAttempt(kind: Kind) async throws {
    try await withServer { _ in
      .hold
    } _: { origin in
      try await withSession { session in
        let (attempts, errors) = (Log<String?>(), Recorder<AFError?>())
        let request = start(kind, origin.url, in: session) { urlRequest in
          attempts.note(urlRequest.httpMethod)
          urlRequest.timeoutInterval = 0.001
        } end: { error in
          errors.record(error)
        }
        let error = await errors.next() ?? nil
        #expect((error?.underlyingError as? URLError)?.code == .timedOut)
        let method = kind == .upload || kind == .multipart ? "POST" : "GET"
        #expect(attempts.entries == [method, method])
        #expect(request.retryCount == 1 && request.tasks.count == 2)
      }
    }
  }

  /// Starts a request of the kind that is retried once. Calls `end` with the request's error.
  private func start(
    _ kind: Kind, _ url: String, in session: Session, modify: @escaping Session.RequestModifier,
    end: @escaping @Sendable (AFError?) -> Void
  ) -> Request {
    let queue = session.rootQueue
    let retrier = RetryPolicy(retryLimit: 1, exponentialBackoffScale: 0, retryableHTTPMethods: [.get, .post])
    switch kind {
    case .data:
      return session.request(url, interceptor: retrier, requestModifier: modify)
        .response(queue: queue) { end($0.error) }
    case .upload:
      return session.upload(Data("body".utf8), to: url, interceptor: retrier, requestModifier: modify)
        .response(queue: queue) { end($0.error) }
    case .multipart:
      return session.upload(
        multipartFormData: { $0.append(Data("body".utf8), withName: "part") }, to: url, interceptor: retrier,
        requestModifier: modify
      )
      .response(queue: queue) { end($0.error) }
    case .download:
      return session.download(url, interceptor: retrier, requestModifier: modify)
        .response(queue: queue) { end($0.error) }
    case .stream:
      return session.streamRequest(url, interceptor: retrier, requestModifier: modify)
        .responseStream(on: queue) { stream in
          if let completion = stream.completion { end(completion.error) }
        }
    }
  }
}
