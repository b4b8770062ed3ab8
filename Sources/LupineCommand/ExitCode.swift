// How the command ends: curl's number wherever curl has one, so that scripts can be moved over.

/// The exit status.
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
  case staplingFailed = 91
  case proxyFailed = 97
  case serverAtFault = 100

  /// One line for `--help`.
  var meaning: String {
    switch self {
    case .success: "the response is complete, whatever its status"
    case .other: "anything else, such as a redirect from https to http"
    case .usage: "a wrong option, URL, method or field"
    case .proxyNotResolved: "the proxy can't be looked up, or the environment's isn't one"
    case .hostNotResolved: "the host can't be looked up"
    case .notConnected: "no connection could be opened"
    case .partialBody: "the connection ended in the middle of the body"
    case .httpError: "the status is 400 or more, with --fail"
    case .writeError: "the output can't be written; a closed pipe says nothing else"
    case .unreadableInput: "a file to send can't be read"
    case .timedOut: "a time limit has passed"
    case .handshakeFailed: "the TLS handshake failed"
    case .interfaceFailed: "the address or interface of --interface can't be used"
    case .tooManyRedirects: "more than 20 redirects"
    case .emptyReply: "the server closed the connection without a reply"
    case .receiveFailed: "the connection was lost, or the reply isn't HTTP"
    case .unusableIdentity: "the client certificate or its key can't be used"
    case .unusableCiphers: "the ciphers or curves can't be used"
    case .certificateNotVerified: "the server's certificate isn't trusted"
    case .undecodableBody: "the body's content coding is broken"
    case .bodyNotReplayable: "standard input would have to be sent again, and can't be"
    case .unusableTrustRoots: "the certificates of --cacert or --capath can't be used"
    case .staplingFailed: "no OCSP response vouches for the server's certificate, with --cert-status"
    case .proxyFailed: "the proxy refused, or doesn't speak its protocol"
    case .serverAtFault: "lupine fuzz found a reply that breaks HTTP, a hang or a reset"
    }
  }
}
