// TLSError: the error of this module. TLSError+OpenSSL.swift creates it from OpenSSL's error queue.

/// A TLS error: a code to branch on, and a message that states the host, the cause and the remedy.
public struct TLSError: Error, Sendable, CustomStringConvertible {
  /// The kinds of errors.
  public enum Code: Sendable, Hashable {
    /// A certificate of the chain has expired.
    case certificateExpired
    /// A certificate of the chain isn't valid yet.
    case certificateNotYetValid
    /// The certificate isn't for the requested host.
    case hostMismatch
    /// The server's certificate is self-signed and isn't a trust root.
    case selfSigned
    /// The chain ends in an issuer that isn't a trust root, or lacks an intermediate certificate.
    case unknownAuthority
    /// Another check of a certificate failed. `verifyCode` is OpenSSL's `X509_V_ERR` code.
    case certificateInvalid(verifyCode: Int)
    /// The configuration's verifier refused the certificate.
    case refusedByVerifier
    /// The stapled OCSP response is missing or doesn't confirm the certificate.
    case ocsp(OCSPProblem)
    /// The client and the server have no TLS version in common.
    case protocolVersion
    /// The peer refused the connection with this alert (RFC 8446 §6.2).
    case alert(UInt8)
    /// The connection ended without close_notify, so the received data may be incomplete.
    case truncated
    /// The peer's first bytes aren't TLS.
    case notTLS
    /// The handshake failed for another reason.
    case handshakeFailed
    /// After the handshake, the peer violated the protocol, or its data was changed in transit.
    case protocolViolation
    /// The session was used after the local side had closed it.
    case closed
    /// A setting, a certificate file or the host name can't be used.
    case configuration
  }

  /// The problems of stapled OCSP responses (RFC 6960).
  public enum OCSPProblem: Sendable, Hashable {
    /// The server stapled no response, although the configuration or the certificate's must-staple extension requires one.
    case missing
    /// The response can't be parsed.
    case malformed
    /// The responder returned an error instead of a response. `status` is its OCSPResponseStatus.
    case refused(status: Int)
    /// The signature is wrong, or the signer isn't authorized by the certificate's issuer.
    case untrusted
    /// The response contains no status for the server's certificate.
    case otherCertificate
    /// The response states that the certificate is revoked.
    case revoked
    /// The responder doesn't know the certificate.
    case unknownCertificate
    /// The response's thisUpdate is in the future.
    case notYetValid
    /// The response's nextUpdate has passed, or the response has no nextUpdate and is older than 10 days.
    case expired
  }

  /// The kind of the error, to branch on.
  public let code: Code
  /// The cause, the host and the remedy, in one or two sentences.
  public let message: String
  /// The error with which the verifier refused the certificate, or nil if the verifier threw none. Equality ignores it.
  public let verifierError: (any Error)?
  /// The names in DER of the authorities from which the server accepts client certificates. Set only if the server requested a
  /// certificate, the client presented none, and no HTTP request was sent. Otherwise nil. Equality ignores the names.
  package internal(set) var requestedAuthorities: [[UInt8]]?

  /// Creates an error from its code, its message and, if a verifier threw an error, that error.
  public init(code: Code, message: String, verifierError: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.verifierError = verifierError
  }

  /// The error's message.
  public var description: String { message }
}

extension TLSError: Hashable {
  /// Returns whether both errors have the same code and the same message.
  public static func == (left: TLSError, right: TLSError) -> Bool {
    left.code == right.code && left.message == right.message
  }

  /// Hashes the error's code and message.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(code)
    hasher.combine(message)
  }
}

extension TLSError {
  /// Returns the error of an HTTP request that wasn't sent, because the server requests a client certificate and the caller must
  /// first choose one.
  package static func identityRequested(by host: String, from authorities: [[UInt8]]) -> TLSError {
    var error = TLSError(
      code: .handshakeFailed,
      message: "\(host) requests a client certificate. Set the TLS configuration's identity, or answer the challenge.")
    error.requestedAuthorities = authorities
    return error
  }

  static func configuration(_ message: String) -> TLSError {
    TLSError(code: .configuration, message: message)
  }

  /// Returns the error for using a session that the local side has already closed.
  static func closed(peer: String) -> TLSError {
    TLSError(
      code: .closed,
      message: "The TLS session with \(peer) was already closed by this side. Open another connection.")
  }
}
