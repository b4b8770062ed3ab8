// TLSError+OpenSSL: converts OpenSSL's error queue to a TLSError. Each thread has its own queue. Callers clear the queue before
// each call that may fail, and read it immediately afterward.

import CLupineOpenSSL
import LupineLibc

/// The oldest error in the thread's OpenSSL error queue, which is the cause of a failed call. Later entries of the queue only name
/// the functions that passed the error on.
struct QueuedError {
  let reason: Int32
  let isFromTLS: Bool
  let text: String

  /// Removes all errors from the thread's OpenSSL error queue. Returns the oldest error, or nil if the queue was empty.
  static func drainQueue() -> QueuedError? {
    defer { ERR_clear_error() }
    return next()
  }

  /// Removes and returns the oldest error in the thread's OpenSSL error queue. Returns nil if the queue is empty.
  static func next() -> QueuedError? {
    let packed = ERR_get_error()
    guard packed != 0 else { return nil }
    return QueuedError(
      reason: ERR_GET_REASON(packed), isFromTLS: ERR_GET_LIB(packed) == ERR_LIB_SSL,
      text: text(packed) ?? "error \(packed)")
  }

  // A failed system call is queued as its errno, for which OpenSSL has no text.
  private static func text(_ packed: UInt) -> String? {
    // SAFETY: both strings are static in their libraries, or nil.
    if lupine_err_is_system(packed) != 0 { return strerror(ERR_GET_REASON(packed)).map { String(cString: $0) } }
    return ERR_reason_error_string(packed).map { String(cString: $0) }
  }

  /// The code of the fatal TLS alert that the peer sent (RFC 8446 §6.2), or nil if OpenSSL's error has another cause.
  var alert: UInt8? {
    isFromTLS ? UInt8(exactly: reason - SSL_AD_REASON_OFFSET) : nil
  }

  func isTLS(_ reasons: Int32...) -> Bool {
    isFromTLS && reasons.contains(reason)
  }
}

/// The state of a TLS session when a call on the session fails. The error of the call is created from this state.
struct FailureContext {
  /// The host of the server that the client connects to, or nil if this side is the server.
  let host: String?
  let wasEstablished: Bool
  let opening: OpeningBytes
  /// The error with which one of OpenSSL's callbacks has refused the peer, or nil if no callback has refused the peer.
  let refusal: TLSError?

  /// The name of the TLS peer in error messages: the server's host, or "the client" if this side is the server.
  var peer: String { host ?? "the client" }
}

extension TLSError {
  package static func outOfMemory(_ what: String) -> TLSError {
    .configuration("OpenSSL couldn't allocate \(what). Free memory.")
  }

  /// Creates an error with code `.configuration` whose text is `message`, followed by the oldest error in OpenSSL's error queue.
  /// Empties the queue.
  package static func configurationFromQueue(_ message: String) -> TLSError {
    .configuration("\(message) OpenSSL says: \(QueuedError.drainQueue()?.text ?? "nothing").")
  }

  /// Creates the error for a call on a TLS session that has just failed, from the session's state and OpenSSL's error queue.
  /// Empties the queue.
  static func fromQueue(_ context: FailureContext) -> TLSError {
    let queued = QueuedError.drainQueue()
    if !context.wasEstablished && !context.opening.mayBeTLS { return notTLS(context) }
    // The recorded refusal takes precedence over the queue, because the queue may contain an earlier, less specific error, such
    // as a wrong signature.
    if let refusal = context.refusal { return refusal }
    guard let queued, !queued.isTLS(SSL_R_UNEXPECTED_EOF_WHILE_READING) else { return truncated(context) }
    if let alert = queued.alert { return refused(alert, context) }
    if queued.isTLS(SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_WRONG_SSL_VERSION, SSL_R_VERSION_TOO_LOW) {
      return noCommonVersion(context)
    }
    if !context.wasEstablished, queued.isTLS(SSL_R_EXCESSIVE_MESSAGE_SIZE) { return tooLong(context) }
    return failed(queued.text, context)
  }

  /// Creates an error with OpenSSL's text. Its code is `.handshakeFailed` during the handshake, and `.protocolViolation` after it.
  static func failed(_ text: String, _ context: FailureContext) -> TLSError {
    guard context.wasEstablished else {
      return TLSError(
        code: .handshakeFailed,
        message: "The TLS handshake with \(context.peer) failed: \(text). Check the peer's TLS settings.")
    }
    return TLSError(
      code: .protocolViolation,
      message: "\(context.peer) violated the TLS protocol, or its data was changed in transit: \(text). "
        + "The session has ended. Connect again.")
  }

  private static func tooLong(_ context: FailureContext) -> TLSError {
    TLSError(
      code: .handshakeFailed,
      message: "\(context.peer) sent a handshake message that is too long: its certificate chain may have at most "
        + "\(TLSLimits.certificateChainBytesMax) bytes. Configure the peer to send only its own and the intermediate "
        + "certificates."
    )
  }

  static func notTLS(_ context: FailureContext) -> TLSError {
    let guess = context.opening.guess.map { ": \($0)" } ?? ""
    return TLSError(
      code: .notTLS,
      message: "\(context.peer) doesn't use TLS on this port\(guess). Check the port, or use http instead of https.")
  }

  static func truncated(_ context: FailureContext) -> TLSError {
    guard context.wasEstablished else {
      return TLSError(
        code: .truncated,
        message:
          "\(context.peer) closed the connection during the TLS handshake. Check that it uses TLS on this port.")
    }
    return TLSError(
      code: .truncated,
      message: "The connection to \(context.peer) ended without close_notify, so the received data may be incomplete "
        + "(RFC 8446 §6.1). Rely on the data only if the HTTP framing shows that it is complete.")
  }

  static func refused(_ alert: UInt8, _ context: FailureContext) -> TLSError {
    if Int32(alert) == SSL_AD_PROTOCOL_VERSION { return noCommonVersion(context) }
    // SAFETY: the string is static in OpenSSL.
    let name = String(cString: SSL_alert_desc_string_long(Int32(alert)))
    return TLSError(
      code: .alert(alert),
      message: "\(context.peer) refused TLS with alert \(alert) (\(name)). \(remedy(alert))")
  }

  static func noCommonVersion(_ context: FailureContext) -> TLSError {
    TLSError(
      code: .protocolVersion,
      message: "\(context.peer) supports no TLS version that is allowed here. Versions before 1.2 are never used "
        + "(RFC 8996). Upgrade the peer, or widen minimumVersion and maximumVersion.")
  }

  private static func remedy(_ alert: UInt8) -> String {
    switch Int32(alert) {
    case SSL_AD_HANDSHAKE_FAILURE, SSL_AD_INSUFFICIENT_SECURITY:
      "Enable a cipher suite, group or key type of the peer, or set the client certificate (identity) that it requires."
    case SSL_AD_UNRECOGNIZED_NAME: "It has no certificate for this host name. Check the name."
    case SSL_AD_NO_APPLICATION_PROTOCOL: "It supports none of the applicationProtocols. Change them."
    case SSL_AD_CERTIFICATE_REQUIRED: "It requires a client certificate. Set the TLS configuration's identity."
    case SSL_AD_UNKNOWN_CA, SSL_AD_BAD_CERTIFICATE, SSL_AD_CERTIFICATE_UNKNOWN, SSL_AD_CERTIFICATE_EXPIRED:
      "The peer refuses the local certificate. Check the TLS configuration's identity."
    default: "Check its log."
    }
  }
}
