// Runs the built command, which lies next to the test bundle. Foundation's Process leaks on Linux, which the address
// sanitizer reports; so posix_spawn it is.

import Foundation
import Glibc

/// What a run of the command left behind.
struct Run {
  /// The exit status, or 128 and the signal's number.
  let status: Int32
  let output: String
  let errors: String

  /// Whether standard error has exactly one line.
  var hasOneErrorLine: Bool { errors.hasSuffix("\n") && !errors.dropLast().contains("\n") }
}

struct CommandMissing: Error, CustomStringConvertible {
  let path: String
  var description: String { "\(path) isn't there: run `swift build --product lupine`" }
}

struct CallFailed: Error {
  let call: String
  let code: CInt
}

/// Runs `lupine`. `standardError` replaces the file that is read into `errors`.
func lupine(_ arguments: [String], input: String = "", standardError: CInt? = nil) async throws -> Run {
  let path = try commandPath()
  return try await run([path] + arguments, input, standardError)
}

/// Runs a line of sh, in which `$lupine` is the command.
func shell(_ line: String) async throws -> Run {
  try await run(["/bin/sh", "-c", "lupine='\(try commandPath())'; \(line)"], "", nil)
}

private func commandPath() throws -> String {
  let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
  let path = bundle.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/lupine"
  guard access(path, X_OK) == 0 else { throw CommandMissing(path: path) }
  return path
}

private func run(_ command: [String], _ input: String, _ standardError: CInt?) async throws -> Run {
  let folder = try Folder()
  // Files, not pipes: nobody has to empty them while the command runs.
  let files = try ["in", "out", "err"].map { try folder.write($0, $0 == "in" ? input : "") }
  let process = try spawn(command, files, standardError)
  let status: CInt = await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      var status: CInt = 0
      while waitpid(process, &status, 0) < 0, errno == EINTR {}
      continuation.resume(returning: status)
    }
  }
  // As WIFEXITED and WEXITSTATUS have it, which are macros.
  let code = status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
  return Run(status: code, output: try folder.read("out"), errors: try folder.read("err"))
}

private func spawn(_ command: [String], _ files: [String], _ standardError: CInt?) throws -> pid_t {
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, files[0], O_RDONLY, 0)
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, files[1], O_WRONLY, 0)
  if let standardError {
    posix_spawn_file_actions_adddup2(&actions, standardError, STDERR_FILENO)
  } else {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, files[2], O_WRONLY | O_APPEND, 0)
  }
  var arguments = command.map { strdup($0) } + [nil]
  var environment = ProcessInfo.processInfo.environment.map { strdup("\($0)=\($1)") } + [nil]
  defer { (arguments + environment).forEach { free($0) } }
  var process = pid_t()
  let code = posix_spawn(&process, command[0], &actions, nil, &arguments, &environment)
  guard code == 0 else { throw CallFailed(call: "posix_spawn", code: code) }
  return process
}
