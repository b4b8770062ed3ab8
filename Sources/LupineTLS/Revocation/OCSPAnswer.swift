// OCSPAnswer: checks an OCSP response: its signer, its certificate, its status and its age (RFC 6960 §3.2).

import CLupineOpenSSL
import LupineLibc

/// The reason why an OCSP response doesn't show that a certificate is good.
struct OCSPFailure: Error {
  let problem: TLSError.OCSPProblem
  let cause: String

  init(_ problem: TLSError.OCSPProblem, _ cause: String) {
    self.problem = problem
    self.cause = cause
  }
}

/// A parsed OCSP response: an OCSPResponse that contains a BasicOCSPResponse (RFC 6960 §4.2.1).
struct OCSPAnswer: ~Copyable {
  private let basic: Owned

  /// Parses an OCSP response in DER. Throws an `OCSPFailure` with the problem `.malformed` if the response is malformed, or
  /// `.refused` if it contains an error status of the responder, such as tryLater.
  init(_ bytes: [UInt8]) throws(OCSPFailure) {
    OpenSSL.setUp()
    ERR_clear_error()
    guard let response = decodeDER(bytes, d2i_OCSP_RESPONSE, freeing: OCSP_RESPONSE_free) else {
      throw OCSPFailure(.malformed, "it isn't an OCSP response in DER")
    }
    let status = OCSP_response_status(response.pointer)
    guard status == OCSP_RESPONSE_STATUS_SUCCESSFUL else {
      // SAFETY: the string is static in OpenSSL.
      let name = String(cString: OCSP_response_status_str(Int(status)))
      throw OCSPFailure(.refused(status: Int(status)), "the responder returned status \(status) (\(name))")
    }
    guard let basic = Owned(OCSP_response_get1_basic(response.pointer), freeing: OCSP_BASICRESP_free) else {
      throw OCSPFailure(.malformed, "it contains no basic response")
    }
    self.basic = basic
  }

  /// Checks that the response states that the certificate `leaf` is good. If it doesn't, throws the reason. Returns the earliest
  /// nextUpdate in seconds since 1970, or nil if the response has none.
  ///
  /// The response must be signed by `issuer`, or by a responder that the issuer has certified (RFC 6960 §4.2.2.2). Every
  /// SingleResponse about `leaf` must be current and have the status good. If a current one has the status revoked, the error
  /// reports that, whatever the others say.
  func confirm(_ leaf: Certificate, from issuer: Certificate) throws(OCSPFailure) -> Int? {
    try verifySigner(issuer)
    var ends: [Int] = []
    var failure: OCSPFailure?
    var isFound = false
    for index in 0..<max(OCSP_resp_count(basic.pointer), 0) {
      guard let single = OCSP_resp_get0(basic.pointer, index), isAbout(single, leaf, issuer) else { continue }
      isFound = true
      do throws(OCSPFailure) {
        if let end = try confirm(single) { ends.append(end) }
      } catch {
        guard error.problem != .revoked else { throw error }
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    guard isFound else { throw OCSPFailure(.otherCertificate, "it is about another certificate") }
    return ends.min()
  }

  /// Throws an `OCSPFailure` with the problem `.untrusted` if the OCSP response and the request both have a nonce and the nonces
  /// differ. Accepts a response without a nonce, because many responders sign their responses in advance (RFC 9654 §2.1).
  func checkNonce(of request: [UInt8]) throws(OCSPFailure) {
    guard let request = decodeDER(request, d2i_OCSP_REQUEST, freeing: OCSP_REQUEST_free) else {
      throw OCSPFailure(.malformed, "its request can't be read")
    }
    // 0 means that the nonces differ. A negative result means that only the request has a nonce.
    guard OCSP_check_nonce(request.pointer, basic.pointer) != 0 else {
      throw OCSPFailure(.untrusted, "it answers another request: the nonces differ")
    }
  }

  private func verifySigner(_ issuer: Certificate) throws(OCSPFailure) {
    ERR_clear_error()
    // SAFETY: the store and the stack are ours and freed on every path. The store retains the issuer; the stack borrows it
    // while it is alive.
    let store = X509_STORE_new()
    defer { X509_STORE_free(store) }
    let certificates = OPENSSL_sk_new_null()
    defer { OPENSSL_sk_free(certificates) }
    guard X509_STORE_add_cert(store, issuer.pointer) == 1,
      OPENSSL_sk_push(certificates, UnsafeRawPointer(issuer.pointer)) > 0
    else { throw OCSPFailure(.untrusted, "memory ran out") }
    let flags = UInt(OCSP_PARTIAL_CHAIN | OCSP_NOEXPLICIT)
    guard OCSP_basic_verify(basic.pointer, certificates, store, flags) == 1 else {
      throw OCSPFailure(
        .untrusted,
        "its signer isn't authorized by the certificate's issuer: \(QueuedError.drainQueue()?.text ?? "no reason")")
    }
  }

  /// Returns whether `single`, a SingleResponse of the OCSP response, is about the certificate `leaf`. Its CertID must contain the
  /// certificate's serial number, and the hashes of the issuer's name and key with the hash algorithm that the CertID names (RFC
  /// 6960 §4.1.1).
  private func isAbout(_ single: OpaquePointer, _ leaf: Certificate, _ issuer: Certificate) -> Bool {
    // SAFETY: the identifier belongs to the single response, the algorithm to the identifier, and `expected` is ours.
    guard let identifier = OCSP_SINGLERESP_get0_id(single) else { return false }
    var algorithm: OpaquePointer?
    OCSP_id_get0_info(nil, &algorithm, nil, nil, identifier)
    guard let digest = EVP_get_digestbyname(OBJ_nid2sn(OBJ_obj2nid(algorithm))),
      let expected = Owned(OCSP_cert_to_id(digest, leaf.pointer, issuer.pointer), freeing: OCSP_CERTID_free)
    else { return false }
    return OCSP_id_cmp(expected.pointer, identifier) == 0
  }

  private func confirm(_ single: OpaquePointer) throws(OCSPFailure) -> Int? {
    var reason: Int32 = 0
    var revoked: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    var thisUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    var nextUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    // SAFETY: the times belong to the single response, which is alive during this call.
    let status = OCSP_single_get0_status(single, &reason, &revoked, &thisUpdate, &nextUpdate)
    ERR_clear_error()
    // The times are checked before the status (RFC 6960 §3.2), because a revocation can be lifted (certificateHold), and an
    // attacker could replay the outdated response.
    let ageMax = nextUpdate == nil ? TLSLimits.undatedStapleSeconds : -1
    guard OCSP_check_validity(thisUpdate, nextUpdate, TLSLimits.clockSkewSeconds, ageMax) == 1 else {
      let times =
        "thisUpdate \(describe(time: thisUpdate))"
        + (nextUpdate.map { ", nextUpdate \(describe(time: $0))" } ?? ", no nextUpdate")
      switch QueuedError.drainQueue()?.reason {
      case OCSP_R_STATUS_NOT_YET_VALID: throw OCSPFailure(.notYetValid, "it isn't valid yet (\(times))")
      case OCSP_R_STATUS_EXPIRED, OCSP_R_STATUS_TOO_OLD: throw OCSPFailure(.expired, "it has expired (\(times))")
      default: throw OCSPFailure(.malformed, "its times are invalid (\(times))")
      }
    }
    switch status {
    case V_OCSP_CERTSTATUS_GOOD: return nextUpdate.flatMap { seconds(of: $0) }
    case V_OCSP_CERTSTATUS_REVOKED:
      throw OCSPFailure(.revoked, "the certificate was revoked on \(describe(time: revoked))")
    default: throw OCSPFailure(.unknownCertificate, "the responder doesn't know the certificate")
    }
  }
}

/// Converts OpenSSL's `time` to seconds since 1970. Returns nil if `time` is nil or malformed.
func seconds(of time: UnsafePointer<ASN1_TIME>?) -> Int? {
  var parts = tm()
  // SAFETY: OpenSSL checks the encoding and fills every field of `parts`, or returns 0.
  guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
  return timegm(&parts)
}
