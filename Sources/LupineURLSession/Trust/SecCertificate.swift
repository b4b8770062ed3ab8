// SecCertificate and SecKey: certificates and public keys, which pinning compares.

public import Foundation
import LupineEngine

/// An X.509 certificate (RFC 5280). Two certificates are equal if their DER bytes are equal.
public final class SecCertificate: Sendable, Hashable, CustomStringConvertible {
  package let data: Data
  package let publicKey: SecKey

  /// Creates a certificate from its DER form. Returns nil if the data isn't exactly one certificate.
  package init?(_ data: Data) {
    guard let key = LupineTLS.publicKey(ofCertificate: Array(data)) else { return nil }
    self.data = data
    publicKey = SecKey(subjectPublicKeyInfo: Data(key))
  }

  /// A textual description of the certificate: its subject (RFC 4514) and its size.
  public var description: String {
    let subject = LupineTLS.subject(ofCertificate: Array(data)) ?? "unreadable"
    return "SecCertificate(\(subject.printable), \(ReadableText.bytes(Int64(data.count))))"
  }

  /// Returns whether both certificates have equal DER bytes.
  public static func == (left: SecCertificate, right: SecCertificate) -> Bool { left.data == right.data }

  /// Hashes the certificate's DER bytes.
  public func hash(into hasher: inout Hasher) { hasher.combine(data) }
}

/// A public key. Two keys are equal if their types and bytes are equal.
public final class SecKey: Sendable, Hashable, CustomStringConvertible {
  /// The key as DER-encoded SubjectPublicKeyInfo (RFC 5280 §4.1.2.7). A pin is a hash of these bytes (RFC 7469 §2.4).
  public let subjectPublicKeyInfo: Data

  init(subjectPublicKeyInfo: Data) {
    self.subjectPublicKeyInfo = subjectPublicKeyInfo
  }

  /// A textual description of the key: its SubjectPublicKeyInfo in base64. It isn't secret, because the key is public.
  public var description: String { "SecKey(\(subjectPublicKeyInfo.base64EncodedString()))" }

  /// Returns whether both keys have equal SubjectPublicKeyInfo bytes.
  public static func == (left: SecKey, right: SecKey) -> Bool {
    left.subjectPublicKeyInfo == right.subjectPublicKeyInfo
  }

  /// Hashes the key's SubjectPublicKeyInfo.
  public func hash(into hasher: inout Hasher) { hasher.combine(subjectPublicKeyInfo) }
}

/// Creates a certificate from its DER form. Returns nil if the data isn't exactly one certificate. Pass nil as `allocator`.
public func SecCertificateCreateWithData(_ allocator: Never?, _ data: Data) -> SecCertificate? {
  SecCertificate(data)
}

/// Returns the DER bytes of the certificate.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> Data { certificate.data }

/// Returns the public key of the certificate.
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? { certificate.publicKey }
