// SecIdentity: a client's certificate with its private key.

public import Foundation
public import LupineEngine

/// A client certificate with its private key, for ``URLCredential``. Two identities are equal if their certificates and
/// intermediate certificates are equal.
///
/// Linux has no keychain, so an identity is created from files or bytes. Descriptions never contain the key and the passphrase.
public final class SecIdentity: Sendable, Hashable, CustomStringConvertible {
  /// The client certificate and private key in the form that the engine uses.
  package let tls: TLSIdentity

  /// Creates an identity from the engine's form of a client certificate with its private key.
  public init(_ identity: TLSIdentity) {
    tls = identity
  }

  /// Creates an identity from a PKCS#12 archive (RFC 7292).
  ///
  /// - Throws: A `TLSError` if the archive can't be parsed, the passphrase is wrong, or the archive contains no private key.
  public convenience init(pkcs12 archive: Data, passphrase: String) throws {
    self.init(try TLSIdentity(pkcs12: Array(archive), password: passphrase))
  }

  /// Creates an identity from a certificate and a private key in PEM (RFC 7468).
  ///
  /// - Parameters:
  ///   - certificatePEM: The certificate, followed by the intermediate certificates to send with it.
  ///   - privateKeyPEM: The private key in PKCS#8, PKCS#1 or SEC1 format.
  ///   - passphrase: The passphrase if the private key is encrypted, or nil.
  /// - Throws: A `TLSError` if the certificate or the key can't be parsed, or if they don't match.
  public convenience init(certificatePEM: Data, privateKeyPEM: Data, passphrase: String? = nil) throws {
    self.init(
      try TLSIdentity(
        certificatePEM: Array(certificatePEM), privateKeyPEM: Array(privateKeyPEM), password: passphrase))
  }

  /// Creates an identity from PEM files of at most 1 MiB each, which are read immediately. If `privateKeyFile` is nil, the
  /// certificate file must also contain the private key.
  ///
  /// - Throws: A `TLSError` if a file can't be read or parsed, or if the key doesn't match the certificate.
  public convenience init(certificateFile: URL, privateKeyFile: URL? = nil, passphrase: String? = nil) throws {
    self.init(
      try TLSIdentity(
        certificateFile: certificateFile.path, privateKeyFile: privateKeyFile?.path, password: passphrase))
  }

  /// The identity's certificate. Nil if it can't be parsed.
  package var certificate: SecCertificate? { SecCertificate(Data(tls.certificateDER)) }

  /// A textual description of the identity: the certificate's subject. It doesn't contain the key.
  public var description: String { "SecIdentity(\(tls))" }

  /// Returns whether both identities have equal certificates and intermediate certificates.
  public static func == (left: SecIdentity, right: SecIdentity) -> Bool { left.tls == right.tls }

  /// Hashes the identity's certificate.
  public func hash(into hasher: inout Hasher) { hasher.combine(tls) }
}

extension TLSError: LocalizedError {
  /// The error message, which `localizedDescription` returns.
  public var errorDescription: String? { message }
}
