// Who a client is: a certificate with its chain, and its private key.

import CLupineOpenSSL
import Glibc

/// A client's certificate and private key, read and checked when it is made.
///
/// Neither the key nor a password is ever printed; the password isn't kept, and the key is in OpenSSL's memory. Two
/// identities are equal if their certificates and keys are.
public struct TLSIdentity: Sendable, Hashable {
  let material: KeyMaterial

  init(_ material: KeyMaterial) {
    self.material = material
  }

  /// Takes PEM text (RFC 7468): the certificate, followed by the intermediate ones that are sent with it, and the key in
  /// PKCS#8, PKCS#1 (RSA) or SEC1 (EC). `password` opens an encrypted key, and isn't read for one that isn't.
  ///
  /// Throws `TLSError.Code.configuration` if a part can't be read, or if the key isn't the certificate's.
  public init(certificatePEM: [UInt8], privateKeyPEM: [UInt8], password: String? = nil) throws(TLSError) {
    var chain: [Certificate] = []
    _ = try PEM.forEachCertificate(in: certificatePEM) { chain.append(Certificate(retaining: $0)) }
    guard let leaf = chain.first else {
      throw .configuration("The PEM text of an identity holds no certificate. It needs BEGIN CERTIFICATE lines.")
    }
    let key = try PEM.privateKey(in: privateKeyPEM, password: password)
    material = try KeyMaterial(leaf: leaf, issuers: Array(chain.dropFirst()), key: key.pointer)
  }

  /// Reads PEM files of at most 1 MiB each; without `privateKeyFile` the key stands in the certificate's file.
  ///
  /// Throws `TLSError.Code.configuration` as the initialiser for text does, and if a file can't be read. It waits for the
  /// disk.
  public init(certificateFile: String, privateKeyFile: String? = nil, password: String? = nil) throws(TLSError) {
    let certificate = try readIdentityFile(certificateFile)
    let key: [UInt8] = if let privateKeyFile { try readIdentityFile(privateKeyFile) } else { certificate }
    try self.init(certificatePEM: certificate, privateKeyPEM: key, password: password)
  }

  /// Takes a PKCS#12 archive (RFC 7292), also one with RC2 if OpenSSL's legacy provider is installed. An archive without
  /// a password opens with "".
  ///
  /// Throws `TLSError.Code.configuration` if it can't be read, the password is wrong, or it has no key with a certificate.
  public init(pkcs12: [UInt8], password: String) throws(TLSError) {
    material = try PKCS12Archive.open(pkcs12, password: password)
  }

  /// Reads a PKCS#12 file of at most 1 MiB. Throws as the initialiser for bytes does, and if the file can't be read.
  public init(pkcs12File: String, password: String) throws(TLSError) {
    try self.init(pkcs12: readIdentityFile(pkcs12File), password: password)
  }
}

extension TLSIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The certificate's subject; nothing of the key.
  public var description: String { "TLSIdentity(\(material.leaf.subject))" }
  /// The certificate's subject; nothing of the key.
  public var debugDescription: String { description }
  /// The certificate's subject; nothing of the key.
  public var customMirror: Mirror { Mirror(self, children: ["subject": material.leaf.subject]) }
}

/// A certificate, those that are sent with it, and the key that belongs to it.
final class KeyMaterial: Sendable {
  let leaf: Certificate
  let issuers: [Certificate]
  // SAFETY: OpenSSL counts a key's references atomically, and guards what it derives of a key with a lock of its own.
  nonisolated(unsafe) let key: OpaquePointer

  /// Takes a reference of the key of its own.
  init(leaf: Certificate, issuers: [Certificate], key: OpaquePointer) throws(TLSError) {
    ERR_clear_error()
    guard X509_check_private_key(leaf.pointer, key) == 1 else {
      throw .configurationFromQueue(
        "The private key doesn't belong to the certificate \(leaf.subject). Pass the key that it was issued for.")
    }
    EVP_PKEY_up_ref(key)
    self.leaf = leaf
    self.issuers = issuers
    self.key = key
  }

  deinit {
    // SAFETY: gives back the reference that `init` took.
    EVP_PKEY_free(key)
  }
}

// The key is its certificate's, so that equal certificates have equal keys.
extension KeyMaterial: Hashable {
  static func == (left: KeyMaterial, right: KeyMaterial) -> Bool {
    left === right || left.leaf == right.leaf && left.issuers == right.issuers
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(leaf)
    hasher.combine(issuers.count)
  }
}

/// The whole of a file that holds a certificate or a key.
private func readIdentityFile(_ path: String) throws(TLSError) -> [UInt8] {
  guard let file = fopen(path, "re") else {
    throw .configuration(
      "The identity's file \(path) can't be opened: \(lastSystemError()). Check the path and its mode.")
  }
  defer { fclose(file) }
  // A byte more than is allowed tells a file that is too long.
  let room = TLSLimits.identityFileBytesMax + 1
  let bytes = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
    // SAFETY: the buffer has `room` bytes, and fread says how many of them it wrote.
    count = fread(buffer.baseAddress, 1, room, file)
  }
  guard ferror(file) == 0 else {
    throw .configuration("The identity's file \(path) can't be read: \(lastSystemError()). Is it a file?")
  }
  guard bytes.count < room else {
    throw .configuration(
      "The identity's file \(path) has more than \(TLSLimits.identityFileBytesMax) bytes, which no certificate has.")
  }
  return bytes
}
