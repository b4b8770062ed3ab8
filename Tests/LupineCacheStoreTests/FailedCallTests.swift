// FailedCallTests: runs LupineCacheFaults, a program that uses the store while system calls fail.

import Foundation
import LupineTestSupport
import Testing

@Suite struct FailedCallTests {
  @Test("after any failure of any system call, each record of the disk cache is either complete or absent")
  func failedCalls() async throws { try await run() }

  @Test("a process that has no descriptors left doesn't remove cached responses that don't match the condition")
  func removal() async throws { try await run("removal") }

  /// Runs LupineCacheFaults in a new folder with these further arguments, and checks that it succeeds.
  private func run(_ arguments: String...) async throws {
    let folder = try StoreFolder()
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let program = URL(filePath: tests).deletingLastPathComponent().appending(path: "LupineCacheFaults").path
    let (status, output) = try await ChildProcess.run([program, folder.path] + arguments)
    #expect(status == 0, "\(String(decoding: output, as: UTF8.self))")
  }
}
