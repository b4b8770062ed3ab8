// The command's one error: an exit status, and the one line that says why.

import LupineEngine

/// Why the command doesn't do, or didn't complete, what it was asked for.
struct CommandError: Error, Equatable {
  let code: ExitCode
  /// What, where, and what to do, without the program's name. Nil if there is nobody to tell.
  var message: String?

  init(_ code: ExitCode, _ message: String?) {
    self.code = code
    self.message = message
  }

  /// An error in the command line.
  static func usage(_ what: String) -> CommandError {
    CommandError(.usage, "\(what): see lupine --help")
  }

  /// The line for standard error, if there is one.
  var line: String? { message.map { "lupine: \($0.printable)\n" } }
}

extension CommandError {
  /// Behind a redirect the engine's total limit is what was left of `maxTime`, which is what the caller knows.
  init(_ error: EngineError, maxTime: Duration?) {
    let code = ExitCode(error)
    if case (.timedOut, .totalLimit) = (error.code, error.cause), let maxTime {
      self.init(
        code,
        "\(error.origin): not complete within \(maxTime.secondsText), in the phase \(error.phase.rawValue). "
          + "Raise --max-time.")
    } else {
      self.init(code, error.description + Self.remedy(error, code))
    }
  }

  // The engine's remedies name its API; these are the options for them.
  private static func remedy(_ error: EngineError, _ code: ExitCode) -> String {
    switch (code, error.cause) {
    case (.certificateNotVerified, .tls(let cause)) where [.selfSigned, .unknownAuthority].contains(cause.code):
      " Here that is --cacert FILE."
    case (.timedOut, _) where [.resolve, .connect, .tls].contains(error.phase): " Here that is --connect-timeout."
    case (.undecodableBody, _): " The option --raw takes it as it is."
    default: ""
    }
  }
}
