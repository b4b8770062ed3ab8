// An X.509 certificate that outlives the session it came with.

import CLupineOpenSSL

/// One reference to a certificate, which is never changed.
final class Certificate: Sendable {
  // SAFETY: OpenSSL counts references atomically, and guards what it computes of a certificate with a lock of its own.
  nonisolated(unsafe) let pointer: OpaquePointer

  /// Takes a reference of its own.
  init(retaining pointer: OpaquePointer) {
    X509_up_ref(pointer)
    self.pointer = pointer
  }

  deinit {
    // SAFETY: gives back the reference that `init` took.
    X509_free(pointer)
  }

  /// Nil if the bytes aren't exactly one certificate.
  convenience init?(der: [UInt8]) {
    let read = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
      // SAFETY: OpenSSL reads at most `count` bytes, and moves `next` behind what it read.
      var next = bytes.baseAddress
      let certificate = d2i_X509(nil, &next, bytes.count)
      guard next == bytes.baseAddress?.advanced(by: bytes.count) else {
        X509_free(certificate)
        return nil
      }
      return certificate
    }
    guard let read = Owned(read, freeing: X509_free) else { return nil }
    self.init(retaining: read.pointer)
  }

  var der: [UInt8] { LupineTLS.der(of: pointer, i2d_X509) }

  /// Its key as SubjectPublicKeyInfo in DER (RFC 5280 §4.1.2.7).
  var publicKey: [UInt8] {
    // SAFETY: the key belongs to the certificate; writing only reads it.
    X509_get_X509_PUBKEY(pointer).map { LupineTLS.der(of: $0, i2d_X509_PUBKEY) } ?? []
  }

  /// Whether the key of `issuer` signed it.
  func isSigned(by issuer: Certificate) -> Bool {
    // SAFETY: the key belongs to the issuer, which lives during the call.
    X509_verify(pointer, X509_get0_pubkey(issuer.pointer)) == 1
  }

  /// RFC 2253's form.
  var subject: String { describe(name: X509_get_subject_name(pointer)) }

  /// Whether it asks for a stapled response: a TLS feature extension with status_request, 5 (RFC 7633 §4.2.3).
  var mustStaple: Bool {
    guard let raw = X509_get_ext_d2i(pointer, NID_tlsfeature, nil, nil) else { return false }
    // SAFETY: the decoded list of integers is ours; it is freed below, and only read before.
    let features = OpaquePointer(raw)
    defer { TLS_FEATURE_free(features) }
    return (0..<max(OPENSSL_sk_num(features), 0)).contains { index in
      OPENSSL_sk_value(features, index).map { ASN1_INTEGER_get($0.assumingMemoryBound(to: ASN1_INTEGER.self)) } == 5
    }
  }
}

/// The SubjectPublicKeyInfo of a certificate, both in DER; nil if the bytes aren't exactly one certificate.
package func publicKey(ofCertificate der: [UInt8]) -> [UInt8]? {
  OpenSSL.setUp()
  defer { ERR_clear_error() }
  return Certificate(der: der)?.publicKey
}

/// The subject of a certificate in DER, in RFC 2253's form; nil if the bytes aren't exactly one certificate.
package func subject(ofCertificate der: [UInt8]) -> String? {
  OpenSSL.setUp()
  defer { ERR_clear_error() }
  return Certificate(der: der)?.subject
}

extension Certificate: Hashable {
  static func == (left: Certificate, right: Certificate) -> Bool {
    left.pointer == right.pointer || X509_cmp(left.pointer, right.pointer) == 0
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(X509_subject_name_hash(pointer))
  }
}

/// What an `i2d` function of OpenSSL's writes.
func der(
  of object: OpaquePointer, _ encode: (OpaquePointer, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
)
  -> [UInt8]
{
  let count = Int(encode(object, nil))
  guard count > 0 else { return [] }
  return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
    // SAFETY: the first call said how many bytes the second one writes.
    var next = buffer.baseAddress
    filled = max(Int(encode(object, &next)), 0)
  }
}

/// The certificates of a STACK_OF(X509), which keeps its own references; none of a null pointer.
func certificates(in stack: OpaquePointer?) -> [Certificate] {
  guard let stack else { return [] }
  return (0..<max(OPENSSL_sk_num(stack), 0)).compactMap { index in
    // SAFETY: the caller names a stack of certificates, which lives during this call.
    OPENSSL_sk_value(stack, index).map { Certificate(retaining: OpaquePointer($0)) }
  }
}
