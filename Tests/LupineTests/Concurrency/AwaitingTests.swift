// Awaiting a response: cancellation of the awaiting task, and DataTask's control of its request.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct AwaitingTests {
  @Test(
    "cancelling the task that awaits a response cancels the request, unless automaticallyCancelling is false",
    arguments: [true, false])
  func awaitingTask(isAutomatic: Bool) async throws {
    let (arrived, reply) = (Gate(), Gate())
    try await withOrigin { peer in
      _ = try peer.readRequest()
      arrived.open()
      try peer.wait(for: reply)
      try peer.respond(body: Array("late".utf8))
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url)
        let data = request.serializingString(automaticallyCancelling: isAutomatic)
        let waiting = Task { await data.response }
        await arrived.wait()
        waiting.cancel()
        if isAutomatic {
          #expect(await waiting.value.error?.isExplicitlyCancelledError == true)
          #expect(request.isCancelled)
          reply.open()
        } else {
          reply.open()
          #expect(await waiting.value.value == "late")
          #expect(request.isFinished)
        }
        // The response can be awaited again after the request has ended.
        #expect(await data.response.value == (isAutomatic ? nil : "late"))
        #expect(await (try? data.value) == (isAutomatic ? nil : "late"))
      }
    }
  }

  @Test("a DataTask's suspend, resume and cancel methods suspend, resume and cancel its request")
  func dataTask() async throws {
    try await withServer { _ in
      .hold
    } _: { origin in
      try await withSession(startRequestsImmediately: false) { session in
        let request = session.request(origin.url)
        let task = request.serializingData()
        task.resume()
        #expect(request.isResumed)
        task.suspend()
        #expect(request.isSuspended)
        task.cancel()
        #expect(request.isCancelled)
        do {
          Issue.record("a cancelled request has a value: \(try await task.value)")
        } catch {
          #expect(error.asAFError?.isExplicitlyCancelledError == true)
        }
      }
    }
  }

  @Test("awaiting a response in a cancelled task cancels the request")
  func cancelledBefore() async throws {
    try await withServer { _ in
      .hold
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url)
        let gate = Gate()
        let waiting = Task {
          await gate.wait()
          return await request.serializingData().response
        }
        waiting.cancel()
        #expect(await waiting.value.error?.isExplicitlyCancelledError == true)
      }
    }
  }
}
