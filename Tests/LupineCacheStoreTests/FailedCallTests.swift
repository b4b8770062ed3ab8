// FailedCallTests: runs LupineCacheFaults, a program that uses the store while system calls fail.

import Foundation
import LupineTestSupport
import Testing

@Suite struct FailedCallTests {
  @Test("whichever system call of the disk cache fails, and however it fails, each record is then complete or absent")
  func failedCalls() async throws {
    let folder = try StoreFolder()
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let program = URL(filePath: tests).deletingLastPathComponent().appending(path: "LupineCacheFaults").path
    let (status, output) = try await ChildProcess.run([program, folder.path])
    #expect(status == 0, "\(String(decoding: output, as: UTF8.self))")
  }
}
