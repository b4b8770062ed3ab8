// Certificates, OCSP responses and revocation lists, which an attacker on the network path can replace, and identities in PEM.

import Foundation
@testable import LupineTLS

extension FuzzTarget {
  /// Fuzzes the check of revocations. The input is the byte `l` followed by a revocation list, or any other byte followed by an
  /// OCSP response. The lists and responses in the corpus have all expired.
  static let revocation = FuzzTarget(
    name: "revocation", summary: "no bytes confirm or revoke a certificate without its issuer's valid signature"
  ) { bytes in
    guard let kind = bytes.first, let subject = revocationSubject else { return }
    let content = Array(bytes.dropFirst())
    do throws(RevocationProblem) {
      let status = try kind == UInt8(ascii: "l") ? subject.status(fromList: content) : subject.status(fromOCSP: content)
      hold(false, "the certificate is \(status)")
    } catch {
      hold(!error.description.isEmpty, "a refusal without a reason")
    }
  }

  /// Fuzzes the parser of certificates. The input is a certificate in DER.
  static let certificate = FuzzTarget(
    name: "certificate", summary: "bytes are refused as a certificate, or have a key, a name and few http addresses"
  ) { bytes in
    let (key, name) = (publicKey(ofCertificate: bytes), subject(ofCertificate: bytes))
    hold((key == nil) == (name == nil), "the key is \(shown(key ?? [])), and the name \(name ?? "missing")")
    let binding = endPointBinding(ofCertificate: bytes)
    let hashes = [MessageDigest.sha256, .sha384, .sha512].map { $0.hash(bytes) }
    hold(binding == nil || key != nil && hashes.contains(binding), "the binding is \(shown(binding ?? []))")

    guard let issuer = Data(base64Encoded: authority),
      let link = RevocationSubject.subjects(ofChain: [bytes, Array(issuer)]).first
    else { return hold(key == nil, "a certificate isn't part of its chain") }
    for addresses in [link.responders, link.distributionPoints] {
      hold(addresses.count <= RevocationSubject.addressesMax, "\(addresses)")
      hold(addresses.allSatisfy { $0.lowercased().hasPrefix("http://") }, "\(addresses)")
    }
    _ = (link.requiresStaple, link.ocspRequest(), link.fingerprint, link.name)
  }

  /// Fuzzes the parser of PEM text. The input contains certificates and a key. The parser gets no password for encrypted keys,
  /// because the input determines how long their decryption takes.
  static let pem = FuzzTarget(
    name: "pem",
    summary: "PEM text is refused, or has as many certificates as are read, and an identity keeps its key secret"
  ) { bytes in
    var count = 0
    let total = try? PEM.forEachCertificate(in: bytes) { _ in count += 1 }
    hold(total == nil || total == count, "\(count) of \(total ?? 0) certificates")
    guard let identity = try? TLSIdentity(certificatePEM: bytes, privateKeyPEM: bytes) else { return }
    hold(total != 0, "an identity without a certificate")
    let certificate = identity.certificateDER
    hold(subject(ofCertificate: certificate).map { "TLSIdentity(\($0))" } == "\(identity)", "\(identity)")
    hold((try? identity.sending(issuers: []))?.certificateDER == certificate, "\(identity) has changed")
  }

  private static let revocationSubject: RevocationSubject? = {
    let chain = [leaf, authority].compactMap { Data(base64Encoded: $0).map(Array.init) }
    let subject = RevocationSubject.subjects(ofChain: chain).first
    hold(subject != nil, "the target's certificates can't be parsed")
    return subject
  }()

  private static let leaf =
    "MIIBvDCCAWOgAwIBAgICEAAwCgYIKoZIzj0EAwIwEjEQMA4GA1UEAwwHRnV6eiBDQTAeFw0yNjExMjQxMzM4NTNaFw0zNjExMjExMzM4NTNaMA"
    + "8xDTALBgNVBAMMBGZ1enowWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAS9j8mHqL2qWsBP3k1MKkgcoHmeDR4D4XZWIiM2STw8JC/iN1cP3QmT"
    + "79Sj5Vc5g04YDTESIbmMSu/xt8j20sXqo4GrMIGoMAwGA1UdEwEB/wQCMAAwMQYIKwYBBQUHAQEEJTAjMCEGCCsGAQUFBzABhhVodHRwOi8vMT"
    + "I3LjAuMC4xL29jc3AwJQYDVR0fBB4wHDAaoBigFoYUaHR0cDovLzEyNy4wLjAuMS9jcmwwHQYDVR0OBBYEFHcYfVUFQ217jSGfsDgpzKGlffVg"
    + "MB8GA1UdIwQYMBaAFIChvZzd02VJhaZgICeAhWsxAtXdMAoGCCqGSM49BAMCA0cAMEQCIDY5U0ptKCTyZsbAvUq7HxeUVbxP6LoRGTddrzYFXH"
    + "t1AiASPyVAKNWdBbXtjCuEJLHC0pmdLsWNN6saneG6DsPbcQ=="
  private static let authority =
    "MIIBaDCCAQ6gAwIBAgIUMNgNOf0iYAEZXcoPdx+5gzy1UbMwCgYIKoZIzj0EAwIwEjEQMA4GA1UEAwwHRnV6eiBDQTAeFw0yNjExMjQxMzM4NT"
    + "NaFw0zNjExMjExMzM4NTNaMBIxEDAOBgNVBAMMB0Z1enogQ0EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQqWEHX9yBK/g913h+eQkZiGztj"
    + "FhFMZZxJZ9AQjntaa2Z7iGRrGKiNvP8I9Eup7Z+sX/cxI3qeew0oJ7Q2j604o0IwQDAPBgNVHRMBAf8EBTADAQH/MA4GA1UdDwEB/wQEAwIBBj"
    + "AdBgNVHQ4EFgQUgKG9nN3TZUmFpmAgJ4CFazEC1d0wCgYIKoZIzj0EAwIDSAAwRQIgSegt7H2BYlk20sPUsrcIo27L6EGmUoyc0A2Mfm9PMwIC"
    + "IQCH1/rq5f4kPkSNBJmdhotHsqeTWNrqdbyrT3tUTgNGxA=="
}
