// CommandError: an error of the command, with its exit status and the message for standard error.

import LupineEngine

/// The reason why the command failed, with its exit status.
struct CommandError: Error, Equatable {
  let code: ExitCode
  /// The error message: what failed, where, and a remedy. It doesn't begin with the program's name. Nil if the command prints no
  /// message.
  var message: String?

  init(_ code: ExitCode, _ message: String?) {
    self.code = code
    self.message = message
  }

  /// Creates the error for an invalid command line.
  static func usage(_ what: String) -> CommandError {
    CommandError(.usage, "\(what): see lupine --help")
  }

  /// The line that the command prints on standard error, or nil if it prints no message.
  var line: String? { message.map { "lupine: \($0.printable)\n" } }
}
