// SecCertificate and SecKey: certificates and public keys as values to compare, for pinning.

public import Foundation
import LupineEngine

/// A certificate (RFC 5280). Certificates are equal if their bytes are.
public final class SecCertificate: Sendable, Hashable, CustomStringConvertible {
  package let data: Data
  package let publicKey: SecKey

  /// Creates a certificate, or returns nil if the data isn't exactly one certificate in DER.
  package init?(_ data: Data) {
    guard let key = LupineTLS.publicKey(ofCertificate: Array(data)) else { return nil }
    self.data = data
    publicKey = SecKey(subjectPublicKeyInfo: Data(key))
  }

  /// The certificate's subject (RFC 4514) and size.
  public var description: String {
    let subject = LupineTLS.subject(ofCertificate: Array(data)) ?? "unreadable"
    return "SecCertificate(\(subject), \(ReadableText.bytes(Int64(data.count))))"
  }

  /// Returns whether both certificates have the same bytes.
  public static func == (left: SecCertificate, right: SecCertificate) -> Bool { left.data == right.data }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) { hasher.combine(data) }
}

/// A public key. Keys are equal if their algorithms and bytes are.
public final class SecKey: Sendable, Hashable, CustomStringConvertible {
  /// The key as SubjectPublicKeyInfo in DER (RFC 5280 §4.1.2.7), whose hash is a pin (RFC 7469 §2.4).
  public let subjectPublicKeyInfo: Data

  init(subjectPublicKeyInfo: Data) {
    self.subjectPublicKeyInfo = subjectPublicKeyInfo
  }

  /// The key's SubjectPublicKeyInfo in Base64. A public key isn't secret.
  public var description: String { "SecKey(\(subjectPublicKeyInfo.base64EncodedString()))" }

  /// Returns whether both keys have the same SubjectPublicKeyInfo.
  public static func == (left: SecKey, right: SecKey) -> Bool {
    left.subjectPublicKeyInfo == right.subjectPublicKeyInfo
  }

  /// Hashes the SubjectPublicKeyInfo.
  public func hash(into hasher: inout Hasher) { hasher.combine(subjectPublicKeyInfo) }
}

/// Creates a certificate from DER, or returns nil if the data isn't exactly one certificate. The allocator is always nil.
public func SecCertificateCreateWithData(_ allocator: Never?, _ data: Data) -> SecCertificate? {
  SecCertificate(data)
}

/// Returns a certificate in DER.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> Data { certificate.data }
