// PEM: reads certificates and keys from PEM text in memory (RFC 7468).

import CLupineOpenSSL

package enum PEM {
  /// Parses each certificate in the PEM text, passes it to `body` as an X509 pointer, and returns the number of certificates. The
  /// pointer is valid only during the call of `body`.
  package static func forEachCertificate(
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
    // OpenSSL reports the end of the text as the error "no start line". Any other error means a malformed certificate.
    let end = ERR_peek_last_error()
    guard ERR_GET_LIB(end) == ERR_LIB_PEM && ERR_GET_REASON(end) == PEM_R_NO_START_LINE else {
      throw .configurationFromQueue("Certificate \(count + 1) of the PEM text can't be parsed.")
    }
    ERR_clear_error()
    return count
  }

  /// Returns the first private key in the PEM text. The key may be in PKCS#8, PKCS#1 or SEC1. `password` is used only if the key
  /// is encrypted.
  package static func privateKey(in text: [UInt8], password: String? = nil) throws(TLSError) -> Owned {
    let bio = try open(text)
    let answer = PasswordAnswer(password)
    ERR_clear_error()
    // SAFETY: `answer` is alive until after the call, and only the call uses the pointer.
    let read = PEM_read_bio_PrivateKey(
      bio.pointer, nil, answerPassword, Unmanaged.passUnretained(answer).toOpaque())
    if let key = Owned(read, freeing: EVP_PKEY_free) { return key }
    guard answer.wasAsked else {
      throw .configurationFromQueue("The PEM text has no readable private key. Use PKCS#8, PKCS#1 or SEC1.")
    }
    guard password != nil else {
      ERR_clear_error()
      throw .configuration("The private key is encrypted, but no password was given. Pass its password.")
    }
    throw .configurationFromQueue("The password doesn't decrypt the private key. Correct it.")
  }

  private static func open(_ text: [UInt8]) throws(TLSError) -> Owned {
    OpenSSL.setUp()
    guard let bio = Owned(BIO_new(BIO_s_mem()), freeing: { BIO_free($0) }),
      // SAFETY: the BIO copies the bytes before the pointer's scope ends.
      text.withUnsafeBytes({ fill(bio.pointer, with: $0) })
    else { throw .outOfMemory("a buffer for the PEM text") }
    return bio
  }
}

/// The password that `answerPassword` returns to OpenSSL. Without such a callback, OpenSSL would prompt for the password on the
/// terminal. `wasAsked` records whether OpenSSL has called the callback.
private final class PasswordAnswer {
  let password: [UInt8]?
  var wasAsked = false

  init(_ password: String?) {
    self.password = password.map { Array($0.utf8) }
  }
}

/// OpenSSL's password callback (pem_password_cb) for private keys: copies the password into the buffer. Returns the password's
/// length in bytes, or -1 if there is no password or it doesn't fit.
private func answerPassword(
  _ buffer: UnsafeMutablePointer<CChar>?, _ room: Int32, _: Int32, _ argument: UnsafeMutableRawPointer?
) -> Int32 {
  guard let buffer, let argument else { return -1 }
  // SAFETY: the argument is the PasswordAnswer of the running call, and the buffer has `room` bytes.
  let answer = Unmanaged<PasswordAnswer>.fromOpaque(argument).takeUnretainedValue()
  answer.wasAsked = true
  guard let password = answer.password, password.count <= Int(room) else { return -1 }
  for (index, byte) in password.enumerated() { buffer[index] = CChar(bitPattern: byte) }
  return Int32(password.count)
}

/// OpenSSL's password callback (pem_password_cb) for certificates: returns -1, which means "no password", because certificates
/// aren't encrypted.
private func refusePassphrase(
  _: UnsafeMutablePointer<CChar>?, _: Int32, _: Int32, _: UnsafeMutableRawPointer?
) -> Int32 {
  -1
}
