// ChannelBindingTests: the hash of a server's certificate that binds an authentication to its connection (RFC 5929 §4.1).

import LupineTLS
import Testing

@testable import LupineAuthentication

@Suite("ChannelBinding")
struct ChannelBindingTests {
  @Test(
    "a TLS channel binding uses the hash function of the certificate's signature, but SHA-256 in place of SHA-1"
  )
  func functions() {
    let vectors: [([UInt8], MessageDigest)] = [
      (CertificateVectors.sha256, .sha256), (CertificateVectors.sha384, .sha384), (CertificateVectors.sha1, .sha256),
    ]
    for (certificate, digest) in vectors {
      #expect(!certificate.isEmpty && endPointBinding(ofCertificate: certificate) == digest.hash(certificate))
    }
  }

  @Test(
    "there is no TLS channel binding if the certificate's signature has no hash function, or if the certificate is malformed"
  )
  func none() {
    #expect(!CertificateVectors.ed25519.isEmpty && ChannelBinding(serverCertificate: CertificateVectors.ed25519) == nil)
    #expect(ChannelBinding(serverCertificate: []) == nil)
    #expect(ChannelBinding(serverCertificate: CertificateVectors.sha256 + [0]) == nil)
  }

  @Test(
    "Digest's hash functions and HMAC return the values of their published test vectors",
    arguments: [
      // RFC 1321 §A.5, and the examples of NIST for the message "abc".
      (.md5, "900150983cd24fb0d6963f7d28e17f72"),
      (.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (.sha512_256, "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
    ] as [(MessageDigest, String)])
  func hashes(digest: MessageDigest, value: String) throws {
    #expect(hex(try #require(digest.hash(Array("abc".utf8)))) == value)
    // The HMAC values of RFC 2202 §2 and RFC 4231 §4.3.
    let codes: [MessageDigest: String] = [
      .md5: "750c783e6ab0b503eaa86e310a5db738",
      .sha256: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    ]
    let code = digest.authenticationCode(of: Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
    if let expected = codes[digest] { #expect(hex(try #require(code)) == expected) }
  }
}
