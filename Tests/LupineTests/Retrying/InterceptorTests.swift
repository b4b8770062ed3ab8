// Interceptor: chains of adapters and retriers, the order of their calls, and the end of a chain.

import Foundation
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct InterceptorTests {
  private let session = Session(startRequestsImmediately: false)
  private let request: Request
  private let urlRequest: URLRequest

  init() throws {
    request = session.request("http://localhost/")
    urlRequest = try URLRequest(url: "http://localhost/", method: .get)
  }

  /// Returns an adapter that appends `name` to the request's Trail field.
  private func marking(_ name: String) -> Adapter {
    Adapter { request, _, completion in
      var request = request
      request.addValue(name, forHTTPHeaderField: "Trail")
      completion(.success(request))
    }
  }

  private func trail(_ result: Result<URLRequest, any Error>) throws -> String? {
    try result.get().headers["Trail"]
  }

  // MARK: Adapters

  @Test(
    "an Interceptor passes each adapter's request to the next adapter, and calls its interceptors after its adapters")
  func adaptersInOrder() async throws {
    let chain = Interceptor(adapters: [marking("a"), marking("b")], interceptors: [marking("c"), marking("d")])
    #expect(chain.adapters.count == 4 && chain.retriers.count == 2)
    #expect(try trail(await chain.adapted(urlRequest, for: session)) == "a,b,c,d")
    let state = RequestAdapterState(requestID: request.id, session: session)
    #expect(try trail(await chain.adapted(urlRequest, using: state)) == "a,b,c,d")
  }

  @Test("an Interceptor stops at the first adapter that fails, and returns the adapter's error")
  func failingAdapter() async {
    let asked = Atomic(0)
    let failing = Adapter { _, _, completion in completion(.failure(Mishap("refused"))) }
    let after = Adapter { request, _, completion in
      asked.add(1, ordering: .relaxed)
      completion(.success(request))
    }
    let chain = Interceptor(adapters: [marking("a"), failing, after])
    let result = await chain.adapted(urlRequest, for: session)
    #expect(throws: Mishap("refused")) { try result.get() }
    #expect(asked.load(ordering: .relaxed) == 0)
  }

  @Test("a retrier that never answers doesn't keep the request, if it is in an Interceptor")
  func waitingRetrier() {
    let kept = Mutex<(@Sendable (RetryResult) -> Void)?>(nil)
    let chain = Interceptor(retriers: [Retrier { _, _, _, completion in kept.withLock { $0 = completion } }])
    weak let released: Request?
    do {
      let request = session.request("http://localhost/")
      released = request
      chain.retry(request, for: session, dueTo: Mishap("a")) { _ in }
    }
    #expect(kept.withLock { $0 } != nil && released == nil)
  }

  @Test("an empty Interceptor neither changes a request nor retries it")
  func emptyChain() async throws {
    #expect(try await Interceptor().adapted(urlRequest, for: session).get() == urlRequest)
    #expect(await Interceptor().decision(on: request, for: session) == "no")
  }

  @Test("a RequestInterceptor that implements no method neither changes a request nor retries it")
  func defaults() async throws {
    struct Bystander: RequestInterceptor {}
    let state = RequestAdapterState(requestID: request.id, session: session)
    #expect(try await Bystander().adapted(urlRequest, for: session).get() == urlRequest)
    #expect(try await Bystander().adapted(urlRequest, using: state).get() == urlRequest)
    #expect(await Bystander().decision(on: request, for: session) == "no")
  }

  @Test("an Interceptor calls an adapter's adapt(_:using:), which calls adapt(_:for:) by default")
  func state() async throws {
    struct Knowing: RequestAdapter {
      func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
      ) {
        completion(.failure(Mishap("the other method was called")))
      }

      func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
      ) {
        var request = urlRequest
        request.addValue(state.requestID.uuidString, forHTTPHeaderField: "Trail")
        completion(.success(request))
      }
    }
    struct Plain: RequestAdapter {
      func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
      ) {
        var request = urlRequest
        request.addValue("\(ObjectIdentifier(session))", forHTTPHeaderField: "Trail")
        completion(.success(request))
      }
    }
    let chain = Interceptor(adapters: [Knowing(), Plain()])
    let state = RequestAdapterState(requestID: request.id, session: session)
    let result = await chain.adapted(urlRequest, using: state)
    #expect(try trail(result) == "\(request.id.uuidString),\(ObjectIdentifier(session))")
  }

  @Test("a method that a subclass of Adapter or Interceptor overrides is also called through the protocol")
  func subclasses() async throws {
    final class Refusing: Adapter, @unchecked Sendable {
      override func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
      ) {
        completion(.failure(Mishap("overridden")))
      }
    }
    final class Insisting: Interceptor, @unchecked Sendable {
      override func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
      ) {
        super.retry(request, for: session, dueTo: error) { _ in completion(.retry) }
      }
    }
    let adapter: any RequestAdapter = Refusing { request, _, completion in completion(.success(request)) }
    let result = await adapter.adapted(urlRequest, using: RequestAdapterState(requestID: request.id, session: session))
    #expect(throws: Mishap("overridden")) { try result.get() }
    let retrier: any RequestRetrier = Insisting()
    #expect(await retrier.decision(on: request, for: session) == "retry")
  }

  // MARK: Retriers

  @Test(
    "an Interceptor calls its retriers in order, and returns the first result that isn't doNotRetry",
    arguments: [
      (RetryResult.retry, "retry"), (.retryWithDelay(0.25), "retry after 0.25"),
      (.doNotRetryWithError(Mishap("given up")), "no: given up"), (.doNotRetry, "no: the last one"),
    ])
  func retriersInOrder(second: RetryResult, decision: String) async {
    let asked = Mutex<[String]>([])
    let retriers = [("a", .doNotRetry), ("b", second), ("c", .doNotRetryWithError(Mishap("the last one")))].map {
      (name: String, result: RetryResult) in
      Retrier { _, _, _, completion in
        asked.withLock { $0.append(name) }
        completion(result)
      }
    }
    let chain = Interceptor(retriers: Array(retriers.prefix(2)), interceptors: [retriers[2]])
    #expect(await chain.decision(on: request, for: session) == decision)
    #expect(asked.withLock { $0 } == (decision == "no: the last one" ? ["a", "b", "c"] : ["a", "b"]))
  }

  @Test("a request isn't retried if all retriers of an Interceptor return doNotRetry")
  func nobodyRetries() async {
    let indifferent = Retrier { _, _, _, completion in completion(.doNotRetry) }
    let chain = Interceptor(retriers: [indifferent, indifferent])
    #expect(await chain.decision(on: request, for: session) == "no")
  }

  @Test("an Interceptor calls a retrier with the request, the session and the error")
  func whatARetrierLearns() async {
    let retrier = Retrier { request, session, error, completion in
      completion(.doNotRetryWithError(Mishap("\(request.id) \(ObjectIdentifier(session)) \(error)")))
    }
    let decision = await Interceptor(retriers: [retrier]).decision(on: request, for: session, dueTo: Mishap("cause"))
    #expect(decision == "no: \(request.id) \(ObjectIdentifier(session)) cause")
  }

  @Test("the case of a RetryResult determines its retryRequired, delay and error")
  func results() {
    #expect(RetryResult.retry.retryRequired && RetryResult.retry.delay == nil && RetryResult.retry.error == nil)
    let delayed = RetryResult.retryWithDelay(2)
    #expect(delayed.retryRequired && delayed.delay == 2 && delayed.error == nil)
    #expect(!RetryResult.doNotRetry.retryRequired && RetryResult.doNotRetry.error == nil)
    let failed = RetryResult.doNotRetryWithError(Mishap("given up"))
    #expect(!failed.retryRequired && failed.delay == nil && failed.error as? Mishap == Mishap("given up"))
  }

  // MARK: Faulty and long chains

  @Test("an Interceptor with 100,000 synchronous adapters or retriers doesn't overflow the stack")
  func longChain() async throws {
    let count = 100_000
    let counting = Adapter { request, _, completion in
      var request = request
      request.timeoutInterval += 1
      completion(.success(request))
    }
    var patient = urlRequest
    patient.timeoutInterval = 0
    let result = await Interceptor(adapters: Array(repeating: counting, count: count)).adapted(patient, for: session)
    #expect(try result.get().timeoutInterval == Double(count))

    let asked = Atomic(0)
    let indifferent = Retrier { _, _, _, completion in
      asked.add(1, ordering: .relaxed)
      completion(.doNotRetry)
    }
    let chain = Interceptor(retriers: Array(repeating: indifferent, count: count))
    #expect(await chain.decision(on: request, for: session) == "no")
    #expect(asked.load(ordering: .relaxed) == count)
  }

  @Test("some adapters and retriers of an Interceptor may complete synchronously, and others on another queue")
  func mixedChain() async throws {
    let queue = DispatchQueue(label: "adapters")
    let names = (0..<200).map { "\($0)" }
    let adapters = names.enumerated().map { index, name in
      let marking = marking(name)
      guard index % 3 != 0 else { return marking }
      return Adapter { request, session, completion in
        queue.async { marking.adapt(request, for: session, completion: completion) }
      }
    }
    let result = await Interceptor(adapters: adapters).adapted(urlRequest, for: session)
    #expect(try trail(result) == names.joined(separator: ","))
  }

  enum Repetition: CaseIterable { case bothAtOnce, onceAtOnceAndOnceLater, bothLater }

  @Test(
    "if an adapter completes twice, the Interceptor continues only once, with the first result",
    arguments: Repetition.allCases)
  func answeringTwice(_ repetition: Repetition) async throws {
    let queue = DispatchQueue(label: "adapter")
    let answered = Recorder<Void>()
    let first = marking("first")
    let faulty = Adapter { request, session, completion in
      if repetition == .bothLater {
        queue.async { first.adapt(request, for: session, completion: completion) }
      } else {
        first.adapt(request, for: session, completion: completion)
      }
      if repetition == .bothAtOnce {
        completion(.failure(Mishap("second answer")))
        answered.record(())
      } else {
        queue.async {
          completion(.failure(Mishap("second answer")))
          answered.record(())
        }
      }
    }
    let asked = Atomic(0)
    let counting = Adapter { request, _, completion in
      asked.add(1, ordering: .relaxed)
      completion(.success(request))
    }
    let result = await Interceptor(adapters: [faulty, counting]).adapted(urlRequest, for: session)
    await answered.next()
    #expect(try trail(result) == "first")
    #expect(asked.load(ordering: .relaxed) == 1)
  }

  // MARK: Static factories

  @Test("the static factories adapter, retrier and interceptor create working interceptors")
  func shortNames() async throws {
    func adapted(by adapter: any RequestInterceptor) async throws -> String? {
      try trail(await adapter.adapted(urlRequest, for: session))
    }
    func decided(by retrier: any RequestInterceptor) async -> String {
      await retrier.decision(on: request, for: session)
    }
    let adapt: AdaptHandler = { [marking = marking("a")] in marking.adapt($0, for: $1, completion: $2) }
    let retry: RetryHandler = { $3(.retry) }
    let adapter: any RequestAdapter = .adapter(using: adapt)
    let retrier: any RequestRetrier = .retrier(using: retry)
    #expect(try trail(await adapter.adapted(urlRequest, for: session)) == "a")
    #expect(await retrier.decision(on: request, for: session) == "retry")
    #expect(try await adapted(by: .interceptor(adapter: adapt, retrier: retry)) == "a")
    #expect(await decided(by: .interceptor(adapter: adapt, retrier: retry)) == "retry")
    #expect(try await adapted(by: .interceptor(adapter: marking("b"), retrier: Retrier(retry))) == "b")
    #expect(await decided(by: .interceptor(adapter: marking("b"), retrier: Retrier(retry))) == "retry")
    #expect(try await adapted(by: .interceptor(adapters: [marking("c")], interceptors: [marking("d")])) == "c,d")
    #expect(await decided(by: .interceptor(retriers: [Retrier(retry)])) == "retry")
  }
}
