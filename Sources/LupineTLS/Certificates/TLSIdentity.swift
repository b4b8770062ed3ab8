// TLSIdentity: a client's certificate with its chain and its private key.

import CLupineOpenSSL
import LupineLibc

/// A client's certificate and private key, which the client presents to servers that request a certificate.
///
/// Each initializer parses the certificate and the key, and checks that they belong together. The key and the password are never
/// printed. The key is stored in OpenSSL's memory, and the password isn't stored. Two identities are equal if their certificates
/// and keys are equal.
public struct TLSIdentity: Sendable, Hashable {
  let material: KeyMaterial

  init(_ material: KeyMaterial) {
    self.material = material
  }

  /// Creates an identity from PEM text (RFC 7468).
  ///
  /// - Parameters:
  ///   - certificatePEM: The certificate, followed by the intermediate certificates to send with it.
  ///   - privateKeyPEM: The key in PKCS#8, PKCS#1 (RSA) or SEC1 (EC).
  ///   - password: The password of an encrypted key. It is ignored if the key isn't encrypted.
  /// - Throws: `TLSError.Code.configuration` if a part can't be parsed, or if the key doesn't match the certificate.
  public init(certificatePEM: [UInt8], privateKeyPEM: [UInt8], password: String? = nil) throws(TLSError) {
    var chain: [Certificate] = []
    _ = try PEM.forEachCertificate(in: certificatePEM) { chain.append(Certificate(retaining: $0)) }
    guard let leaf = chain.first else {
      throw .configuration("The identity's PEM text contains no certificate. Add one with BEGIN CERTIFICATE lines.")
    }
    let key = try PEM.privateKey(in: privateKeyPEM, password: password)
    material = try KeyMaterial(leaf: leaf, issuers: Array(chain.dropFirst()), key: key.pointer)
  }

  /// Creates an identity from PEM files of at most 1 MiB each. If `privateKeyFile` is nil, `certificateFile` must also contain the
  /// key.
  ///
  /// Blocks while it reads the files.
  ///
  /// - Throws: `TLSError.Code.configuration` if a file can't be read, or for the reasons given at
  ///   `init(certificatePEM:privateKeyPEM:password:)`.
  public init(certificateFile: String, privateKeyFile: String? = nil, password: String? = nil) throws(TLSError) {
    let certificate = try readIdentityFile(certificateFile)
    let key: [UInt8] = if let privateKeyFile { try readIdentityFile(privateKeyFile) } else { certificate }
    try self.init(certificatePEM: certificate, privateKeyPEM: key, password: password)
  }

  /// Creates an identity from a PKCS#12 archive (RFC 7292). An archive encrypted with RC2 requires OpenSSL's legacy
  /// provider. The password "" opens an archive without a password.
  ///
  /// - Throws: `TLSError.Code.configuration` if the archive can't be parsed, the password is wrong, or the archive has
  ///   no key with a certificate.
  public init(pkcs12: [UInt8], password: String) throws(TLSError) {
    material = try PKCS12Archive.open(pkcs12, password: password)
  }

  /// Creates an identity from a PKCS#12 file of at most 1 MiB. Blocks while it reads the file.
  ///
  /// - Throws: `TLSError.Code.configuration` if the file can't be read, or for the reasons given at `init(pkcs12:password:)`.
  public init(pkcs12File: String, password: String) throws(TLSError) {
    try self.init(pkcs12: readIdentityFile(pkcs12File), password: password)
  }
}

extension TLSIdentity {
  /// The DER encoding of the identity's certificate, without the intermediate certificates.
  package var certificateDER: [UInt8] { material.leaf.der }

  /// Returns a copy of the identity that sends other intermediate certificates with its own certificate. `issuers` are these
  /// certificates in DER. Throws `TLSError.Code.configuration` if one of them can't be parsed.
  package func sending(issuers: [[UInt8]]) throws(TLSError) -> TLSIdentity {
    let issuers = try issuers.map { bytes throws(TLSError) in
      guard let certificate = Certificate(der: bytes) else {
        throw .configurationFromQueue("An intermediate certificate's \(bytes.count) bytes can't be parsed.")
      }
      return certificate
    }
    return TLSIdentity(try KeyMaterial(leaf: material.leaf, issuers: issuers, key: material.key))
  }
}

extension TLSIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A text for logs that contains the subject of the identity's certificate, but not the private key.
  public var description: String { "TLSIdentity(\(material.leaf.subject))" }
  /// A text for the debugger that contains the subject of the identity's certificate, but not the private key.
  public var debugDescription: String { description }
  /// A mirror for `dump` that contains only the subject of the identity's certificate, and not the private key.
  public var customMirror: Mirror { Mirror(self, children: ["subject": material.leaf.subject]) }
}

/// A certificate, the intermediate certificates to send with it, and the certificate's private key.
final class KeyMaterial: Sendable {
  let leaf: Certificate
  let issuers: [Certificate]
  // SAFETY: OpenSSL counts the key's references atomically, and guards the values that it derives from a key with a
  // lock.
  nonisolated(unsafe) let key: OpaquePointer

  /// Checks that `key` is the private key of the certificate `leaf`, and increments the key's reference count. Throws
  /// `TLSError.Code.configuration` if it isn't.
  init(leaf: Certificate, issuers: [Certificate], key: OpaquePointer) throws(TLSError) {
    ERR_clear_error()
    guard X509_check_private_key(leaf.pointer, key) == 1 else {
      throw .configurationFromQueue(
        "The private key doesn't belong to the certificate \(leaf.subject). Pass the key for which it was issued.")
    }
    EVP_PKEY_up_ref(key)
    self.leaf = leaf
    self.issuers = issuers
    self.key = key
  }

  deinit {
    // SAFETY: releases the reference that `init` took.
    EVP_PKEY_free(key)
  }
}

// Equality compares only certificates: the key matches its certificate, so equal certificates have equal keys.
extension KeyMaterial: Hashable {
  static func == (left: KeyMaterial, right: KeyMaterial) -> Bool {
    left === right || left.leaf == right.leaf && left.issuers == right.issuers
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(leaf)
    hasher.combine(issuers.count)
  }
}

/// Returns the contents of a certificate or key file. Throws `TLSError.Code.configuration` if the file can't be read, or has more
/// than `TLSLimits.identityFileBytesMax` bytes.
private func readIdentityFile(_ path: String) throws(TLSError) -> [UInt8] {
  guard let file = fopen(path, "re") else {
    throw .configuration(
      "The identity file \(path) can't be opened: \(lastSystemError()). Check the path and its permissions.")
  }
  defer { fclose(file) }
  // Reads one byte more than allowed to detect a file that is too long.
  let room = TLSLimits.identityFileBytesMax + 1
  let bytes = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
    // SAFETY: the buffer has `room` bytes, and fread returns the number of bytes that it wrote.
    count = fread(buffer.baseAddress, 1, room, file)
  }
  guard ferror(file) == 0 else {
    throw .configuration(
      "The identity file \(path) can't be read: \(lastSystemError()). Check that it is a regular file.")
  }
  guard bytes.count < room else {
    throw .configuration(
      "The identity file \(path) has more than \(TLSLimits.identityFileBytesMax) bytes. Check the path.")
  }
  return bytes
}
