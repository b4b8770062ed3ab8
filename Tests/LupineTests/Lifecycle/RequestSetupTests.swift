// When requests are built and sent, and which handler resumes them.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct RequestSetupTests {
  @Test("with eager setup, a request's task is created immediately, but the request isn't sent before resume is called")
  func eager() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await keeping(
        Session(configuration: .forTests, startRequestsImmediately: false, requestSetup: .eager)
      ) { session in
        let convertible = Convertible(url: origin.url)
        let request = session.request(convertible)
        await session.rootQueue.drain()
        #expect(request.isInitialized && request.tasks.count == 1 && request.task?.state == .suspended)
        #expect(await session.running == [request])
        let task = request.serializingString()
        await session.rootQueue.drain()
        #expect(request.isInitialized && origin.requestCount == 0)
        request.resume()
        #expect(await task.response.value == "here")
        #expect(convertible.made.entries.count == 1 && request.tasks.count == 1)
        #expect(origin.requestCount == 1)
      }
    }
  }

  @Test(
    "if a session is released while its requests are being created, each request's task ends with an error",
    arguments: [Session.RequestSetup.eager, .lazy], [false, true])
  func released(setup: Session.RequestSetup, hasRequestQueue: Bool) async throws {
    try await withServer { _ in
      .hold
    } _: { origin in
      var session: Session? = Session(
        configuration: .forTests, startRequestsImmediately: setup == .lazy, requestSetup: setup,
        requestQueue: hasRequestQueue ? DispatchQueue(label: "requests") : nil,
        interceptor: Interceptor(adapters: [Adapter { request, _, completion in completion(.success(request)) }]))
      let weakly = WeakReference(session)
      let root = try #require(session?.rootQueue)
      let responses = Recorder<AFDataResponse<Data?>>()
      // The queue is suspended, so that no request is set up before the session is released.
      root.suspend()
      let requests = (0..<100).compactMap { _ in
        session?.request(origin.url).response(queue: root) { responses.record($0) }
      }
      session = nil
      root.resume()
      let outcomes = await responses.first(100)
      #expect(outcomes.count == 100 && outcomes.allSatisfy { $0.error?.isSessionDeinitializedError == true })
      #expect(requests.count == 100 && requests.allSatisfy { $0.tasks.count == 1 })
      #expect(requests.allSatisfy { $0.task?.state == .canceling || $0.task?.state == .completed })
      #expect(await settles { weakly.object == nil }, "the session is still retained")
    }
  }

  @Test(
    "with eager setup, a request's shouldAutomaticallyResume overrides the session's startRequestsImmediately",
    arguments: [true, false])
  func eagerAndResumed(isOwn: Bool) async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await keeping(
        Session(configuration: .forTests, startRequestsImmediately: !isOwn, requestSetup: .eager)
      ) { session in
        let request = session.request(origin.url, shouldAutomaticallyResume: isOwn)
        #expect(request.shouldAutomaticallyResume == isOwn)
        let task = request.serializingString()
        #expect(request.isInitialized != isOwn)
        request.resume()
        #expect(await task.response.value == "here")
      }
    }
  }

  @Test("with eager setup, a request that is cancelled before it is resumed finishes, and leaves no task")
  func eagerAndCancelled() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await keeping(
        Session(configuration: .forTests, startRequestsImmediately: false, requestSetup: .eager)
      ) { session in
        for isBuilt in [true, false] {
          let request = session.request(origin.url)
          if isBuilt { await session.rootQueue.drain() }
          request.cancel()
          #expect(await request.outcome().error?.isExplicitlyCancelledError == true)
          #expect(await session.running.isEmpty)
          #expect(await session.session.allTasks.isEmpty)
        }
      }
    }
  }

  @Test("cancelling a request whose task was never resumed doesn't send it")
  func cancelledAndNotSent() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await keeping(
        Session(configuration: .forTests, startRequestsImmediately: false, requestSetup: .eager)
      ) { session in
        func complete() async {
          let request = session.request(origin.url)
          request.resume()
          #expect(await request.serializingString().response.value == "here")
        }
        // This request opens a connection on which the cancelled requests could be sent immediately.
        await complete()
        for isSuspended in [false, true] {
          let request = session.request(origin.url, method: .post)
          if isSuspended { request.suspend() }
          await session.rootQueue.drain()
          #expect(request.task != nil)
          request.cancel()
          let response = await request.outcome()
          #expect(response.error?.isExplicitlyCancelledError == true && response.metrics != nil)
        }
        await complete()
        #expect(origin.requestCount == 2)
      }
    }
  }

  /// A redirect handler that changes a header field, so that the session creates the redirected request anew.
  private static let marking = Redirector.modify { _, request, _ in
    var request = request
    request.headers.update(name: "X-Marked", value: "yes")
    return request
  }

  @Test(
    "a POST or PUT with a body has the form content type by default, even after a redirect that keeps the method",
    arguments: [
      ("POST", "a=1", nil, "application/x-www-form-urlencoded"), ("POST", "a=1", "text/plain", "text/plain"),
      ("POST", "", nil, "none"),
      ("PUT", "a=1", nil, "application/x-www-form-urlencoded"), ("PATCH", "a=1", nil, "none"),
    ] as [(String, String, String?, String)])
  func contentType(method: String, body: String, type: String?, sent: String) async throws {
    try await withServer { request in
      request.path == "/" ? redirect(to: "/there", status: 307) : .text(request.fields.first("Content-Type") ?? "none")
    } _: { origin in
      try await withSession { session in
        for redirector in [Redirector.follow, Self.marking] {
          let request = session.request(origin.url, method: HTTPMethod(rawValue: method)) {
            $0.httpBody = Data(body.utf8)
            if let type { $0.headers.update(.contentType(type)) }
          }
          #expect(await request.redirect(using: redirector).serializingString().response.value == sent)
        }
      }
    }
  }

  @Test("creating a request doesn't resume it, but adding its first response handler does")
  func firstHandler() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url).validate().downloadProgress { _ in }
        await session.rootQueue.drain()
        #expect(request.isInitialized && request.requests.isEmpty)
        #expect(await request.serializingString().response.value == "here")
      }
    }
  }

  @Test("adding the first response handler resumes a suspended request, and adding later ones doesn't")
  func suspendedBefore() async throws {
    let mayAnswer = Gate()
    try await withOrigin { peer in
      try peer.serve { _ in
        try peer.wait(for: mayAnswer)
        return .text("here")
      }
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url)
        request.suspend()
        #expect(request.isSuspended)
        let first = request.serializingString()
        #expect(request.isResumed)
        request.suspend()
        let second = request.serializingString()
        #expect(request.isSuspended)
        mayAnswer.open()
        request.resume()
        #expect(await first.response.value == "here")
        #expect(await second.response.value == "here")
      }
    }
  }

  @Test("resuming, suspending and resuming a request in quick succession creates only one task")
  func quickly() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession(startRequestsImmediately: false) { session in
        for _ in 0..<100 {
          let convertible = Convertible(url: origin.url)
          let request = session.request(convertible)
          let task = request.resume().suspend().resume().serializingString()
          #expect(await task.response.value == "here")
          #expect(convertible.made.entries.count == 1 && request.tasks.count == 1)
        }
      }
    }
  }

  @Test(
    "a request completes once and leaves no task after concurrent calls of resume, suspend and cancel")
  func contention() async throws {
    let rounds = 10_000
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession(startRequestsImmediately: false) { session in
        let completions = Log<Bool>()
        let all = Gate()
        for _ in 0..<rounds {
          let request = session.request(origin.url)
          request.response(queue: session.rootQueue) { response in
            if completions.note(response.error == nil || response.error?.isExplicitlyCancelledError == true) == rounds {
              all.open()
            }
          }
          DispatchQueue.concurrentPerform(iterations: 3) { index in
            switch index {
            case 0: request.resume()
            case 1: request.suspend()
            default: request.cancel()
            }
          }
          // A call of resume after the cancellation has no effect.
          request.cancel().resume()
          #expect(request.isCancelled || request.isFinished)
          if request.tasks.count > 1 { Issue.record("\(request.tasks.count) tasks") }
        }
        await all.wait()
        await session.rootQueue.drain()
        #expect(completions.entries.count == rounds && completions.entries.allSatisfy { $0 } == true)
        #expect(await session.running.isEmpty)
        #expect(await session.session.allTasks.isEmpty)
      }
    }
  }
}
