// Handlers on the main queue, the default: they are called in each kind of program.

import Foundation
import Glibc
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct MainQueueTests {
  private static let expected = ["head 200", "response here", "piece here", "end"]

  @Test(
    "handlers on the main queue are called with dispatchMain and with a RunLoop, but only with the latter on the main thread",
    arguments: [("dispatchMain", "on another thread"), ("RunLoop", "on the main thread")])
  func programs(way: String, thread: String) async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      let (status, output) = try await runProgram(["LupineMainQueue", way, origin.url])
      #expect(status == 0)
      let lines: [String] = output.split(separator: "\n").map { String($0) }
      #expect(lines == Self.expected.map { "\($0) \(thread)" })
    }
  }

  // In the tests' own program, an asynchronous main awaits the end of the tests.
  @Test("in a program whose main function is async, handlers are called on the main queue, but not on the main thread")
  func asynchronousMain() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        let seen = Recorder<String>()
        let onMain: @Sendable (String) -> Void = { words in
          dispatchPrecondition(condition: .onQueue(.main))
          MainActor.assumeIsolated {}
          #expect(!Thread.isMainThread)
          seen.record(words)
        }
        session.request(origin.url).onHTTPResponse { onMain("head \($0.statusCode)") }.responseString { response in
          onMain("response \(response.value ?? "none")")
          session.streamRequest(origin.url).responseStreamString { stream in
            if let text = stream.value { onMain("piece \(text)") }
            if stream.completion != nil { onMain("end") }
          }
        }
        #expect(await seen.first(4) == Self.expected)
      }
    }
  }

  @Test("a task that awaits a response or a stream receives it even while the main queue is blocked")
  func blockedMain() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        let (blocked, goOn) = (Gate(), Gate())
        DispatchQueue.main.async {
          blocked.open()
          goOn.waitBlocking()
        }
        await blocked.wait()
        let request = session.request(origin.url).onHTTPResponse { _ async in await Task.yield() }
        #expect(await request.serializingString().response.value == "here")
        var pieces: [String] = []
        for await stream in session.streamRequest(origin.url).streamTask().streamingStrings() {
          pieces.append(stream.value ?? "end")
        }
        #expect(pieces == ["here", "end"])
        goOn.open()
      }
    }
  }
}
