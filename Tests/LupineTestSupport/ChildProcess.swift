// ChildProcess: starts programs for tests with posix_spawn. Foundation's Process leaks on Linux, and reads past the end
// of a buffer when thousands of descriptors are open, as AddressSanitizer reports.

package import Foundation
internal import Synchronization
import Glibc

/// A program that a test has started with posix_spawn. It may still be running.
package struct ChildProcess: Sendable {
  /// The source or destination of a program's standard input, output or error.
  package enum Stream: Sendable {
    case inherited
    /// The path of a file. Unlike a pipe, a file needs no reader while the program runs, so it is suitable for long output.
    case file(String)
    case descriptor(CInt)
  }

  /// The error for a program that couldn't be started. `code` is the errno value.
  package struct Failure: Error {
    package let program: String
    package let code: CInt
  }

  package let processIdentifier: pid_t

  /// Starts a program with the environment of this process. The first element of `command` is the program's path.
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

  /// Blocks until the program has ended. Returns its exit status, or 128 plus the number of the signal that ended it. Must be
  /// called only once.
  @discardableResult
  package func awaitEnd() -> Int32 {
    var status: CInt = 0
    while waitpid(processIdentifier, &status, 0) < 0, errno == EINTR {}
    // The same as the macros WIFEXITED and WEXITSTATUS, which Swift can't call.
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
  }

  /// Waits until the program has ended, like `awaitEnd`, but doesn't block the task's thread.
  package func end() async -> Int32 {
    // The lock is needed only for ThreadSanitizer. If the continuation is resumed before the Swift task waits, ThreadSanitizer
    // doesn't notice that the continuation orders the memory accesses.
    let status = Mutex<Int32>(0)
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      Thread.detachNewThread {
        let value = awaitEnd()
        status.withLock { $0 = value }
        continuation.resume()
      }
    }
    return status.withLock { $0 }
  }

  /// Runs a program to its end, and returns its exit status and its output.
  package static func run(
    _ command: [String], input: String = "", errors: Stream = .inherited
  ) async throws -> (status: Int32, output: Data) {
    let (input, output) = (try TemporaryFile(Array(input.utf8)), try TemporaryFile())
    let process = try ChildProcess(command, input: .file(input.path), output: .file(output.path), errors: errors)
    let status = await process.end()
    return (status, try Data(contentsOf: URL(filePath: output.path)))
  }
}
