// Adapters of sessions and requests: their order, their possible answers, and when they may answer.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct AdaptTests {
  @Test("the session's adapter is called first, and then the request's adapters in the order in which they were added")
  func order() async throws {
    try await withServer { request in
      .text(request.fields.first("X-Way") ?? "none")
    } _: { origin in
      try await keeping(Session(configuration: .forTests, interceptor: Signpost("session"))) { session in
        let request = session.request(origin.url, interceptor: Signpost("given"))
          .adapt(using: Signpost("adapter")).interceptor(Signpost("interceptor")).retry(using: ScriptedRetrier([]))
        let response = await request.serializingString().response
        #expect(response.value == "session given adapter interceptor")
        // `requests` contains the created request, without the field, and the adapted one, whose field the server has returned.
        #expect(request.requests.map { $0.headers["X-Way"] } == [nil, response.value])
        #expect(response.request == request.lastRequest && request.firstRequest?.headers["X-Way"] == nil)
        #expect(request.performedRequests == [request.lastRequest])
      }
    }
  }

  @Test("after an adapter fails, no other adapter is called, and requestAdaptationFailed wraps the adapter's error")
  func firstFailure() async throws {
    try await withServer { _ in
      Reply()
    } _: { origin in
      try await withSession { session in
        let later = Log<Void>()
        let retrier = ScriptedRetrier([])
        let request = session.request(origin.url)
          .adapt(using: Adapter { _, _, completion in completion(.failure(Mishap("first"))) })
          .adapt(
            using: Adapter { request, _, completion in
              later.note(())
              completion(.success(request))
            }
          )
          .retry(using: retrier)
        let response = await request.outcome()
        guard case .requestAdaptationFailed(let error) = response.error else {
          Issue.record("\(response)")
          return
        }
        #expect(error as? Mishap == Mishap("first"))
        #expect(later.entries.isEmpty && request.tasks.isEmpty && response.request?.url?.absoluteString == origin.url)
        #expect(retrier.errors.entries.map { $0?.isRequestAdaptationError } == [true])
        #expect(origin.connectionCount == 0)
      }
    }
  }

  @Test("an adapter that implements adapt(_:using:) receives the request's id and the request's session")
  func state() async throws {
    struct Curious: RequestInterceptor {
      let told: Log<(UUID, Session)>
      func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
      ) {
        told.note((state.requestID, state.session))
        completion(.success(urlRequest))
      }
      func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
      ) {
        Issue.record("the variant without state was called")
        completion(.success(urlRequest))
      }
    }
    try await withServer { _ in
      .text("here")
    } _: { origin in
      let curious = Curious(told: Log())
      try await keeping(Session(configuration: .forTests, interceptor: curious)) { session in
        let request = session.request(origin.url, interceptor: curious)
        #expect(await request.serializingString().response.value == "here")
        #expect(curious.told.entries.map(\.0) == [request.id, request.id])
        #expect(curious.told.entries.allSatisfy { $0.1 === session } == true)
      }
    }
  }

  @Test("a GET request fails if an adapter adds a body")
  func bodyByAdapter() async throws {
    try await withServer { _ in
      Reply()
    } _: { origin in
      try await withSession { session in
        let response = await session.request(origin.url).adapt(
          using: Adapter { request, _, completion in
            var request = request
            request.httpBody = Data("body".utf8)
            completion(.success(request))
          }
        ).outcome()
        guard case .requestAdaptationFailed(let error) = response.error,
          case .urlRequestValidationFailed(.bodyDataInGETRequest) = error.asAFError
        else {
          Issue.record("\(response)")
          return
        }
        #expect(origin.connectionCount == 0)
      }
    }
  }

  @Test(
    "only the first result that an adapter delivers has an effect, whichever thread delivers the result",
    arguments: [true, false],
    [true, false])
  func answers(isElsewhere: Bool, isOnOwnQueue: Bool) async throws {
    try await withServer { request in
      .text(request.path)
    } _: { origin in
      let queue = isOnOwnQueue ? DispatchQueue(label: "requests", attributes: .concurrent) : nil
      let once = Adapter { request, _, completion in
        let answer: @Sendable () -> Void = {
          for path in ["first", "second", "third"] {
            var request = request
            request.url?.append(path: path)
            completion(.success(request))
          }
          completion(.failure(Mishap("late")))
        }
        if isElsewhere { DispatchQueue.global().async(execute: answer) } else { answer() }
      }
      try await keeping(Session(configuration: .forTests, requestQueue: queue, interceptor: once)) { session in
        let requests = (0..<20).map { _ in session.request(origin.url) }
        for task in requests.map({ $0.serializingString() }) { #expect(await task.response.value == "/first") }
        for request in requests { #expect(request.requests.count == 2 && request.tasks.count == 1) }
      }
      #expect(origin.requestCount == 20)
    }
  }

  @Test("an adapter's result has no effect after the request was cancelled", arguments: [true, false])
  func lateAnswer(isFailure: Bool) async throws {
    try await withServer { _ in
      Reply()
    } _: { origin in
      try await withSession { session in
        let held = Held<Result<URLRequest, any Error>>()
        let request = session.request(origin.url)
          .adapt(using: Adapter { _, _, completion in held.hold(completion) })
        async let response = request.outcome()
        await held.isAsked.wait()
        request.cancel()
        #expect(await response.error?.isExplicitlyCancelledError == true)
        held.answer(isFailure ? .failure(Mishap("late")) : .success(URLRequest(url: URL(filePath: "/late"))))
        await session.rootQueue.drain()
        #expect(request.requests.count == 1 && request.tasks.isEmpty)
        #expect(request.error?.isExplicitlyCancelledError == true)
      }
      #expect(origin.connectionCount == 0)
    }
  }

  @Test("replacing a redirect handler whose deinit reads the request's state doesn't deadlock")
  func replaced() async throws {
    // A handler that reads the request's state in its deinit. If the deinit ran under the request's lock, it would deadlock.
    final class Curious: RedirectHandler {
      let request: Request
      init(_ request: Request) { self.request = request }
      deinit { _ = request.state }
      func task(
        _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
        completion: @escaping (URLRequest?) -> Void
      ) { completion(request) }
    }
    try await withSession(startRequestsImmediately: false) { session in
      let request = session.request("http://127.0.0.1:1")
      for _ in 0..<3 { request.redirect(using: Curious(request)) }
      request.redirect(using: .follow)
      #expect(request.redirectHandler is Redirector)
    }
  }

  @Test("replacing a closure whose captured object uses the request in its deinit doesn't deadlock")
  func replacedClosures() async throws {
    // Calls a closure in its deinit, after the closures that have captured the object are released.
    final class Goodbye: Sendable {
      let say: @Sendable () -> Void
      init(_ say: @escaping @Sendable () -> Void) { self.say = say }
      deinit { say() }
    }
    let said = Log<String>()
    try await withSession(startRequestsImmediately: false) { session in
      let request = session.request("http://127.0.0.1:1")
      do {
        let head = Goodbye { said.note("\(request.state)") }
        let progress = Goodbye {
          request.downloadProgress { _ in }
          said.note("progress")
        }
        request.onHTTPResponse { _ in _ = head }.downloadProgress { _ in _ = progress }
      }
      request.onHTTPResponse { _ in }.downloadProgress { _ in }
      let monitor = ClosureEventMonitor()
      do {
        let finish = Goodbye { said.note(monitor.requestDidFinish == nil ? "unset" : "set") }
        monitor.requestDidFinish = { _ in _ = finish }
      }
      monitor.requestDidFinish = nil
    }
    #expect(said.entries == ["initialized", "progress", "unset"])
  }

  @Test("chains of 10,000 adapters and retriers don't overflow the stack")
  func many() async throws {
    try await withServer { request in
      .text(request.fields.first("X-Count") ?? "", status: 500)
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url).validate()
        let counter = Adapter { request, _, completion in
          var request = request
          request.headers.update(name: "X-Count", value: "\((Int(request.headers["X-Count"] ?? "") ?? 0) + 1)")
          completion(.success(request))
        }
        let asked = Log<Void>()
        let refuser = Retrier { _, _, _, completion in
          asked.note(())
          completion(.doNotRetry)
        }
        for _ in 0..<10_000 { request.adapt(using: counter).retry(using: refuser) }
        let response = await request.outcome()
        #expect(response.data == Data("10000".utf8))
        #expect(asked.entries.count == 10_000)
      }
    }
  }

  @Test("fifty concurrent requests with an expired token cause a single refresh of the token")
  func authentication() async throws {
    try await withServer { request in
      request.fields.first("Authorization") == "Bearer new" ? .text("here") : Reply(status: 401)
    } _: { origin in
      let authenticator = TokenAuthenticator(.byTest)
      let interceptor = AuthenticationInterceptor(authenticator: authenticator, credential: Token("old"))
      try await keeping(Session(configuration: .forTests, interceptor: interceptor)) { session in
        let requests = (0..<50).map { _ in session.request(origin.url).validate() }
        let tasks = requests.map { $0.serializingString() }
        try await authenticator.nextRefresh().completion(.success(Token("new")))
        for task in tasks { #expect(await task.response.value == "here") }
        #expect(authenticator.refreshCount == 1)
        #expect(requests.allSatisfy { $0.retryCount <= 1 } == true)
      }
    }
  }
}

/// An adapter that appends its name to the request's X-Way field.
private struct Signpost: RequestInterceptor {
  let name: String

  init(_ name: String) { self.name = name }

  func adapt(
    _ urlRequest: URLRequest, for session: Session,
    completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
  ) {
    var request = urlRequest
    request.headers.update(
      name: "X-Way", value: [request.headers["X-Way"], name].compactMap { $0 }.joined(separator: " "))
    completion(.success(request))
  }
}
