// ThrowawayAuthority+OCSP: valid and invalid OCSP responses for tests.

internal import CLupineOpenSSL
internal import Glibc
package import LupineTLS

extension ThrowawayAuthority {
  /// The status of a certificate in a response (RFC 6960 §2.2).
  package enum OCSPStatus: Sendable {
    case good, revoked, unknown

    fileprivate var number: Int32 {
      switch self {
      case .good: V_OCSP_CERTSTATUS_GOOD
      case .revoked: V_OCSP_CERTSTATUS_REVOKED
      case .unknown: V_OCSP_CERTSTATUS_UNKNOWN
      }
    }
  }

  /// Returns a response in DER about a certificate of this authority.
  ///
  /// - Parameters:
  ///   - identity: The certificate that the response is about.
  ///   - status: The certificate's status.
  ///   - thisUpdate: The start of the response's validity, in seconds from now.
  ///   - nextUpdate: The end of the response's validity, in seconds from now, or nil to omit it.
  ///   - responder: The signer, or nil for this authority.
  ///   - hashIsSHA256: Whether the CertID uses SHA-256 instead of SHA-1.
  package func ocspResponse(
    for identity: Identity, _ status: OCSPStatus = .good, thisUpdate: Int = -60, nextUpdate: Int? = 3600,
    responder: Identity? = nil, hashIsSHA256: Bool = false
  ) throws(TLSError) -> [UInt8] {
    let leaf = try identity.certificate()
    let issuer = try self.identity.certificate()
    let signer = try (responder ?? self.identity).certificate()
    let signersKey = try PEM.privateKey(in: (responder ?? self.identity).privateKeyPEM)
    ERR_clear_error()
    guard let basic = Owned(OCSP_BASICRESP_new(), freeing: OCSP_BASICRESP_free),
      let name = Owned(
        OCSP_cert_to_id(hashIsSHA256 ? EVP_sha256() : EVP_sha1(), leaf.pointer, issuer.pointer),
        freeing: OCSP_CERTID_free)
    else { throw .outOfMemory("an OCSP response") }
    let start = time(adding: thisUpdate)
    let end = nextUpdate.flatMap { time(adding: $0) }
    let revoked = status == .revoked ? time(adding: -3600) : nil
    defer {
      for time in [start, end, revoked] { ASN1_STRING_free(time) }
    }
    // SAFETY: the response copies the identifier and the times, and retains the signer's certificate.
    guard OCSP_basic_add1_status(basic.pointer, name.pointer, status.number, 0, revoked, start, end) != nil,
      OCSP_basic_sign(basic.pointer, signer.pointer, signersKey.pointer, EVP_sha256(), nil, 0) == 1
    else { throw .configurationFromQueue("A throwaway OCSP response can't be created.") }
    return Self.encode(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic.pointer)
  }

  /// Returns an error response of a responder, such as status 3 for tryLater (RFC 6960 §4.2.1).
  package static func ocspRefusal(status: Int32) -> [UInt8] { encode(status, nil) }

  private static func encode(_ status: Int32, _ basic: OpaquePointer?) -> [UInt8] {
    guard let response = Owned(OCSP_response_create(status, basic), freeing: OCSP_RESPONSE_free) else { return [] }
    return der(of: response.pointer, i2d_OCSP_RESPONSE)
  }
}

private func time(adding seconds: Int) -> UnsafeMutablePointer<ASN1_GENERALIZEDTIME>? {
  ASN1_GENERALIZEDTIME_adj(nil, time(nil), 0, seconds)
}

extension ThrowawayAuthority.Identity {
  /// The first certificate in the identity's text.
  fileprivate func certificate() throws(TLSError) -> Owned {
    var first: OpaquePointer?
    _ = try PEM.forEachCertificate(in: certificatePEM) { certificate throws(TLSError) in
      guard first == nil else { return }
      // SAFETY: the reference taken here outlives the closure; the result releases it.
      X509_up_ref(certificate)
      first = certificate
    }
    guard let certificate = Owned(first, freeing: X509_free) else { throw .outOfMemory("a certificate") }
    return certificate
  }
}
