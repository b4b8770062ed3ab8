// Certificates and keys from PEM text in memory (RFC 7468).

import CLupineOpenSSL

enum PEM {
  /// Calls `body` with each certificate of the text, and answers how many there were.
  static func forEachCertificate(
    in text: [UInt8], _ body: (OpaquePointer) throws(TLSError) -> Void
  ) throws(TLSError) -> Int {
    let bio = try open(text)
    var count = 0
    while true {
      ERR_clear_error()
      let read = PEM_read_bio_X509(bio.pointer, nil, refusePassphrase, nil)
      guard let certificate = Owned(read, freeing: X509_free) else { break }
      try body(certificate.pointer)
      count += 1
    }
    // The text's end reads as "no start line"; anything else is a broken certificate.
    let end = ERR_peek_last_error()
    guard ERR_GET_LIB(end) == ERR_LIB_PEM && ERR_GET_REASON(end) == PEM_R_NO_START_LINE else {
      throw .configurationFromQueue("Certificate \(count + 1) of the PEM text can't be read.")
    }
    ERR_clear_error()
    return count
  }

  static func privateKey(in text: [UInt8]) throws(TLSError) -> Owned {
    let bio = try open(text)
    ERR_clear_error()
    let read = PEM_read_bio_PrivateKey(bio.pointer, nil, refusePassphrase, nil)
    guard let key = Owned(read, freeing: EVP_PKEY_free) else {
      throw .configurationFromQueue("The PEM text holds no private key that can be read without a passphrase.")
    }
    return key
  }

  /// The text that `write` puts into a memory BIO.
  static func text(_ write: (OpaquePointer) -> Bool) throws(TLSError) -> [UInt8] {
    guard let bio = Owned(BIO_new(BIO_s_mem()), freeing: { BIO_free($0) }), write(bio.pointer) else {
      throw .configurationFromQueue("PEM text can't be written.")
    }
    return drain(bio.pointer)
  }

  private static func open(_ text: [UInt8]) throws(TLSError) -> Owned {
    guard let bio = Owned(BIO_new(BIO_s_mem()), freeing: { BIO_free($0) }),
      // SAFETY: the BIO copies the bytes before the pointer's scope ends.
      text.withUnsafeBytes({ fill(bio.pointer, with: $0) })
    else { throw .outOfMemory("a buffer for PEM text") }
    return bio
  }
}

/// OpenSSL would ask on the terminal.
private func refusePassphrase(
  _: UnsafeMutablePointer<CChar>?, _: Int32, _: Int32, _: UnsafeMutableRawPointer?
) -> Int32 {
  -1
}
