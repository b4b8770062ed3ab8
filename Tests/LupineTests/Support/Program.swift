// Running the programs that are built for the tests.

import Foundation
import Glibc
import Testing

/// Runs a program that lies next to the test bundle; returns its exit status, as waitpid gives it, and what it has printed.
func runProgram(_ command: [String]) async throws -> (status: CInt, output: String) {
  let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
  let program = URL(filePath: bundle).deletingLastPathComponent().appending(path: command[0])
  let folder = FileManager.default.temporaryDirectory.appending(path: "lupine-program-\(UUID())")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
  defer { try? FileManager.default.removeItem(at: folder) }
  let output = folder.appending(path: "output")
  let status = try await spawn([program.path] + command.dropFirst(), output: output.path)
  return (status, String(decoding: try Data(contentsOf: output), as: UTF8.self))
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
