// MessageDigest: the hash functions of authentication schemes, plain or keyed (HMAC, RFC 2104), computed by OpenSSL.

import CLupineOpenSSL

/// A cryptographic hash function, such as SHA-256. The raw value is the function's name in OpenSSL.
package enum MessageDigest: String, Sendable, Hashable, CaseIterable {
  case md5 = "MD5"
  /// Only for the opening handshake of WebSocket (RFC 6455 §4.2.2), where it protects nothing.
  case sha1 = "SHA1"
  case sha256 = "SHA2-256"
  case sha384 = "SHA2-384"
  case sha512 = "SHA2-512"
  case sha512_256 = "SHA2-512/256"

  /// Returns the hash of the bytes, or nil if OpenSSL's configuration forbids this hash function, such as MD5 in FIPS mode.
  package func hash(_ bytes: [UInt8]) -> [UInt8]? {
    filled { output, count in
      // SAFETY: OpenSSL reads `bytes.count` bytes and writes at most EVP_MAX_MD_SIZE, the size of the output.
      EVP_Q_digest(nil, rawValue, nil, bytes, bytes.count, output, &count)
    }
  }

  /// Returns the HMAC of the bytes with `key` (RFC 2104), or nil if OpenSSL's configuration forbids this hash function.
  package func authenticationCode(of bytes: [UInt8], key: [UInt8]) -> [UInt8]? {
    filled { output, count in
      // SAFETY: OpenSSL reads the key and the bytes, and writes at most the size that it is given.
      let written = EVP_Q_mac(
        nil, "HMAC", nil, rawValue, nil, key, key.count, bytes, bytes.count, output, Int(EVP_MAX_MD_SIZE), &count)
      return written == nil ? 0 : 1
    }
  }

  private func filled(by compute: (UnsafeMutablePointer<UInt8>?, inout Int) -> Int32) -> [UInt8]? {
    OpenSSL.setUp()
    defer { ERR_clear_error() }
    var isComputed = false
    let output = [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, filled in
      // SAFETY: the functions initialize as many bytes as they report; after a failure none are used.
      var count = 0
      isComputed = compute(buffer.baseAddress, &count) == 1
      filled = isComputed ? count : 0
    }
    return isComputed ? output : nil
  }
}

/// Returns the channel binding `tls-server-end-point` of a server's certificate in DER: a hash of the certificate, which binds an
/// authentication to a TLS connection (RFC 5929 §4.1).
///
/// The hash function is that of the certificate's signature, except that SHA-256 replaces MD5 and SHA-1. Returns nil if the bytes
/// aren't exactly one certificate, or if its signature has no hash function (Ed25519), so that the binding is undefined.
package func endPointBinding(ofCertificate der: [UInt8]) -> [UInt8]? {
  reading(certificate: der) { $0.signatureDigest?.hash(der) }
}

extension Certificate {
  /// The hash function with which the channel binding `tls-server-end-point` hashes this certificate. Nil if the certificate's
  /// signature has no hash function, as with Ed25519.
  fileprivate var signatureDigest: MessageDigest? {
    var function = NID_undef
    // SAFETY: reads the certificate, and writes only to `function`.
    guard X509_get_signature_info(pointer, &function, nil, nil, nil) == 1 else { return nil }
    return switch function {
    case NID_md5, NID_sha1, NID_sha256: .sha256
    case NID_sha384: .sha384
    case NID_sha512: .sha512
    default: nil
    }
  }
}
