// Programs that tests start. By posix_spawn, since Foundation's Process leaks on Linux, and reads beyond the end of a buffer
// when thousands of descriptors are open: AddressSanitizer reports both.

package import Foundation
import Glibc

/// A program that runs, or has run.
package struct ChildProcess: Sendable {
  /// Where a standard stream of it leads.
  package enum Stream: Sendable {
    case inherited
    /// Files, not pipes, for what is long: nobody has to empty them while the program runs.
    case file(String)
    case descriptor(CInt)
  }

  /// Why it couldn't be started, as errno says.
  package struct Failure: Error {
    package let program: String
    package let code: CInt
  }

  package let processIdentifier: pid_t

  /// Starts the program whose path is the command's first word, in this process's environment.
  package init(
    _ command: [String], input: Stream = .inherited, output: Stream = .inherited, errors: Stream = .inherited
  ) throws(Failure) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, stream) in [(STDIN_FILENO, input), (STDOUT_FILENO, output), (STDERR_FILENO, errors)] {
      switch stream {
      case .inherited: break
      case .file(let path):
        let flags = number == STDIN_FILENO ? O_RDONLY : O_WRONLY | O_APPEND
        posix_spawn_file_actions_addopen(&actions, number, path, flags, 0)
      case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
      }
    }
    var arguments = command.map { strdup($0) } + [nil]
    var environment = ProcessInfo.processInfo.environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in arguments + environment { free(text) } }
    var process = pid_t()
    let code = posix_spawn(&process, command[0], &actions, nil, &arguments, &environment)
    guard code == 0 else { throw Failure(program: command[0], code: code) }
    processIdentifier = process
  }

  /// Blocks until it has ended; returns its exit status, or 128 and the number of the signal that ended it. Once only.
  @discardableResult
  package func awaitEnd() -> Int32 {
    var status: CInt = 0
    while waitpid(processIdentifier, &status, 0) < 0, errno == EINTR {}
    // As WIFEXITED and WEXITSTATUS have it, which are macros.
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
  }

  /// The same for tasks, whose threads mustn't be blocked.
  package func end() async -> Int32 {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: awaitEnd()) }
    }
  }

  /// Runs a program to its end; returns its exit status and what it has printed.
  package static func run(
    _ command: [String], input: String = "", errors: Stream = .inherited
  ) async throws -> (status: Int32, output: Data) {
    let (input, output) = (try TemporaryFile(Array(input.utf8)), try TemporaryFile())
    let process = try ChildProcess(command, input: .file(input.path), output: .file(output.path), errors: errors)
    let status = await process.end()
    return (status, try Data(contentsOf: URL(filePath: output.path)))
  }
}
