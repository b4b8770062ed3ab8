// CommandError: an error of the command, with its exit status and the message for standard error.

import LupineEngine

/// The reason why the command failed.
struct CommandError: Error, Equatable {
  let code: ExitCode
  /// The failure, its place and a remedy, without the program's name, or nil if nothing is printed.
  var message: String?

  init(_ code: ExitCode, _ message: String?) {
    self.code = code
    self.message = message
  }

  /// Returns the error for an invalid command line.
  static func usage(_ what: String) -> CommandError {
    CommandError(.usage, "\(what): see lupine --help")
  }

  /// The line for standard error, or nil if nothing is printed.
  var line: String? { message.map { "lupine: \($0.printable)\n" } }
}

extension CommandError {
  /// Converts an error of the engine. After a redirect, the engine's total limit is the rest of `maxTime`, so the message shows
  /// `maxTime`, the value that the user has set.
  init(_ error: EngineError, _ options: Options) {
    let code = ExitCode(error, options)
    switch (error.code, error.cause) {
    case (.timedOut, .totalLimit(let limit)):
      let limit = (options.maxTime ?? limit).secondsText
      let phase = error.phase.rawValue
      self.init(
        code,
        "\(error.origin): the request wasn't complete within \(limit); it was in phase \(phase). Raise --max-time.")
    case (.bodyUnreadable, .producer(let error as CommandError)):
      self = error
    default:
      self.init(code, error.description + Self.remedy(error, code))
    }
  }

  // The engine's remedies name its API. This adds the command's options for them.
  private static func remedy(_ error: EngineError, _ code: ExitCode) -> String {
    switch (code, error.cause) {
    case (.certificateNotVerified, .tls(let cause)) where [.selfSigned, .unknownAuthority].contains(cause.code):
      " Use --cacert FILE."
    case (.handshakeFailed, .tls(let cause)) where cause.code == .protocolVersion:
      " Use --tlsv1.2, --tlsv1.3 and --tls-max."
    case (.staplingFailed, .tls(let cause)) where cause.code == .ocsp(.missing): " The option is --cert-status."
    case (.unusableCiphers, _): " The options are --ciphers, --tls13-ciphers and --curves."
    case (.unusableIdentity, _): " Use --cert."
    case (.writeError, _): " SSLKEYLOGFILE in the environment names the file."
    case (.interfaceFailed, _): " The option is --interface."
    case (.proxyNotResolved, _) where error.code != .proxyFailed: " This is the proxy's host name."
    case (.timedOut, _) where [.resolve, .connect, .proxy, .tls].contains(error.phase):
      " The option is --connect-timeout."
    case (.undecodableBody, _): " To receive it undecoded, pass --raw."
    default: ""
    }
  }
}
