// ThrowawayAuthority+OCSP: valid and invalid OCSP responses and revocation lists for tests.

internal import CLupineOpenSSL
internal import LupineLibc
package import LupineTLS

extension ThrowawayAuthority {
  /// The status of a certificate in an OCSP response (RFC 6960 §2.2).
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

  /// Creates an OCSP response in DER about a certificate of this authority.
  ///
  /// - Parameters:
  ///   - identity: The certificate that the response is about.
  ///   - status: The certificate's status.
  ///   - thisUpdate: The start of the response's validity, in seconds from now.
  ///   - nextUpdate: The end of the response's validity, in seconds from now, or nil to omit it.
  ///   - responder: The signer, or nil for this authority.
  ///   - hashIsSHA256: Whether the CertID uses SHA-256 instead of SHA-1.
  ///   - request: The request in DER whose nonce the response repeats, or nil for no nonce.
  ///   - earlier: The certificates of further SingleResponses, with their statuses. They precede the one about `identity`.
  package func ocspResponse(
    for identity: Identity, _ status: OCSPStatus = .good, thisUpdate: Int = -60, nextUpdate: Int? = 3600,
    responder: Identity? = nil, hashIsSHA256: Bool = false, answering request: [UInt8]? = nil,
    after earlier: [(identity: Identity, status: OCSPStatus)] = []
  ) throws(TLSError) -> [UInt8] {
    let issuer = try self.identity.certificate()
    let signer = try (responder ?? self.identity).certificate()
    let signersKey = try PEM.privateKey(in: (responder ?? self.identity).privateKeyPEM)
    ERR_clear_error()
    guard let basic = Owned(OCSP_BASICRESP_new(), freeing: OCSP_BASICRESP_free) else {
      throw .outOfMemory("an OCSP response")
    }
    let start = time(adding: thisUpdate)
    let end = nextUpdate.flatMap { time(adding: $0) }
    let revoked = time(adding: -3600)
    defer {
      for time in [start, end, revoked] { ASN1_STRING_free(time) }
    }
    if let request {
      guard let request = decodeDER(request, d2i_OCSP_REQUEST, freeing: OCSP_REQUEST_free),
        OCSP_copy_nonce(basic.pointer, request.pointer) == 1
      else { throw .configurationFromQueue("The request has no nonce.") }
    }
    for (identity, status) in earlier + [(identity: identity, status: status)] {
      let leaf = try identity.certificate()
      // SAFETY: the response copies the identifier and the times.
      guard
        let name = Owned(
          OCSP_cert_to_id(hashIsSHA256 ? EVP_sha256() : EVP_sha1(), leaf.pointer, issuer.pointer),
          freeing: OCSP_CERTID_free),
        OCSP_basic_add1_status(
          basic.pointer, name.pointer, status.number, 0, status == .revoked ? revoked : nil, start, end) != nil
      else { throw .configurationFromQueue("A throwaway OCSP response can't be created.") }
    }
    // SAFETY: the response retains the signer's certificate.
    guard OCSP_basic_sign(basic.pointer, signer.pointer, signersKey.pointer, EVP_sha256(), nil, 0) == 1 else {
      throw .configurationFromQueue("A throwaway OCSP response can't be signed.")
    }
    return Self.encode(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic.pointer)
  }

  /// Creates a certificate revocation list in DER, signed by this authority.
  ///
  /// - Parameters:
  ///   - revoked: The certificates on the list.
  ///   - thisUpdate: The start of the list's validity, in seconds from now.
  ///   - nextUpdate: The end of the list's validity, in seconds from now, or nil to omit it.
  ///   - signer: The signer's key, or nil for this authority's.
  package func revocationList(
    revoking revoked: [Identity] = [], thisUpdate: Int = -60, nextUpdate: Int? = 3600, signer: Identity? = nil
  ) throws(TLSError) -> [UInt8] {
    let issuer = try identity.certificate()
    let key = try PEM.privateKey(in: (signer ?? identity).privateKeyPEM)
    ERR_clear_error()
    guard let list = Owned(X509_CRL_new(), freeing: X509_CRL_free) else { throw .outOfMemory("a revocation list") }
    let start = time(adding: thisUpdate)
    let end = nextUpdate.flatMap { time(adding: $0) }
    defer { for time in [start, end] { ASN1_STRING_free(time) } }
    // SAFETY: the list copies the name, the times and the serial numbers, and takes ownership of its entries.
    guard X509_CRL_set_version(list.pointer, 1) == 1,
      X509_CRL_set_issuer_name(list.pointer, X509_get_subject_name(issuer.pointer)) == 1,
      X509_CRL_set1_lastUpdate(list.pointer, start) == 1,
      end == nil || X509_CRL_set1_nextUpdate(list.pointer, end) == 1
    else { throw .configurationFromQueue("A throwaway revocation list can't be made.") }
    for identity in revoked {
      let certificate = try identity.certificate()
      guard let entry = X509_REVOKED_new(),
        X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(certificate.pointer)) == 1,
        X509_REVOKED_set_revocationDate(entry, start) == 1, X509_CRL_add0_revoked(list.pointer, entry) == 1
      else { throw .configurationFromQueue("A certificate can't be revoked.") }
    }
    guard X509_CRL_sort(list.pointer) == 1, X509_CRL_sign(list.pointer, key.pointer, EVP_sha256()) > 0 else {
      throw .configurationFromQueue("A throwaway revocation list can't be signed.")
    }
    return der(of: list.pointer, i2d_X509_CRL)
  }

  /// Creates an OCSP response in DER that contains only an error status, such as 3 for tryLater (RFC 6960 §4.2.1).
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
  /// The identity's certificate in DER.
  package var certificateDER: [UInt8] {
    get throws(TLSError) {
      let certificate = try certificate()
      return der(of: certificate.pointer, i2d_X509)
    }
  }

  /// Returns the first certificate in the identity's PEM text.
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
