// How the command ends: curl's number wherever curl has one, so that scripts can be moved over.

import LupineEngine

/// The exit status.
enum ExitCode: CInt, CaseIterable {
  case success = 0
  case other = 1
  case usage = 2
  case hostNotResolved = 6
  case notConnected = 7
  case partialBody = 18
  case httpError = 22
  case writeError = 23
  case unreadableInput = 26
  case timedOut = 28
  case handshakeFailed = 35
  case tooManyRedirects = 47
  case emptyReply = 52
  case receiveFailed = 56
  case certificateNotVerified = 60
  case undecodableBody = 61
  case unusableTrustRoots = 77

  /// One line for `--help`.
  var meaning: String {
    switch self {
    case .success: "the response is complete, whatever its status"
    case .other: "anything else, such as a redirect from https to http"
    case .usage: "a wrong option, URL, method or field"
    case .hostNotResolved: "the host can't be looked up"
    case .notConnected: "no connection could be opened"
    case .partialBody: "the connection ended in the middle of the body"
    case .httpError: "the status is 400 or more, with --fail"
    case .writeError: "the output can't be written; a closed pipe says nothing else"
    case .unreadableInput: "a file to send can't be read"
    case .timedOut: "a time limit has passed"
    case .handshakeFailed: "the TLS handshake failed"
    case .tooManyRedirects: "more than 20 redirects"
    case .emptyReply: "the server closed the connection without a reply"
    case .receiveFailed: "the connection was lost, or the reply isn't HTTP"
    case .certificateNotVerified: "the server's certificate isn't trusted"
    case .undecodableBody: "the body's content coding is broken or unknown"
    case .unusableTrustRoots: "the file of --cacert can't be used"
    }
  }
}

extension ExitCode {
  init(_ error: EngineError) {
    self =
      switch error.code {
      case .invalidRequest: .usage
      case .hostNotFound, .resolveFailed: .hostNotResolved
      case .connectionRefused, .connectFailed: .notConnected
      case .tlsFailed: Self.forTLS(error)
      case .timedOut: .timedOut
      case .connectionLost: Self.forLostConnection(error)
      case .malformedResponse: .receiveFailed
      case .decodingFailed: .undecodableBody
      case .tooManyRedirects: .tooManyRedirects
      case .bodyUnreadable: .unreadableInput
      case .cancelled, .redirectRefused, .bodyTooLarge, .outOfResources, .shutDown: .other
      }
  }

  private static func forTLS(_ error: EngineError) -> ExitCode {
    guard case .tls(let cause) = error.cause else { return .handshakeFailed }
    return switch cause.code {
    case .certificateExpired, .certificateNotYetValid, .hostMismatch, .selfSigned, .unknownAuthority,
      .certificateInvalid:
      .certificateNotVerified
    case .configuration: .unusableTrustRoots
    case .protocolVersion, .alert, .notTLS, .handshakeFailed, .truncated, .protocolViolation, .closed:
      error.phase == .tls ? .handshakeFailed : .receiveFailed
    }
  }

  private static func forLostConnection(_ error: EngineError) -> ExitCode {
    if error.phase == .tls { return .handshakeFailed }
    return switch error.cause {
    case .wire(.truncatedHead(received: 0)): .emptyReply
    case .wire(.truncatedBody): .partialBody
    default: .receiveFailed
    }
  }
}
