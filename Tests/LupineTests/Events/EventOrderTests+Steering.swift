// The order of events of data requests that are retried, suspended, resumed and cancelled.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

extension EventOrderTests {
  // MARK: Retries

  // A retrier belongs to an interceptor, which also adapts requests. So each attempt causes an adaptation event.

  @Test("each attempt of a retried request has its own task, but the request is resumed and finishes only once")
  func retries() async throws {
    let count = Atomic(0)
    try await withServer { _ in
      .text("here", status: count.add(1, ordering: .relaxed).newValue < 3 ? 503 : 200)
    } _: { origin in
      try await withMonitoredSession([recorder]) { session in
        let request = session.request(origin.url).validate(statusCode: [200])
          .retry(using: Retrier { _, _, _, completion in completion(.retry) })
        func round(_ received: [EventName]) -> [EventName] {
          EventPart.builtWithInterceptor + [.requestDidResumeTask] + received + EventPart.measured
            + [.requestDidValidateRequestResponseDataWithResult, .requestDidCompleteTaskWithError]
        }
        let failedRound = round(EventPart.receivedError) + [.requestIsRetrying]
        await recorder.expect(
          request,
          [.requestDidResume] + failedRound + failedRound + round(EventPart.received) + EventPart.finished)
        #expect(request.allMetrics.count == 3 && request.tasks.count == 3)
      }
    }
  }

  @Test("if creating the URLRequest fails, a retry creates the URLRequest again")
  func retriedBuild() async throws {
    try await withMonitoredSession([recorder]) { session in
      let request = session.request("").retry(
        using: Retrier { request, _, _, completion in completion(request.retryCount < 2 ? .retry : .doNotRetry) })
      let failure = EventName.requestDidFailToCreateURLRequestWithError
      await recorder.expect(
        request,
        [
          .requestDidResume, failure, .requestIsRetrying, failure, .requestIsRetrying, failure,
        ] + EventPart.finished)
    }
  }

  @Test("a request that is retried because a serializer failed causes its finish and serialization events twice")
  func retriedSerialization() async throws {
    let count = Atomic(0)
    try await withServer { _ in
      .text(count.add(1, ordering: .relaxed).newValue == 1 ? "no JSON" : "[1]")
    } _: { origin in
      let retrier = Retrier { _, _, _, completion in completion(.retry) }
      try await withMonitoredSession([recorder]) { session in
        let request = session.request(origin.url).retry(using: retrier)
        let response = request.serializingDecodable([Int].self)
        request.resume()
        #expect(await response.response.value == [1])
        let round =
          EventPart.builtWithInterceptor + [.requestDidResumeTask] + EventPart.received + EventPart.completed
          + [.requestDidFinish, .requestDidParseValue]
        await recorder.expectSoFar(request, [.requestDidResume] + round + [.requestIsRetrying] + round)
      }
    }
  }

  // MARK: Resuming, suspending and cancelling

  @Test("a request that is cancelled before it is resumed finishes without a task")
  func cancelBeforeResume() async throws {
    try await withMonitoredSession([recorder]) { session in
      let request = session.request("http://127.0.0.1:1")
      request.cancel()
      await recorder.expect(request, [.requestDidCancel] + EventPart.finished)
    }
  }

  @Test("the metrics of a request that is cancelled while its task is running are gathered before the task completes")
  func cancelWhileRunning() async throws {
    let arrived = Gate()
    try await withServer { _ in
      arrived.open()
      return .hold
    } _: { origin in
      try await withMonitoredSession([recorder]) { session in
        let request = session.request(origin.url).resume()
        await arrived.wait()
        request.cancel()
        await recorder.expect(
          request,
          [.requestDidResume] + EventPart.built
            + [.requestDidResumeTask, .requestDidCancel, .requestDidCancelTask] + EventPart.completed
            + EventPart.finished)
        #expect(request.allMetrics.count == 1)
      }
    }
  }

  @Test("cancelling a request cancels its task, even if the task was never resumed")
  func cancelOfUnresumedTask() async throws {
    try await withMonitoredSession([recorder], setup: .eager) { session in
      let request = session.request("http://127.0.0.1:1")
      await recorder.expectSoFar(request, EventPart.built)
      request.cancel()
      await recorder.expect(
        request,
        EventPart.built + [.requestDidCancel, .requestDidCancelTask] + EventPart.completed
          + EventPart.finished)
    }
  }

  @Test(
    "with eager setup, resuming a request before its task exists causes requestDidResume and then requestDidCreateTask")
  func resumedWhileTaskIsMade() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withMonitoredSession([recorder], setup: .eager) { session in
        session.rootQueue.suspend()
        let request = session.request(origin.url)
        request.cURLDescription { [weak request] _ in request?.resume() }
        session.rootQueue.resume()
        await recorder.expect(
          request,
          EventPart.built.dropLast() + [.requestDidResume, .requestDidCreateTask] + EventPart.run)
      }
    }
  }

  @Test("if a request is resumed and suspended before its task exists, the request's events precede the task's")
  func steeredBeforeItIsMade() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withMonitoredSession([recorder]) { session in
        session.rootQueue.suspend()
        let request = session.request(origin.url)
        request.resume().suspend()
        session.rootQueue.resume()
        await session.rootQueue.drain()
        await recorder.expect(
          request,
          [.requestDidResume] + EventPart.built.dropLast() + [
            .requestDidSuspend, .requestDidCreateTask, .requestDidSuspendTask, .requestDidResume,
          ] + EventPart.run)
      }
    }
  }

  @Test("cancelling a request after its task has completed doesn't cancel the task")
  func cancelAfterCompletion() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withMonitoredSession([recorder]) { session in
        let request = session.request(origin.url)
        let response = request.serializingResponse(using: Cancelling(request: request))
        request.resume()
        _ = await response.response
        #expect(request.isCancelled)
        await recorder.expectSoFar(
          request,
          [.requestDidResume] + EventPart.built + EventPart.run.dropLast()
            + [.requestDidParseValue, .requestDidCancel])
      }
    }
  }

  @Test("a finished request ignores calls of cancel, suspend and resume")
  func steeringAfterTheEnd() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withMonitoredSession([recorder]) { session in
        let request = session.request(origin.url)
        let before = await recorder.events(of: request)
        request.cancel().suspend().resume()
        await recorder.expectSoFar(request, before + [.requestDidParseResponse])
      }
    }
  }

  @Test("suspending and resuming a request suspends and resumes its task")
  func suspension() async throws {
    let (arrived, mayAnswer) = (Gate(), Gate())
    try await withOrigin { peer in
      guard try peer.readRequest() != nil else { return }
      arrived.open()
      try peer.wait(for: mayAnswer)
      try peer.respond(fields: ["Connection": "close"], body: [1])
    } _: { origin in
      try await withMonitoredSession([recorder]) { session in
        let request = session.request(origin.url)
        request.suspend()
        request.resume()
        await arrived.wait()
        request.suspend()
        request.resume()
        mayAnswer.open()
        await recorder.expect(
          request,
          [.requestDidSuspend, .requestDidResume] + EventPart.built + [
            .requestDidResumeTask, .requestDidSuspend, .requestDidSuspendTask, .requestDidResume,
          ] + EventPart.run)
      }
    }
  }
}

/// A serializer that cancels its request while it serializes the response.
private struct Cancelling: DataResponseSerializerProtocol {
  let request: Request

  func serialize(request _: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?) -> Int {
    request.cancel()
    return data?.count ?? 0
  }
}
