// Runs programs that are built together with the tests.

import Foundation
import LupineTestSupport

/// Runs a program from the folder of the test bundle. Returns its exit status and its output.
func runProgram(_ command: [String]) async throws -> (status: Int32, output: String) {
  let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
  let program = URL(filePath: bundle).deletingLastPathComponent().appending(path: command[0])
  let (status, output) = try await ChildProcess.run([program.path] + command.dropFirst())
  return (status, String(decoding: output, as: UTF8.self))
}
