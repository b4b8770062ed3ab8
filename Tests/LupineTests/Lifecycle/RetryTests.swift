// Retriers of sessions and requests: which of them decide, about which errors, and the state of the next attempt.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct RetryTests {
  @Test("the session's retrier is called before the request's retriers, and each further retrier only after doNotRetry")
  func order() async throws {
    try await withServer { _ in
      Reply(status: 500)
    } _: { origin in
      let names = Log<String>()
      func retrier(_ name: String, _ answers: [RetryResult]) -> ScriptedRetrier {
        ScriptedRetrier(answers) { _ in names.note(name) }
      }
      let first = retrier("session", [.doNotRetry, .retry])
      try await keeping(Session(configuration: .forTests, interceptor: first)) { session in
        let request = session.request(origin.url, interceptor: retrier("given", [.retry])).validate()
          .retry(using: retrier("added", []))
        let response = await request.outcome()
        #expect(response.error?.responseCode == 500)
        #expect(
          names.entries == ["session", "given", "session", "session", "given", "added"])
        #expect(request.retryCount == 2 && request.tasks.count == 3)
      }
    }
  }

  @Test("doNotRetryWithError ends the request with requestRetryFailed, and no other retrier is called")
  func otherError() async throws {
    try await withServer { _ in
      Reply(status: 500)
    } _: { origin in
      try await withSession { session in
        let later = ScriptedRetrier([])
        let request = session.request(origin.url).validate()
          .retry(using: ScriptedRetrier([.doNotRetryWithError(Mishap("enough"))])).retry(using: later)
        let response = await request.outcome()
        guard case .requestRetryFailed(let retryError, let originalError) = response.error else {
          Issue.record("\(response)")
          return
        }
        #expect(retryError as? Mishap == Mishap("enough"))
        #expect(originalError.asAFError?.responseCode == 500)
        #expect(later.errors.entries.isEmpty)
      }
    }
  }

  /// The stage in which the first two attempts of a request fail.
  enum Failure: CaseIterable, Sendable { case building, adapting, sending, validating, serializing }

  @Test(
    "a request calls its retrier for a failure at any stage, and a later attempt may succeed",
    arguments: Failure.allCases)
  func everywhere(failure: Failure) async throws {
    let rounds = Atomic(0)
    try await withOrigin { peer in
      try peer.serve { _ in
        if failure == .sending, rounds.load(ordering: .relaxed) <= 2 {
          peer.close()
          throw OriginError.closed
        }
        return .text("here")
      }
    } _: { origin in
      try await withSession { session in
        let fails: @Sendable (Failure) -> Bool = { $0 == failure && rounds.load(ordering: .relaxed) <= 2 }
        let counts = Log<Int>()
        let retrier = ScriptedRetrier([.retry, .retryWithDelay(0.01)]) { counts.note($0.retryCount) }
        let request = session.request(origin.url, interceptor: retrier) { _ in
          rounds.add(1, ordering: .relaxed)
          if fails(.building) { throw Mishap("building") }
        }.adapt(
          using: Adapter { request, _, completion in
            completion(fails(.adapting) ? .failure(Mishap("adapting")) : .success(request))
          }
        ).validate { _, _, _ in fails(.validating) ? .failure(Mishap("validating")) : .success(()) }
        let calls = Log<Int>()
        let tasks = (0..<3).map { index in
          request.serializingResponse(
            using: Serializer { data, error in
              calls.note(index)
              if let error { throw error }
              if fails(.serializing) { throw Mishap("serializing") }
              return data?.count ?? 0
            })
        }
        for task in tasks { #expect(await task.response.value == 4) }
        #expect(request.retryCount == 2 && request.error == nil)
        // The first serializer's failure ends the attempt, so that the others aren't called.
        #expect(calls.entries == (failure == .serializing ? [0, 0, 0, 1, 2] : [0, 1, 2]))
        #expect(counts.entries == [0, 1])
        let sent = [.building, .adapting].contains(failure) ? 1 : 3
        #expect(request.tasks.count == sent && request.allMetrics.count == sent)
        let expected: [Failure: Int] = [.building: 2, .adapting: 4]
        #expect(request.requests.count == expected[failure, default: 6])
        #expect(retrier.errors.entries.count == 2)
      }
    }
  }

  @Test("a request calls its retriers when it fails, and again for each response handler whose serializer fails")
  func eachHandler() async throws {
    try await withServer { _ in
      Reply(status: 500)
    } _: { origin in
      try await withSession { session in
        let retrier = ScriptedRetrier([.doNotRetry, .doNotRetry, .doNotRetryWithError(Mishap("second"))])
        let request = session.request(origin.url, interceptor: retrier, shouldAutomaticallyResume: false).validate()
        let tasks = (0..<3).map { _ in request.serializingData() }
        request.resume()
        var errors: [AFError?] = []
        for task in tasks { errors.append(await task.response.error) }
        #expect(retrier.errors.entries.map { $0?.responseCode } == [500, 500, 500, 500])
        #expect(errors.map { $0?.isRequestRetryError } == [false, true, false])
      }
    }
  }

  @Test("if a request is retried because a serializer failed, the failed attempt calls none of the response handlers")
  func dropped() async throws {
    let rounds = Atomic(0)
    try await withServer { _ in
      .text("\(rounds.add(1, ordering: .relaxed).newValue)")
    } _: { origin in
      try await withSession { session in
        let retrier = ScriptedRetrier([.retry])
        let request = session.request(origin.url, interceptor: retrier, shouldAutomaticallyResume: false)
        let handed = Log<String>()
        request.responseString(queue: .global()) { handed.note($0.value ?? "none") }
        let last = request.serializingResponse(
          using: Serializer { data, _ in
            if data == Data("1".utf8) { throw Mishap("first round") }
            return String(decoding: data ?? Data(), as: UTF8.self)
          })
        request.resume()
        #expect(await last.response.value == "2")
        #expect(await settles { handed.entries.count > 0 })
        await session.rootQueue.drain()
        #expect(handed.entries == ["2"])
      }
    }
  }

  @Test("each attempt creates and adapts the request again, without data, progress or errors of the previous attempt")
  func reset() async throws {
    let states = Log<String>()
    let rounds = Atomic(0)
    try await withServer { _ in
      rounds.add(1, ordering: .relaxed).newValue < 3 ? .text("broken", status: 503) : Reply(status: 204)
    } _: { origin in
      try await withSession { session in
        let adapter = Adapter { request, _, completion in
          states.note("adapt")
          completion(.success(request))
        }
        let retrier = ScriptedRetrier([.retry, .retry]) { request in
          let data = (request as? DataRequest)?.data?.count ?? 0
          states.note("\(data) \(request.downloadProgress.completedUnitCount) \(request.error?.responseCode ?? 0)")
        }
        let convertible = Convertible(url: origin.url) {
          states.note("make")
        }
        let request = session.request(convertible).adapt(using: adapter).retry(using: retrier).validate()
        let observed = request.onURLRequestCreation(on: session.rootQueue) { [unowned request] _ in
          states.note(
            "\(request.retryCount) \(request.data == nil) \(request.error == nil) \(request.downloadProgress.completedUnitCount)"
          )
        }
        let response = await observed.outcome()
        #expect(response.error == nil && response.data == nil && response.response?.statusCode == 204)
        #expect(
          states.entries == [
            "make", "adapt", "0 true true 0", "6 6 503", "make", "adapt", "1 true true 0", "6 6 503", "make", "adapt",
            "2 true true 0",
          ])
      }
    }
  }

  @Test(
    "only a retrier's first decision has an effect, both for a failed request and for a failed serializer",
    arguments: [true, false])
  func twice(isSerializer: Bool) async throws {
    let rounds = Atomic(0)
    try await withServer { _ in
      .text("here", status: rounds.add(1, ordering: .relaxed).newValue < 3 ? 500 : 200)
    } _: { origin in
      let retrier = Retrier { request, _, _, completion in
        completion(request.retryCount < 2 ? .retry : .doNotRetry)
        completion(.retry)
        completion(.doNotRetry)
        completion(.doNotRetryWithError(Mishap("late")))
      }
      try await keeping(Session(configuration: .forTests, interceptor: retrier)) { session in
        let request = session.request(origin.url)
        if !isSerializer { request.validate() }
        let tasks = (0..<3).map { _ in
          request.serializingResponse(
            using: Serializer { [unowned request] data, error in
              if let error { throw error }
              if isSerializer, request.response?.statusCode != 200 { throw Mishap("serializer") }
              return data?.count
            })
        }
        for task in tasks { #expect(await task.response.value == 4) }
        #expect(request.retryCount == 2 && request.tasks.count == 3)
      }
      #expect(origin.requestCount == 3)
    }
  }

  @Test("a cancelled request isn't retried")
  func cancelled() async throws {
    try await withServer { _ in
      .hold
    } _: { origin in
      try await withSession { session in
        let retrier = ScriptedRetrier([.retry, .retry])
        let request = session.request(origin.url, interceptor: retrier).onURLSessionTaskCreation(on: session.rootQueue)
        { _ in }
        async let response = request.outcome()
        #expect(await settles { request.task?.state == .running })
        request.cancel()
        #expect(await response.error?.isExplicitlyCancelledError == true)
        #expect(retrier.errors.entries.isEmpty && request.retryCount == 0 && request.tasks.count == 1)
      }
    }
  }

  @Test("a request that is cancelled at any moment while a retry starts ends with an error")
  func cancelledMeanwhile() async throws {
    try await withServer { _ in
      Reply(status: 500)
    } _: { origin in
      try await withSession { session in
        for _ in 0..<300 {
          let (asked, over) = (Gate(), Gate())
          let request = session.request(origin.url).validate()
            .retry(
              using: Retrier { _, _, _, completion in
                asked.open()
                completion(.retry)
              })
          let errors = Log<AFError?>()
          request.response(queue: session.rootQueue) {
            errors.note($0.error)
            over.open()
          }
          await asked.wait()
          request.cancel()
          await over.wait()
          #expect(errors.entries.count == 1 && errors.entries[0] != nil)
        }
        #expect(await session.running.isEmpty)
        #expect(await session.session.allTasks.isEmpty)
      }
    }
  }

  @Test("a request that is cancelled during a long retry delay is released immediately")
  func forgottenInDelay() async throws {
    try await withServer { _ in
      Reply(status: 500)
    } _: { origin in
      try await withSession { session in
        let asked = Gate()
        var request: DataRequest? = session.request(origin.url).validate()
          .retry(
            using: Retrier { _, _, _, completion in
              completion(.retryWithDelay(.infinity))
              asked.open()
            })
        let weakly = WeakReference(request)
        let over = Gate()
        request?.response(queue: session.rootQueue) { _ in over.open() }
        await asked.wait()
        await session.rootQueue.drain()
        request?.cancel()
        await over.wait()
        request = nil
        #expect(await settles { weakly.object == nil })
      }
    }
  }

  @Test("a request that is suspended during a retry delay creates its next task, but isn't sent until it is resumed")
  func suspendedInDelay() async throws {
    let rounds = Atomic(0)
    try await withServer { _ in
      .text("here", status: rounds.add(1, ordering: .relaxed).newValue == 1 ? 503 : 200)
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url).validate()
          .retry(
            using: Retrier { request, _, _, completion in
              request.suspend()
              completion(.retryWithDelay(0.001))
            })
        let tasks = Recorder<URLSessionTask>()
        request.onURLSessionTaskCreation(on: session.rootQueue) { tasks.record($0) }
        let text = request.serializingString()
        let second = await tasks.first(2).last
        #expect(second?.state == .suspended && request.isSuspended && request.retryCount == 1)
        // If the second attempt had been sent, this request would arrive after it.
        #expect(await session.request(origin.url).serializingString().response.value == "here")
        #expect(second?.state == .suspended && origin.requestCount == 2)
        request.resume()
        #expect(await text.response.value == "here")
        #expect(request.tasks.count == 2 && origin.requestCount == 3)
      }
    }
  }

  @Test("calling retryRequest for a request that hasn't failed has no effect")
  func uncalledFor() async throws {
    let (arrived, mayAnswer) = (Gate(), Gate())
    try await withOrigin { peer in
      try peer.serve { _ in
        arrived.open()
        try peer.wait(for: mayAnswer)
        return .text("here")
      }
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url)
        session.retryRequest(request, withDelay: nil)
        async let response = request.serializingString().response
        await arrived.wait()
        session.retryRequest(request, withDelay: nil)
        session.retryRequest(request, withDelay: 0.001)
        await session.rootQueue.drain()
        #expect(request.isResumed)
        mayAnswer.open()
        #expect(await response.value == "here")
        session.retryRequest(request, withDelay: nil)
        await session.rootQueue.drain()
        #expect(request.isFinished && request.retryCount == 0 && request.tasks.count == 1)
      }
    }
  }

  @Test("a request with a timeout of 1 ms fails with URLError.timedOut, and the default retry policy retries it twice")
  func policy() async throws {
    try await withServer { _ in
      .hold
    } _: { origin in
      let policy = RetryPolicy(exponentialBackoffBase: 2, exponentialBackoffScale: 0.001)
      try await keeping(Session(configuration: .forTests, interceptor: policy)) { session in
        let request = session.request(origin.url) { $0.timeoutInterval = 0.001 }
        let response = await request.outcome()
        guard case .sessionTaskFailed(let error) = response.error else {
          Issue.record("\(response)")
          return
        }
        #expect((error as? URLError)?.code == .timedOut)
        #expect(request.retryCount == 2 && request.tasks.count == 3)
        let post = session.request(origin.url, method: .post) { $0.timeoutInterval = 0.001 }
        #expect(await post.outcome().error?.isSessionTaskError == true)
        #expect(post.retryCount == 0)
      }
    }
  }

  @Test("ConnectionLostRetryPolicy retries a request whose connection was lost")
  func connectionLost() async throws {
    let connections = Atomic(0)
    try await withOrigin { peer in
      _ = try peer.readRequest()
      if connections.add(1, ordering: .relaxed).newValue == 3 { return try peer.respond(body: Array("here".utf8)) }
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
    } _: { origin in
      try await withSession { session in
        let policy = ConnectionLostRetryPolicy(retryLimit: 5, exponentialBackoffScale: 0.001)
        let request = session.request(origin.url, interceptor: policy)
        let response = await request.serializingString().response
        #expect(response.value == "here")
        #expect(request.retryCount == 2)
      }
    }
  }
}
