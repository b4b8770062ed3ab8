// Certificate: an X.509 certificate that outlives the session from which it was copied.

import CLupineOpenSSL

/// An X.509 certificate. Owns a reference to OpenSSL's immutable object (X509), which it releases when it is deallocated.
final class Certificate: Sendable {
  // SAFETY: OpenSSL counts references atomically, and guards the values that it derives from a certificate with a lock.
  nonisolated(unsafe) let pointer: OpaquePointer

  /// Creates a certificate from OpenSSL's X509 object, and increments the object's reference count. The caller's own reference
  /// stays valid.
  init(retaining pointer: OpaquePointer) {
    X509_up_ref(pointer)
    self.pointer = pointer
  }

  deinit {
    // SAFETY: releases the reference that `init` took.
    X509_free(pointer)
  }

  /// Parses a certificate in DER. Returns nil if the bytes aren't exactly one certificate.
  convenience init?(der: [UInt8]) {
    guard let read = decodeDER(der, d2i_X509, freeing: X509_free) else { return nil }
    self.init(retaining: read.pointer)
  }

  var der: [UInt8] { LupineTLS.der(of: pointer, i2d_X509) }

  /// The certificate's public key as SubjectPublicKeyInfo in DER (RFC 5280 §4.1.2.7).
  var publicKey: [UInt8] {
    // SAFETY: the key belongs to the certificate, and encoding only reads it.
    X509_get_X509_PUBKEY(pointer).map { LupineTLS.der(of: $0, i2d_X509_PUBKEY) } ?? []
  }

  /// The time in seconds since 1970 from which on OpenSSL refuses the certificate: its notAfter date. Nil if it can't be read.
  var expiry: Int? { seconds(of: X509_get0_notAfter(pointer)) }

  /// Returns whether the key of `issuer` verifies this certificate's signature.
  func isSigned(by issuer: Certificate) -> Bool {
    // SAFETY: the key belongs to `issuer`, which is alive during the call.
    X509_verify(pointer, X509_get0_pubkey(issuer.pointer)) == 1
  }

  /// The distinguished name of the certificate's subject, as text in the form of RFC 2253.
  var subject: String { describe(name: X509_get_subject_name(pointer)) }

  /// Whether the certificate's TLS feature extension contains status_request (5), which requires the server to staple an OCSP
  /// response (RFC 7633 §4.2.3).
  var mustStaple: Bool {
    guard let raw = X509_get_ext_d2i(pointer, NID_tlsfeature, nil, nil) else { return false }
    // SAFETY: the decoded list of integers is ours. It is only read, and freed below.
    let features = OpaquePointer(raw)
    defer { TLS_FEATURE_free(features) }
    return elements(of: features).contains { ASN1_INTEGER_get($0.assumingMemoryBound(to: ASN1_INTEGER.self)) == 5 }
  }
}

/// Parses a certificate in DER, and returns its public key as SubjectPublicKeyInfo in DER. Returns nil if the bytes aren't exactly
/// one certificate.
package func publicKey(ofCertificate der: [UInt8]) -> [UInt8]? { reading(certificate: der) { $0.publicKey } }

/// Parses a certificate in DER, and returns the distinguished name of its subject, as text in the form of RFC 2253. Returns nil if
/// the bytes aren't exactly one certificate.
package func subject(ofCertificate der: [UInt8]) -> String? { reading(certificate: der) { $0.subject } }

/// Parses a certificate in DER, and returns what `read` reads from it. Returns nil if the bytes aren't exactly one certificate.
func reading<Value>(certificate der: [UInt8], _ read: (Certificate) -> Value?) -> Value? {
  OpenSSL.setUp()
  defer { ERR_clear_error() }
  return Certificate(der: der).flatMap(read)
}

extension Certificate: Hashable {
  static func == (left: Certificate, right: Certificate) -> Bool {
    left.pointer == right.pointer || X509_cmp(left.pointer, right.pointer) == 0
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(X509_subject_name_hash(pointer))
  }
}

/// Encodes an OpenSSL object in DER. `encode` is OpenSSL's `i2d` function for the object's type, such as `i2d_X509`. Returns an
/// empty array if the encoding fails.
package func der(
  of object: OpaquePointer, _ encode: (OpaquePointer, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
)
  -> [UInt8]
{
  let count = Int(encode(object, nil))
  guard count > 0 else { return [] }
  return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
    // SAFETY: the first call returned the number of bytes that the second call writes.
    var next = buffer.baseAddress
    filled = max(Int(encode(object, &next)), 0)
  }
}

/// Returns the certificates in `stack`, an OpenSSL STACK_OF(X509), and retains each of them. The stack itself isn't changed.
/// Returns an empty array if `stack` is nil.
func certificates(in stack: OpaquePointer?) -> [Certificate] {
  // SAFETY: the caller passes a stack of certificates that is alive during this call.
  elements(of: stack).map { Certificate(retaining: OpaquePointer($0)) }
}

/// Returns the elements of `stack`, one of OpenSSL's stacks. Returns an empty array if `stack` is nil. The elements are valid as
/// long as the stack doesn't change.
func elements(of stack: OpaquePointer?) -> [UnsafeMutableRawPointer] {
  // SAFETY: the indices are below the number of elements. OpenSSL returns -1 as the number if `stack` is nil.
  (0..<max(OPENSSL_sk_num(stack), 0)).compactMap { OPENSSL_sk_value(stack, $0) }
}
