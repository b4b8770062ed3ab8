// Handlers on the main queue, where they are called by default, however a program's main thread waits for them.

import Foundation
import Glibc
import LupineOrigin
import Testing

@testable import Lupine

@Suite(.timeLimit(.minutes(10))) struct MainQueueTests {
  private static let expected = ["head 200", "response here", "piece here", "end"]

  @Test(
    "they come in programs whose main thread is in dispatchMain or runs its loop",
    arguments: ["dispatchMain", "RunLoop"])
  func programs(way: String) async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      let (status, output) = try await run(["LupineMainQueue", way, origin.url])
      #expect(status == 0)
      #expect(output.split(separator: "\n").map(String.init) == Self.expected)
    }
  }

  // The main thread of the tests' own program awaits their end.
  @Test("they come in a program whose main is asynchronous")
  func asynchronousMain() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        let seen = Recorder<String>()
        let onMain: @Sendable (String) -> Void = { words in
          dispatchPrecondition(condition: .onQueue(.main))
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

  @Test("awaiting needs no main queue")
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

  /// Runs a program that lies next to the test bundle; returns its exit status and what it has printed.
  private func run(_ command: [String]) async throws -> (status: CInt, output: String) {
    let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let program = URL(filePath: bundle).deletingLastPathComponent().appending(path: command[0])
    let folder = FileManager.default.temporaryDirectory.appending(path: "lupine-main-queue-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let output = folder.appending(path: "output")
    let status = try await spawn([program.path] + command.dropFirst(), output: output.path)
    return (status, try String(contentsOf: output, encoding: .utf8))
  }

  /// Foundation's Process leaks on Linux, which the address sanitizer reports; so posix_spawn it is.
  private func spawn(_ command: [String], output: String) async throws -> CInt {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    var arguments = command.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    let result = posix_spawn(&process, command[0], &actions, nil, &arguments, environ)
    try #require(result == 0, "\(command[0]) can't be started: \(String(cString: strerror(result)))")
    let started = process
    return await onThread {
      var status: CInt = 0
      while waitpid(started, &status, 0) < 0, errno == EINTR {}
      return status
    }
  }
}
