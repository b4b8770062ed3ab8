// FailedCallTests: runs LupineCacheFaults, a program that uses the store while system calls fail.

import Foundation
import LupineTestSupport
import Testing

@Suite struct FailedCallTests {
  @Test("after any failure of any system call, each record of the disk cache is either complete or absent")
  func failedCalls() async throws {
    let folder = try StoreFolder()
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let program = URL(filePath: tests).deletingLastPathComponent().appending(path: "LupineCacheFaults").path
    let (status, output) = try await ChildProcess.run([program, folder.path])
    #expect(status == 0, "\(String(decoding: output, as: UTF8.self))")
  }
}
