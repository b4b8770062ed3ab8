// CommandError+EngineError: the command's error for an error of the engine, with the command's options as remedies.

import LupineEngine

extension CommandError {
  /// Creates the command's error from an error of the engine. After a redirect, the engine's time limit is only the rest of
  /// `maxTime`, but the message contains the full `maxTime`, as the user has set it.
  init(_ error: EngineError, _ options: Options) {
    let code = ExitCode(error, options)
    switch (error.code, error.cause) {
    case (.timedOut, .totalLimit(let limit)):
      let limit = (options.maxTime ?? limit).formattedSeconds
      let phase = error.phase.rawValue
      self.init(
        code,
        "\(error.origin): the request didn't finish within \(limit) (phase: \(phase)). Raise --max-time.")
    case (.bodyUnreadable, .producer(let error as CommandError)):
      self = error
    default:
      self.init(code, error.description + Self.remedy(error, code))
    }
    if options.isWebSocket { message = message.map(OptionParser.webSocketForm) }
  }

  // The remedies in the engine's messages name its API. This function returns the command's options to add to the message.
  private static func remedy(_ error: EngineError, _ code: ExitCode) -> String {
    switch (code, error.cause) {
    case (.certificateNotVerified, .tls(let cause)) where [.selfSigned, .unknownAuthority].contains(cause.code):
      " Use --cacert FILE."
    case (.handshakeFailed, .tls(let cause)) where cause.code == .protocolVersion:
      " Use --tlsv1.2, --tlsv1.3 and --tls-max."
    case (.staplingFailed, .tls(let cause)) where cause.code == .ocsp(.missing): " The option is --cert-status."
    case (.unusableCiphers, _): " The options are --ciphers, --tls13-ciphers and --curves."
    case (.unusableIdentity, _): " Use --cert."
    case (.writeError, _): " The environment variable SSLKEYLOGFILE names the file."
    case (.interfaceFailed, _): " Set the interface with --interface."
    case (.proxyNotResolved, _) where error.code != .proxyFailed: " This is the proxy's host name."
    case (.timedOut, _) where [.resolve, .connect, .proxy, .tls].contains(error.phase):
      " The option is --connect-timeout."
    case (.undecodableBody, _): " To receive it undecoded, pass --raw."
    default: ""
    }
  }
}
