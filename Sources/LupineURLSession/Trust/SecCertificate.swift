// Certificates and public keys as values to compare: what pins are made of.

public import Foundation
import LupineEngine

/// A certificate (RFC 5280). Two are equal if their bytes are.
public final class SecCertificate: Sendable, Hashable, CustomStringConvertible {
  package let data: Data
  package let publicKey: SecKey

  /// Nil if the data isn't exactly one certificate in DER.
  package init?(_ data: Data) {
    guard let key = LupineTLS.publicKey(ofCertificate: Array(data)) else { return nil }
    self.data = data
    publicKey = SecKey(subjectPublicKeyInfo: Data(key))
  }

  /// The certificate's subject (RFC 4514) and its size.
  public var description: String {
    let subject = LupineTLS.subject(ofCertificate: Array(data)) ?? "unreadable"
    return "SecCertificate(\(subject), \(ReadableText.bytes(Int64(data.count))))"
  }

  /// Whether both have the same bytes.
  public static func == (left: SecCertificate, right: SecCertificate) -> Bool { left.data == right.data }

  /// Takes the bytes.
  public func hash(into hasher: inout Hasher) { hasher.combine(data) }
}

/// A public key. Two are equal if their kind and their bytes are.
public final class SecKey: Sendable, Hashable, CustomStringConvertible {
  /// The key as SubjectPublicKeyInfo in DER (RFC 5280 §4.1.2.7), of which pins by hash are made (RFC 7469 §2.4).
  public let subjectPublicKeyInfo: Data

  init(subjectPublicKeyInfo: Data) {
    self.subjectPublicKeyInfo = subjectPublicKeyInfo
  }

  /// The key's SubjectPublicKeyInfo in base64; it is a public key, so nothing of it is secret.
  public var description: String { "SecKey(\(subjectPublicKeyInfo.base64EncodedString()))" }

  /// Whether both have the same SubjectPublicKeyInfo.
  public static func == (left: SecKey, right: SecKey) -> Bool {
    left.subjectPublicKeyInfo == right.subjectPublicKeyInfo
  }

  /// Takes the SubjectPublicKeyInfo.
  public func hash(into hasher: inout Hasher) { hasher.combine(subjectPublicKeyInfo) }
}

/// Makes a certificate of its bytes in DER; nil if they aren't exactly one. There are no allocators here but nil.
public func SecCertificateCreateWithData(_ allocator: Never?, _ data: Data) -> SecCertificate? {
  SecCertificate(data)
}

/// A certificate's bytes in DER.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> Data { certificate.data }
