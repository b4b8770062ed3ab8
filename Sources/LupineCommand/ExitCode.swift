// ExitCode: the command's exit statuses. They are curl's numbers where curl has one, so that scripts can switch from
// curl.

/// The exit status of the command `lupine`. It is curl's number where curl has one, so that scripts can switch from curl.
enum ExitCode: CInt, CaseIterable {
  case success = 0
  case other = 1
  case usage = 2
  case proxyNotResolved = 5
  case hostNotResolved = 6
  case notConnected = 7
  case partialBody = 18
  case httpError = 22
  case writeError = 23
  case unreadableInput = 26
  case timedOut = 28
  case handshakeFailed = 35
  case interfaceFailed = 45
  case tooManyRedirects = 47
  case emptyReply = 52
  case receiveFailed = 56
  case unusableIdentity = 58
  case unusableCiphers = 59
  case certificateNotVerified = 60
  case undecodableBody = 61
  case bodyNotReplayable = 65
  case unusableTrustRoots = 77
  case unusableRevocationList = 82
  case staplingFailed = 91
  case authenticationFailed = 94
  case proxyFailed = 97
  case serverAtFault = 100
  case objectiveMissed = 101
  case generatorOverloaded = 102
  /// 128 plus the number of SIGINT, as shells show programs that the signal has ended.
  case interrupted = 130

  /// The description of the exit status in the output of `--help`.
  var meaning: String {
    switch self {
    case .success: "the response is complete, with any status code"
    case .other: "any other error, such as a redirect from https to http"
    case .usage: "an invalid option, URL, method or field"
    case .proxyNotResolved: "the proxy's name can't be resolved, or its URL in the environment is invalid"
    case .hostNotResolved: "the host name can't be resolved"
    case .notConnected: "the connection couldn't be opened"
    case .partialBody: "the connection ended in the middle of the body"
    case .httpError: "the status code is 400 or more, with --fail; or isn't as --ws or --sse requires"
    case .writeError: "the output can't be written; without a message if its pipe was closed"
    case .unreadableInput: "an input file can't be read"
    case .timedOut: "a time limit was exceeded"
    case .handshakeFailed: "the TLS handshake failed"
    case .interfaceFailed: "the address or interface of --interface can't be used"
    case .tooManyRedirects: "more than 20 redirects"
    case .emptyReply: "the server closed the connection without a response"
    case .receiveFailed: "the connection was lost, or the response isn't HTTP"
    case .unusableIdentity: "the client certificate or its key can't be used"
    case .unusableCiphers: "the ciphers or curves can't be used"
    case .certificateNotVerified: "the server's certificate isn't trusted"
    case .undecodableBody: "the body can't be decoded"
    case .bodyNotReplayable: "standard input must be sent again, after a redirect or with credentials, but can't be"
    case .unusableTrustRoots: "the certificates of --cacert or --capath can't be used"
    case .unusableRevocationList: "the revocation lists of --crlfile can't be used"
    case .staplingFailed: "no OCSP response confirms the server's certificate, with --cert-status"
    case .authenticationFailed: "NTLM or Negotiate can't be used, or the server hasn't proven its identity"
    case .proxyFailed: "the proxy refused the connection, or violated its protocol"
    case .serverAtFault: "lupine fuzz found an invalid response, a hang, a reset or a desync"
    case .objectiveMissed: "lupine bench met a condition of --fail-if, or compare found a worse figure"
    case .generatorOverloaded: "lupine bench couldn't send in time, so its figures don't describe the server"
    case .interrupted: "lupine bench was interrupted, such as by Ctrl-C; its report covers the time before"
    }
  }
}
