// The one error of this target. How OpenSSL's error queue becomes one is in TLSError+OpenSSL.swift.

/// Why TLS failed: a code to branch on and a message that names the host, the cause and the remedy.
public struct TLSError: Error, Sendable, CustomStringConvertible {
  /// What to branch on.
  public enum Code: Sendable, Hashable {
    /// A certificate of the chain is past its last day.
    case certificateExpired
    /// A certificate of the chain is before its first day.
    case certificateNotYetValid
    /// The certificate doesn't name the host that was asked for.
    case hostMismatch
    /// The server's certificate is signed by itself and isn't a trust root.
    case selfSigned
    /// The chain ends in an issuer that isn't a trust root, or misses an intermediate certificate.
    case unknownAuthority
    /// Another check failed; the number is OpenSSL's `X509_V_ERR` code.
    case certificateInvalid(verifyCode: Int)
    /// The configuration's verifier refused the certificate.
    case refusedByVerifier
    /// The stapled OCSP response isn't there, or doesn't vouch for the certificate.
    case ocsp(OCSPProblem)
    /// The two sides have no TLS version in common.
    case protocolVersion
    /// The peer refused with this alert (RFC 8446 §6.2).
    case alert(UInt8)
    /// The connection ended without close_notify, so what was received may be cut short.
    case truncated
    /// The peer's first bytes aren't TLS.
    case notTLS
    /// The handshake failed in another way.
    case handshakeFailed
    /// After the handshake, the peer sent what TLS doesn't allow or what was changed on the way.
    case protocolViolation
    /// The session was used after this side closed it.
    case closed
    /// The settings, a certificate file or the host name can't be used.
    case configuration
  }

  /// What is wrong with a stapled OCSP response (RFC 6960).
  public enum OCSPProblem: Sendable, Hashable {
    /// None came, though the configuration or the certificate's must-staple extension requires one.
    case missing
    /// It can't be read.
    case malformed
    /// The responder answered with an error in place of a response; the number is OCSPResponseStatus.
    case refused(status: Int)
    /// Its signature is wrong, or its signer isn't one that may speak for the certificate's issuer.
    case untrusted
    /// It is about other certificates.
    case otherCertificate
    /// The certificate is revoked.
    case revoked
    /// The responder doesn't know the certificate.
    case unknownCertificate
    /// Its thisUpdate lies in the future.
    case notYetValid
    /// Its nextUpdate has passed; or it has none, and is 10 days old.
    case expired
  }

  /// What to branch on.
  public let code: Code
  /// The cause, the host and the remedy, in a sentence or two.
  public let message: String
  /// What the verifier threw to refuse the certificate; nil if it threw nothing. Equality doesn't look at it.
  public let verifierError: (any Error)?

  /// Makes an error of its parts.
  public init(code: Code, message: String, verifierError: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.verifierError = verifierError
  }

  /// The message.
  public var description: String { message }
}

extension TLSError: Hashable {
  /// Whether code and message are the same.
  public static func == (left: TLSError, right: TLSError) -> Bool {
    left.code == right.code && left.message == right.message
  }

  /// Takes code and message.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(code)
    hasher.combine(message)
  }
}

extension TLSError {
  static func configuration(_ message: String) -> TLSError {
    TLSError(code: .configuration, message: message)
  }
}
