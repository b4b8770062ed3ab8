// FailedCallTests: the store while system calls fail, in a program in which they can be made to.

import Foundation
import LupineTestSupport
import Testing

@Suite struct FailedCallTests {
  @Test("after the n-th system call has failed in each possible way, for every n, each record is complete or absent")
  func failedCalls() async throws {
    let folder = try StoreFolder()
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let program = URL(filePath: tests).deletingLastPathComponent().appending(path: "LupineCacheFaults").path
    let (status, output) = try await ChildProcess.run([program, folder.path])
    #expect(status == 0, "\(String(decoding: output, as: UTF8.self))")
  }
}
