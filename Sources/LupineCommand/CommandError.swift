// CommandError: an error of the command, with its exit status and the message for standard error.

/// The reason why the command failed.
struct CommandError: Error, Equatable {
  let code: ExitCode
  /// The message: what failed, where, and a remedy. It doesn't contain the program's name. Nil if the command prints no message.
  var message: String?

  init(_ code: ExitCode, _ message: String?) {
    self.code = code
    self.message = message
  }

  /// Returns the error for an invalid command line.
  static func usage(_ what: String) -> CommandError {
    CommandError(.usage, "\(what): see lupine --help")
  }

  /// The line for standard error, or nil if the command prints no message.
  var line: String? { message.map { "lupine: \($0.printable)\n" } }
}
