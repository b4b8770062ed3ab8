// TLSError: the error of this module. TLSError+OpenSSL.swift creates it from OpenSSL's error queue.

/// A TLS error: a code to branch on, and a message that states the host, the cause and the remedy.
public struct TLSError: Error, Sendable, CustomStringConvertible {
  /// The kinds of TLS errors.
  public enum Code: Sendable, Hashable {
    /// A certificate of the server's chain has expired.
    case certificateExpired
    /// The validity period of a certificate of the server's chain hasn't begun yet.
    case certificateNotYetValid
    /// The server's certificate isn't valid for the requested host.
    case hostMismatch
    /// The server's certificate is self-signed and isn't a trust root.
    case selfSigned
    /// The server's chain ends in an issuer that isn't a trust root, or lacks an intermediate certificate.
    case unknownAuthority
    /// A certificate of the server's chain failed another check. `verifyCode` is OpenSSL's `X509_V_ERR` code.
    case certificateInvalid(verifyCode: Int)
    /// The verifier in the TLS configuration refused the server's certificate.
    case refusedByVerifier
    /// The server stapled no OCSP response although one is required, or the response doesn't show that the certificate is valid.
    case ocsp(OCSPProblem)
    /// The client and the server have no TLS version in common.
    case protocolVersion
    /// The peer ended the handshake or the connection with this fatal alert (RFC 8446 §6.2), such as 40 for handshake_failure.
    case alert(UInt8)
    /// The peer closed the TCP connection without TLS's close_notify, so the received data may be incomplete.
    case truncated
    /// The first bytes that the peer sent aren't TLS.
    case notTLS
    /// The TLS handshake failed for a reason that has no other code.
    case handshakeFailed
    /// After the handshake, the peer violated the TLS protocol, or its data was changed in transit.
    case protocolViolation
    /// The TLS session was used after the local side had closed it.
    case closed
    /// A TLS setting, a certificate file or the host name can't be used.
    case configuration
  }

  /// The reasons why the check of a stapled OCSP response fails (RFC 6960).
  public enum OCSPProblem: Sendable, Hashable {
    /// The server stapled no OCSP response, although the configuration or the certificate's must-staple extension requires one.
    case missing
    /// The stapled OCSP response can't be parsed.
    case malformed
    /// The OCSP responder returned an error in place of a certificate status. `status` is its OCSPResponseStatus, such as 3 for
    /// tryLater.
    case refused(status: Int)
    /// The signature of the stapled OCSP response is wrong, or the certificate's issuer hasn't authorized the signer.
    case untrusted
    /// The stapled OCSP response contains no status for the server's certificate.
    case otherCertificate
    /// The stapled OCSP response states that the server's certificate is revoked.
    case revoked
    /// The stapled OCSP response states that the responder doesn't know the server's certificate.
    case unknownCertificate
    /// The stapled OCSP response isn't valid yet: its thisUpdate is in the future.
    case notYetValid
    /// The stapled OCSP response has expired: its nextUpdate has passed, or it has no nextUpdate and is older than 10 days.
    case expired
  }

  /// The kind of the TLS error, to branch on.
  public let code: Code
  /// The text of the TLS error in one or two sentences: the host, the cause and the remedy.
  public let message: String
  /// The error that the configuration's verifier threw to refuse the certificate. Nil if the verifier threw no error. Equality
  /// ignores this property.
  public let verifierError: (any Error)?
  /// The distinguished names in DER of the authorities from which the server accepts client certificates.
  ///
  /// Set only if the server requested a certificate, the client presented none, and no HTTP request was sent. Otherwise nil.
  /// Equality ignores the names.
  package internal(set) var requestedAuthorities: [[UInt8]]?

  /// Creates a TLS error. `verifierError` is the error that the configuration's verifier threw, or nil.
  public init(code: Code, message: String, verifierError: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.verifierError = verifierError
  }

  /// The same text as `message`.
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
  /// Creates the error of an HTTP request that wasn't sent, because the server requests a client certificate and the caller must
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

  /// Creates the error for using a TLS session that the local side has already closed.
  static func closed(peer: String) -> TLSError {
    TLSError(
      code: .closed,
      message: "The TLS session with \(peer) was already closed by this side. Open another connection.")
  }
}
