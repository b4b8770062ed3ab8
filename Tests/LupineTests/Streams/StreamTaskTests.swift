// `DataStreamTask`: async sequences of a body's pieces.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct StreamTaskTests {
  @Test(
    "each async sequence of a stream task resumes the request when iterated, and delivers all parts and the completion")
  func kinds() async throws {
    try await withServer { _ in
      .text("12")
    } _: { origin in
      try await withSession { session in
        let request = session.streamRequest(origin.url)
        let task = request.streamTask()
        let sequence = task.streamingData()
        #expect(request.isInitialized)
        var seen: [String] = []
        for await stream in sequence { seen.append("\(stream.value.map { [UInt8]($0) } ?? [])") }
        #expect(request.isFinished)
        for await stream in session.streamRequest(origin.url).streamTask().streamingStrings() {
          seen.append(stream.value ?? "end \(stream.completion?.response?.statusCode ?? 0)")
        }
        for await stream in session.streamRequest(origin.url).streamTask().streamingDecodables(Int.self) {
          seen.append(stream.value.map { "\($0)" } ?? "end")
        }
        for await stream in session.streamRequest(origin.url).streamTask().streamingResponses(
          serializedUsing: .decodable(of: Double.self))
        {
          seen.append(stream.value.map { "\($0)" } ?? "end")
        }
        #expect(seen == ["[49, 50]", "[]", "12", "end 200", "12", "end", "12.0", "end"])
        // A loop that starts after the end receives only the completion.
        var late = sequence.makeAsyncIterator()
        #expect(await late.next()?.completion?.error == nil)
        #expect(await late.next() == nil)
      }
    }
  }

  @Test(
    "if automaticallyCancelling is true, leaving the loop over a stream cancels the request", arguments: [true, false])
  func leaving(isAutomatic: Bool) async throws {
    try await withEndlessServer { origin in
      try await withSession { session in
        let request = session.streamRequest(origin.url)
        for await stream in request.streamTask().streamingData(automaticallyCancelling: isAutomatic) {
          #expect(stream.value != nil)
          break
        }
        #expect(request.isCancelled == isAutomatic && request.isResumed != isAutomatic)
        // A second loop receives the remaining parts.
        if !isAutomatic {
          for await stream in request.streamTask().streamingStrings() {
            #expect(stream.value != nil)
            break
          }
        }
        #expect(request.isCancelled)
        #expect(await request.outcome().completion.error?.isExplicitlyCancelledError == true)
      }
    }
  }

  @Test(
    "cancelling a task that loops over a stream ends the loop, and with automaticallyCancelling also the request",
    arguments: [true, false])
  func cancellingTheLoop(isAutomatic: Bool) async throws {
    try await withEndlessServer { origin in
      try await withSession { session in
        let request = session.streamRequest(origin.url)
        let began = Gate()
        let loop = Task {
          for await _ in request.streamTask().streamingData(automaticallyCancelling: isAutomatic) { began.open() }
        }
        await began.wait()
        loop.cancel()
        await loop.value
        #expect(request.isCancelled == isAutomatic)
        request.cancel()
      }
    }
  }

  @Test("a DataStreamTask's suspend, resume and cancel methods suspend, resume and cancel its request")
  func control() async throws {
    try await withServer { _ in
      .hold
    } _: { origin in
      try await withSession(startRequestsImmediately: false) { session in
        let request = session.streamRequest(origin.url)
        let task = request.streamTask()
        task.resume()
        #expect(request.isResumed)
        task.suspend()
        #expect(request.isSuspended)
        task.cancel()
        #expect(request.isCancelled)
        for await stream in task.streamingData() {
          #expect(stream.completion?.error?.isExplicitlyCancelledError == true)
        }
      }
    }
  }

  @Test("a stream request is released once all loops over its stream have ended")
  func requestGoes() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        weak var weakly: DataStreamRequest?
        do {
          let request = session.streamRequest(origin.url)
          weakly = request
          var heads = request.httpResponses().makeAsyncIterator()
          for await _ in request.streamTask().streamingStrings() {}
          #expect(await heads.next()?.statusCode == 200)
          for await _ in request.urlRequests() {}
        }
        #expect(await settles { weakly == nil })
      }
    }
  }
}
