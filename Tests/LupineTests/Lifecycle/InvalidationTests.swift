// Sessions whose `URLSession` the caller invalidates.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct InvalidationTests {
  @Test("invalidateAndCancel makes running requests fail with sessionInvalidated, without calling a retrier")
  func cancelling() async throws {
    let arrived = Recorder<Void>()
    try await withServer { _ in
      arrived.record(())
      return .hold
    } _: { origin in
      let retrier = ScriptedRetrier([.retry, .retry, .retry])
      try await keeping(Session(configuration: .forTests, interceptor: retrier)) { session in
        // Requests for one URL would wait for the response to the first of them, which the cache might serve to the others.
        let requests = (0..<6).map { session.request("\(origin.url)/\($0)") }
        let tasks = requests.map { $0.serializingData() }
        _ = await arrived.first(6)
        session.session.invalidateAndCancel()
        session.session.invalidateAndCancel()
        for task in tasks { #expect(await task.response.error?.isSessionInvalidatedError == true) }
        #expect(retrier.errors.entries.isEmpty)
        for request in requests { #expect(request.isFinished && request.allMetrics.count == 1) }
        #expect(await session.running.isEmpty)
        #expect(await session.session.allTasks.isEmpty)
      }
    }
  }

  @Test("finishTasksAndInvalidate lets running requests complete")
  func finishing() async throws {
    let (arrived, mayAnswer) = (Recorder<Void>(), Gate())
    try await withOrigin { peer in
      try peer.serve { request in
        arrived.record(())
        try peer.wait(for: mayAnswer)
        return request.path == "/good" ? .text("here") : Reply(status: 500)
      }
    } _: { origin in
      try await withSession { session in
        let good = session.request("\(origin.url)/good").serializingString()
        let bad = session.request("\(origin.url)/bad").validate().serializingString()
        let slow = session.request("\(origin.url)/slow") { $0.timeoutInterval = 0.3 }.serializingString()
        _ = await arrived.first(3)
        session.session.finishTasksAndInvalidate()
        let error = await slow.response.error
        #expect((error?.underlyingError as? URLError)?.code == .timedOut)
        mayAnswer.open()
        #expect(await good.response.value == "here")
        #expect(await bad.response.error?.responseCode == 500)
        #expect(await session.request(origin.url).outcome().error?.isSessionInvalidatedError == true)
      }
    }
  }

  @Test(
    "invalidating a session also ends a request whose task is being created", arguments: [true, false])
  func whileTaskIsMade(cancelling: Bool) async throws {
    try await withServer { _ in
      Reply()
    } _: { origin in
      try await keeping(Session(configuration: .forTests, startRequestsImmediately: false)) { session in
        let request = session.request(origin.url).cURLDescription { _ in
          if cancelling { session.session.invalidateAndCancel() } else { session.session.finishTasksAndInvalidate() }
        }
        request.resume()
        #expect(await request.outcome().error?.isSessionInvalidatedError == true)
        #expect(await session.running.isEmpty && origin.requestCount == 0)
      }
    }
  }

  @Test("a request that is created after its session's invalidation fails with sessionInvalidated, and isn't retried")
  func afterwards() async throws {
    try await withServer { _ in
      Reply()
    } _: { origin in
      let always = Retrier { _, _, _, completion in completion(.retry) }
      try await keeping(Session(configuration: .forTests, interceptor: always)) { session in
        session.session.finishTasksAndInvalidate()
        for _ in 0..<10 {
          let request = session.request(origin.url)
          #expect(await request.outcome().error?.isSessionInvalidatedError == true)
          #expect(request.isFinished && request.retryCount == 0 && request.tasks.isEmpty)
        }
        #expect(await session.running.isEmpty)
      }
      #expect(origin.connectionCount == 0)
    }
  }

  @Test("after a session is released, its connections are closed, even if one of its requests is retained")
  func nothingIsKept() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      var session: Session? = Session(configuration: .forTests)
      let request = try #require(session?.request(origin.url))
      #expect(await request.serializingString().response.value == "here")
      #expect(origin.openConnectionCount == 1)
      session = nil
      #expect(await settles { origin.openConnectionCount == 0 })
      #expect(request.task?.state == .completed && request.response?.statusCode == 200)
    }
  }
}
