// StapledResponse: checks the OCSP response that a server staples to its handshake (RFC 6066 §8): its signer, its
// certificate, its status and its age (RFC 6960 §3.2).

import CLupineOpenSSL
import Glibc

enum StapledResponse {
  /// Checks the stapled response of a handshake whose chain is verified.
  static func check(
    _ ssl: OpaquePointer, host: String, isRequired: Bool
  ) throws(TLSError) -> TLSInfo.StapledOCSP {
    // A resumed handshake has neither a certificate nor a response. Both were checked when the session was created.
    guard SSL_session_reused(ssl) == 0 else { return .checkedEarlier }  // only with TLS 1.3
    let chain = certificates(in: SSL_get0_verified_chain(ssl))
    guard let leaf = chain.first else { throw .ocsp(.untrusted, host, "the server's chain is unknown") }
    var bytes: UnsafePointer<UInt8>?
    let count = lupine_ssl_staple(ssl, &bytes)
    guard let bytes, count > 0 else {
      guard !isRequired else { throw .ocsp(.missing, host, "the configuration requires one") }
      guard !leaf.mustStaple else { throw .ocsp(.missing, host, "its certificate requires one (RFC 7633)") }
      return .absent
    }
    // SAFETY: the bytes belong to the session and are only read during this call.
    let basic = try read(UnsafeBufferPointer(start: bytes, count: count), host: host)
    guard let issuer = issuer(of: leaf, in: chain) else {
      throw .ocsp(.untrusted, host, "the certificate's issuer isn't in its chain, so the response can't be verified")
    }
    try verifySigner(basic.pointer, ssl, host: host)
    try checkStatus(basic.pointer, of: leaf, from: issuer, host: host)
    return .good
  }

  /// Parses an OCSPResponse and its BasicOCSPResponse (RFC 6960 §4.2.1).
  private static func read(_ bytes: UnsafeBufferPointer<UInt8>, host: String) throws(TLSError) -> Owned {
    ERR_clear_error()
    // SAFETY: OpenSSL reads at most `count` bytes and moves `next` to the first byte that it didn't read.
    var next = bytes.baseAddress
    guard let response = Owned(d2i_OCSP_RESPONSE(nil, &next, bytes.count), freeing: OCSP_RESPONSE_free),
      next == bytes.baseAddress?.advanced(by: bytes.count)
    else { throw .ocsp(.malformed, host, "it isn't an OCSP response in DER") }
    let status = OCSP_response_status(response.pointer)
    guard status == OCSP_RESPONSE_STATUS_SUCCESSFUL else {
      // SAFETY: the string is static in OpenSSL.
      let name = String(cString: OCSP_response_status_str(Int(status)))
      throw .ocsp(.refused(status: Int(status)), host, "the responder returned status \(status) (\(name))")
    }
    guard let basic = Owned(OCSP_response_get1_basic(response.pointer), freeing: OCSP_BASICRESP_free) else {
      throw .ocsp(.malformed, host, "it contains no basic response")
    }
    return basic
  }

  private static func issuer(of leaf: Certificate, in chain: [Certificate]) -> Certificate? {
    if chain.count > 1 { return chain[1] }
    return X509_check_issued(leaf.pointer, leaf.pointer) == X509_V_OK ? leaf : nil
  }

  /// Verifies the signer: the certificate's issuer, or a responder that the issuer certified (RFC 6960 §4.2.2.2).
  private static func verifySigner(_ basic: OpaquePointer, _ ssl: OpaquePointer, host: String) throws(TLSError) {
    ERR_clear_error()
    // SAFETY: the chain and the store belong to the session and its context, and OpenSSL doesn't change them.
    let result = OCSP_basic_verify(
      basic, SSL_get0_verified_chain(ssl), SSL_CTX_get_cert_store(SSL_get_SSL_CTX(ssl)),
      UInt(OCSP_PARTIAL_CHAIN | OCSP_NOEXPLICIT))
    guard result == 1 else {
      throw .ocsp(
        .untrusted, host,
        "the certificate's issuer didn't authorize its signature: \(QueuedError.drainQueue()?.text ?? "no reason")"
      )
    }
  }

  /// Checks every single response about the certificate. There must be at least one, and all must be good.
  private static func checkStatus(
    _ basic: OpaquePointer, of leaf: Certificate, from issuer: Certificate, host: String
  ) throws(TLSError) {
    var isFound = false
    for index in 0..<max(OCSP_resp_count(basic), 0) {
      guard let single = OCSP_resp_get0(basic, index), isAbout(single, leaf, issuer) else { continue }
      isFound = true
      try checkStatus(single, host: host)
    }
    guard isFound else { throw .ocsp(.otherCertificate, host, "it is about another certificate") }
  }

  /// Returns whether a CertID identifies the certificate: by the issuer's name and key, with the responder's hash
  /// algorithm, and by the serial number (RFC 6960 §4.1.1).
  private static func isAbout(_ single: OpaquePointer, _ leaf: Certificate, _ issuer: Certificate) -> Bool {
    // SAFETY: the identifier belongs to the single response, the algorithm to the identifier, and `expected` is ours.
    guard let identifier = OCSP_SINGLERESP_get0_id(single) else { return false }
    var algorithm: OpaquePointer?
    OCSP_id_get0_info(nil, &algorithm, nil, nil, identifier)
    guard let digest = EVP_get_digestbyname(OBJ_nid2sn(OBJ_obj2nid(algorithm))),
      let expected = Owned(OCSP_cert_to_id(digest, leaf.pointer, issuer.pointer), freeing: OCSP_CERTID_free)
    else { return false }
    return OCSP_id_cmp(expected.pointer, identifier) == 0
  }

  private static func checkStatus(_ single: OpaquePointer, host: String) throws(TLSError) {
    var reason: Int32 = 0
    var revoked: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    var thisUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    var nextUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    // SAFETY: the times belong to the single response, which is alive during this call.
    switch OCSP_single_get0_status(single, &reason, &revoked, &thisUpdate, &nextUpdate) {
    case V_OCSP_CERTSTATUS_GOOD: break
    case V_OCSP_CERTSTATUS_REVOKED:
      throw .ocsp(.revoked, host, "the certificate was revoked on \(describe(time: revoked))")
    default:
      throw .ocsp(.unknownCertificate, host, "the responder doesn't know the certificate")
    }
    ERR_clear_error()
    let ageMax = nextUpdate == nil ? TLSLimits.undatedStapleSeconds : -1
    guard OCSP_check_validity(thisUpdate, nextUpdate, TLSLimits.clockSkewSeconds, ageMax) == 1 else {
      let times =
        "thisUpdate \(describe(time: thisUpdate))"
        + (nextUpdate.map { ", nextUpdate \(describe(time: $0))" } ?? ", no nextUpdate")
      switch QueuedError.drainQueue()?.reason {
      case OCSP_R_STATUS_NOT_YET_VALID: throw .ocsp(.notYetValid, host, "it isn't valid yet (\(times))")
      case OCSP_R_STATUS_EXPIRED, OCSP_R_STATUS_TOO_OLD: throw .ocsp(.expired, host, "it has expired (\(times))")
      default: throw .ocsp(.malformed, host, "its times are invalid (\(times))")
      }
    }
  }
}

extension TLSError {
  static func ocsp(_ problem: OCSPProblem, _ host: String, _ cause: String) -> TLSError {
    let remedy =
      switch problem {
      case .missing: "Enable stapling on the server, or set ocspStapling to .checked or .ignored."
      case .revoked: "Replace the certificate; don't trust this server."
      case .notYetValid, .expired: "Have the server fetch a new one, or check this machine's clock."
      case .malformed, .refused, .untrusted, .otherCertificate, .unknownCertificate:
        "Inspect the response with openssl s_client -status."
      }
    let subject =
      problem == .missing ? "\(host) stapled no OCSP response" : "The OCSP response that \(host) stapled was refused"
    return TLSError(code: .ocsp(problem), message: "\(subject): \(cause). \(remedy)")
  }
}
