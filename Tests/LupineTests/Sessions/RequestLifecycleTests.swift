// RequestLifecycleTests: when a request is built, suspended and cancelled, and its handlers after its end.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct RequestLifecycleTests {
  // MARK: Building

  @Test("before a request is resumed, neither a URLRequest nor a task is created")
  func lazy() async throws {
    let url = try await TestServers.nginx + "/small.txt"
    try await withSession(startRequestsImmediately: false) { session in
      let counted = Counted(url)
      let request = session.request(counted)
      let responses = Recorder<AFDataResponse<String>>()
      request.validate().responseString(queue: .global()) { responses.record($0) }
      #expect(await session.running.isEmpty)
      #expect(counted.count == 0 && request.isInitialized && request.tasks.isEmpty && request.request == nil)
      request.resume()
      #expect(await responses.next()?.value == "small\n")
      #expect(counted.count == 1 && request.isFinished)
    }
  }

  @Test(
    "a request's shouldAutomaticallyResume overrides the session's startRequestsImmediately", arguments: [true, false])
  func automaticResume(isImmediate: Bool) async throws {
    let url = try await TestServers.nginx + "/small.txt"
    try await withSession(startRequestsImmediately: isImmediate) { session in
      let waiting = session.request(url, shouldAutomaticallyResume: false)
      let running = session.request(url, shouldAutomaticallyResume: true)
      let stillWaiting = waiting.serializingString()
      #expect(await running.serializingString().response.value == "small\n")
      #expect(waiting.isInitialized && waiting.tasks.isEmpty)
      waiting.resume()
      #expect(await stillWaiting.response.value == "small\n")
    }
  }

  @Test("a request calls its handlers for the curl command even if the request can't be created or adapted")
  func commandOfFailed() async throws {
    try await withSession { session in
      let unmade = Recorder<String>()
      let invalid = session.request("").cURLDescription { unmade.record($0) }
      #expect(await invalid.outcome().error?.isInvalidURLError == true)
      #expect(await unmade.next()?.hasPrefix("No curl command") == true)
      invalid.cURLDescription { unmade.record("late: \($0)") }
      #expect(await unmade.next()?.hasPrefix("late: No curl command") == true)
      let unadapted = Recorder<String>()
      let adapter = Adapter { _, _, completion in completion(.failure(URLError(.cancelled))) }
      let refused = session.request("http://127.0.0.1:1/refused", interceptor: adapter)
        .cURLDescription(on: .global()) { unadapted.record($0) }
      #expect(await refused.outcome().error?.isRequestAdaptationError == true)
      #expect(await unadapted.next()?.contains("http://127.0.0.1:1/refused") == true)
    }
  }

  @Test("a GET request with a body fails without being sent")
  func bodyInGet() async throws {
    try await withServer { _ in
      Reply()
    } _: { origin in
      try await withSession { session in
        var urlRequest = try URLRequest(url: origin.url, method: .get)
        urlRequest.httpBody = Data("body".utf8)
        let response = await session.request(urlRequest).outcome()
        guard case .urlRequestValidationFailed(.bodyDataInGETRequest(let data)) = response.error else {
          Issue.record("\(response)")
          return
        }
        #expect(data == Data("body".utf8))
        #expect(response.request == nil && response.metrics == nil)
        #expect(origin.connectionCount == 0)
        #expect(await session.running.isEmpty)
      }
    }
  }

  // MARK: Handlers

  @Test("each of a request's fifty response handlers runs once, in order")
  func manyHandlers() async throws {
    let url = try await TestServers.nginx + "/small.txt"
    try await withSession { session in
      let seen = Recorder<Int>()
      let queue = DispatchQueue(label: "completions")
      let request = session.request(url)
      for index in 0..<50 { request.responseString(queue: queue) { _ in seen.record(index) } }
      #expect(await seen.first(50) == Array(0..<50))
      #expect(request.tasks.count == 1)
    }
  }

  @Test("a response handler that is added to a finished request is called alone, and the state is resumed meanwhile")
  func handlerAfterTheEnd() async throws {
    let url = try await TestServers.nginx + "/small.txt"
    try await withSession { session in
      let request = session.request(url)
      let first = Mutex(0)
      request.response(queue: request.underlyingQueue) { _ in first.withLock { $0 += 1 } }
      _ = await request.serializingString().response
      #expect(request.isFinished)
      for _ in 0..<3 {
        let state = Mutex(Request.State.initialized)
        let late = request.serializingResponse(
          using: Closure { state.withLock { $0 = request.state } })
        #expect(await late.response.value == 6)
        #expect(state.withLock { $0 } == .resumed)
        #expect(request.isFinished)
      }
      #expect(first.withLock { $0 } == 1)
      #expect(request.tasks.count == 1)
      #expect(await session.running.isEmpty)
    }
  }

  @Test(
    "a response handler added to a cancelled request receives the cancellation error, and the request stays cancelled")
  func handlerAfterCancel() async throws {
    try await withSession { session in
      let counted = Counted("http://127.0.0.1:1")
      let request = session.request(counted)
      request.cancel()
      request.resume()
      for _ in 0..<3 {
        let response = await request.outcome()
        #expect(response.error?.isExplicitlyCancelledError == true)
        #expect(request.isCancelled)
      }
      #expect(counted.count == 0)
      #expect(request.tasks.isEmpty && request.requests.isEmpty && request.metrics == nil)
      #expect(await session.running.isEmpty)
    }
  }

  // MARK: Suspending and cancelling

  @Test("a hundred calls of resume, suspend or cancel have the same effect as one")
  func idempotence() async throws {
    let mayAnswer = Gate()
    try await withOrigin { peer in
      try peer.serve { _ in
        try peer.wait(for: mayAnswer)
        return .text("here")
      }
    } _: { origin in
      try await withSession(startRequestsImmediately: false) { session in
        let request = session.request(origin.url)
        let task = request.serializingString()
        for _ in 0..<100 { request.resume() }
        #expect(request.isResumed)
        for _ in 0..<100 { request.suspend() }
        #expect(request.isSuspended)
        mayAnswer.open()
        for _ in 0..<100 { request.resume() }
        #expect(await task.response.value == "here")
        #expect(request.tasks.count == 1 && request.allMetrics.count == 1)
        for _ in 0..<100 { request.cancel() }
        #expect(request.isFinished && request.error == nil)
      }
      #expect(origin.requestCount == 1)
    }
  }

  @Test("a hundred calls of cancel end the request once")
  func cancelOften() async throws {
    let arrived = Gate()
    try await withServer { _ in
      arrived.open()
      return .hold
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url)
        async let response = request.outcome()
        await arrived.wait()
        DispatchQueue.concurrentPerform(iterations: 100) { _ in request.cancel() }
        #expect(await response.error?.isExplicitlyCancelledError == true)
        #expect(request.tasks.count == 1 && request.allMetrics.count == 1)
      }
    }
  }

  /// The number of repetitions of tests for race conditions, enough to hit race windows of a few instructions.
  private static let contests = 1000

  @Test(
    "after concurrent calls of resume and suspend, the last call determines the state, and the request is sent once")
  func contention() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession(startRequestsImmediately: false) { session in
        for _ in 0..<Self.contests {
          let request = session.request(origin.url)
          let task = request.serializingString()
          DispatchQueue.concurrentPerform(iterations: 8) { index in
            if index.isMultiple(of: 2) { request.resume() } else { request.suspend() }
          }
          request.resume()
          #expect(await task.response.value == "here")
          #expect(request.tasks.count == 1 && request.requests.count == 1)
        }
      }
      #expect(origin.requestCount == Self.contests)
    }
  }

  @Test("a request that is suspended while it is being created gets a task, but isn't sent until it is resumed")
  func suspendedEarly() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        let (built, suspended) = (Gate(), Gate())
        let request = session.request(origin.url) { _ in suspended.waitBlocking() }
        request.cURLDescription { _ in built.open() }
        let task = request.serializingString()
        request.suspend()
        suspended.open()
        await built.wait()
        #expect(await session.request(origin.url).serializingString().response.value == "here")
        #expect(origin.requestCount == 1)
        #expect(request.isSuspended && request.tasks.count == 1)
        request.resume()
        #expect(await task.response.value == "here")
        #expect(origin.requestCount == 2)
      }
    }
  }

  @Test("cancelling a running request closes the connection, and ends the request immediately, with metrics")
  func cancelInFlight() async throws {
    let (arrived, left) = (Gate(), Gate())
    try await withOrigin { peer in
      _ = try peer.readRequest()
      arrived.open()
      _ = try peer.awaitClose()
      left.open()
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url)
        async let response = request.outcome()
        await arrived.wait()
        #expect(request.isResumed)
        request.cancel()
        #expect(request.isCancelled)
        let cancelled = await response
        #expect(cancelled.error?.isExplicitlyCancelledError == true)
        #expect(cancelled.response == nil && cancelled.data == nil)
        #expect(cancelled.request?.url?.absoluteString == origin.url)
        let metrics = try #require(cancelled.metrics?.transactionMetrics.first)
        #expect(metrics.requestEndDate != nil && metrics.responseStartDate == nil)
        #expect(request.allMetrics.count == 1)
        #expect(request.isCancelled)
        #expect(await session.running.isEmpty)
        await left.wait()
      }
    }
  }

  @Test("after a cancellation in the middle of the body, the response head and the received bytes remain available")
  func cancelInBody() async throws {
    try await withEndlessServer { origin in
      try await withSession { session in
        let request = session.request(origin.url)
        let progress = Recorder<Void>()
        request.downloadProgress(queue: .global()) { _ in progress.record(()) }
        async let response = request.outcome()
        _ = await progress.next()
        request.cancel()
        let cancelled = await response
        #expect(cancelled.error?.isExplicitlyCancelledError == true)
        #expect(cancelled.response?.statusCode == 200)
        #expect(cancelled.data?.isEmpty == false)
      }
    }
  }

  // MARK: Sessions

  @Test("the requests of a released session fail with sessionDeinitialized, even if they are resumed later")
  func releasedSession() async throws {
    let arrived = Gate()
    try await withServer { _ in
      arrived.open()
      return .hold
    } _: { origin in
      var session: Session? = Session()
      let request = try #require(session?.request(origin.url))
      let late = try #require(session?.request(origin.url))
      async let response = request.outcome()
      await arrived.wait()
      session = nil
      #expect(await response.error?.isSessionDeinitializedError == true)
      #expect(request.isFinished && request.allMetrics.count == 1)

      let queue = late.underlyingQueue
      let isOnQueue = Mutex(false)
      let key = DispatchSpecificKey<Bool>()
      queue.setSpecific(key: key, value: true)
      let later = late.serializingResponse(
        using: Closure { isOnQueue.withLock { $0 = DispatchQueue.getSpecific(key: key) == true } })
      late.resume()
      #expect(await later.response.error?.isSessionDeinitializedError == true)
      #expect(await late.outcome().error?.isSessionDeinitializedError == true)
      #expect(late.tasks.isEmpty)
    }
  }

  @Test("cancelAllRequests cancels every request, and calls its completion closure on the given queue")
  func cancelAll() async throws {
    let arrived = Recorder<Void>()
    try await withServer { _ in
      arrived.record(())
      return .hold
    } _: { origin in
      try await withSession { session in
        // Requests for one URL would wait for the response to the first of them, which the cache might serve to the others.
        let requests = (0..<6).map { session.request("\(origin.url)/\($0)") }
        let tasks = requests.map { $0.serializingData() }
        _ = await arrived.first(6)
        #expect(await session.running == Set(requests))
        let queue = DispatchQueue(label: "all")
        await withCheckedContinuation { continuation in
          session.cancelAllRequests(completingOnQueue: queue) {
            dispatchPrecondition(condition: .onQueue(queue))
            continuation.resume()
          }
        }
        for request in requests { #expect(request.isCancelled) }
        for task in tasks { #expect(await task.response.error?.isExplicitlyCancelledError == true) }
        #expect(await session.running.isEmpty)
      }
    }
  }
}

/// A URLRequestConvertible that counts the calls of `asURLRequest()`.
private final class Counted: URLRequestConvertible {
  private let url: String
  private let calls = Atomic(0)

  init(_ url: String) {
    self.url = url
  }

  var count: Int { calls.load(ordering: .relaxed) }

  func asURLRequest() throws -> URLRequest {
    calls.add(1, ordering: .relaxed)
    return try URLRequest(url: url, method: .get)
  }
}

/// A response serializer that calls a closure, and returns the number of bytes in the body.
private struct Closure: DataResponseSerializerProtocol {
  let run: @Sendable () -> Void

  func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?) throws -> Int {
    run()
    if let error { throw error }
    return data?.count ?? 0
  }
}
