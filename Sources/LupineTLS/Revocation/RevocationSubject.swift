// RevocationSubject: a certificate whose revocation is checked by OCSP (RFC 6960) or by its issuer's list (RFC 5280 §5).

import CLupineOpenSSL
import LupineLibc

/// The revocation status of a certificate according to a verified OCSP response or revocation list.
package enum RevocationStatus: Sendable, Hashable {
  /// The certificate isn't revoked. `until` is the time of the OCSP response's or the list's next update in seconds since 1970, or
  /// nil if it names none.
  case good(until: Int?)
  /// The certificate is revoked. The associated value is text for an error message, such as "the certificate was revoked on
  /// 2026-01-31 23:59:59 UTC". The date is omitted if it isn't known.
  case revoked(String)
}

/// The reason why the client can't determine from an OCSP response or a revocation list whether a certificate is revoked.
package struct RevocationProblem: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}

/// A certificate whose revocation is checked, and the issuer that has signed it.
package struct RevocationSubject: Sendable, Hashable {
  /// The maximum number of a certificate's OCSP responders, and of its revocation lists, that the client uses: 2 each. Most
  /// certificates name one of each, and some name two.
  static let addressesMax = 2

  private let certificate: Certificate
  private let issuer: Certificate

  /// Pairs each certificate of a chain with its issuer, starting with the server's certificate. `chain` contains the certificates
  /// in DER, and must already be verified. Omits the last certificate, because its issuer isn't in the chain.
  package static func subjects(ofChain chain: [[UInt8]]) -> [RevocationSubject] {
    OpenSSL.setUp()
    defer { ERR_clear_error() }
    let certificates = chain.compactMap { Certificate(der: $0) }
    guard certificates.count == chain.count else { return [] }
    return zip(certificates, certificates.dropFirst()).map { RevocationSubject(certificate: $0, issuer: $1) }
  }

  /// An identifier of the certificate and its issuer: the SHA-256 hash of both in DER, or the DER itself if OpenSSL's configuration
  /// forbids SHA-256.
  package var fingerprint: [UInt8] {
    let bytes = certificate.der + issuer.der
    return MessageDigest.sha256.hash(bytes) ?? bytes
  }

  /// The distinguished name of the certificate's subject, as text in the form of RFC 2253.
  package var name: String { certificate.subject }

  /// Whether the certificate requires its server to staple an OCSP response (RFC 7633).
  package var requiresStaple: Bool {
    defer { ERR_clear_error() }
    return certificate.mustStaple
  }

  /// The http URLs of the OCSP responders that the certificate names (RFC 5280 §4.2.2.1), at most two.
  package var responders: [String] { addresses(X509_get1_ocsp(certificate.pointer)) }

  /// The http URLs of the complete revocation lists that the certificate names (RFC 5280 §4.2.1.13), at most two.
  package var distributionPoints: [String] { addresses(lupine_crl_addresses(certificate.pointer)) }

  private func addresses(_ list: OpaquePointer?) -> [String] {
    // SAFETY: the list of C strings is ours. Its strings are copied before it is freed.
    defer {
      X509_email_free(list)
      ERR_clear_error()
    }
    let all = elements(of: list).lazy.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) }
    return Array(all.filter { $0.lowercased().hasPrefix("http://") }.prefix(Self.addressesMax))
  }
}

// MARK: OCSP

extension RevocationSubject {
  /// Creates an OCSP request in DER for the status of the certificate, with a random nonce (RFC 9654). Returns nil if memory runs
  /// out.
  package func ocspRequest() -> [UInt8]? {
    ERR_clear_error()
    defer { ERR_clear_error() }
    guard let request = Owned(OCSP_REQUEST_new(), freeing: OCSP_REQUEST_free),
      let identifier = OCSP_cert_to_id(EVP_sha1(), certificate.pointer, issuer.pointer)
    else { return nil }
    // SAFETY: the request takes ownership of the identifier, unless the call fails.
    guard OCSP_request_add0_id(request.pointer, identifier) != nil else {
      OCSP_CERTID_free(identifier)
      return nil
    }
    guard OCSP_request_add1_nonce(request.pointer, nil, TLSLimits.ocspNonceBytes) == 1 else { return nil }
    return der(of: request.pointer, i2d_OCSP_REQUEST)
  }

  /// Verifies an OCSP response, and returns the certificate's revocation status according to it.
  ///
  /// - Parameters:
  ///   - response: The OCSP response in DER.
  ///   - request: The OCSP request in DER to which the responder replied, or nil for a stapled response.
  /// - Throws: A `RevocationProblem` with the reason why the client can't determine from the response whether the certificate is
  ///   revoked.
  package func status(
    fromOCSP response: [UInt8], answering request: [UInt8]? = nil
  ) throws(RevocationProblem) -> RevocationStatus {
    defer { ERR_clear_error() }
    do throws(OCSPFailure) {
      let answer = try OCSPAnswer(response)
      if let request { try answer.checkNonce(of: request) }
      return .good(until: try answer.confirm(certificate, from: issuer))
    } catch {
      guard error.problem == .revoked else { throw RevocationProblem("the OCSP response was refused: \(error.cause)") }
      return .revoked(error.cause)
    }
  }
}

// MARK: Lists

extension RevocationSubject {
  /// Verifies a revocation list in DER, and returns the certificate's status according to it. The list must be signed by the
  /// certificate's issuer, complete and current, and its scope must include this kind of certificate (RFC 5280 §6.3).
  ///
  /// - Throws: A `RevocationProblem` with the reason why the client can't determine from the list whether the certificate is
  ///   revoked.
  package func status(fromList list: [UInt8]) throws(RevocationProblem) -> RevocationStatus {
    OpenSSL.setUp()
    ERR_clear_error()
    defer { ERR_clear_error() }
    guard let list = decodeDER(list, d2i_X509_CRL, freeing: X509_CRL_free) else {
      throw RevocationProblem("the revocation list isn't a CRL in DER")
    }
    guard let nextUpdate = seconds(of: X509_CRL_get0_nextUpdate(list.pointer)) else {
      throw RevocationProblem("the revocation list has no nextUpdate (RFC 5280 §5.1.2.5)")
    }
    switch verify(against: list.pointer) {
    // The certificate's own dates don't matter here, because they are checked together with its chain.
    case X509_V_OK, X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID: return .good(until: nextUpdate)
    case X509_V_ERR_CERT_REVOKED: return .revoked("the certificate was revoked\(revocationDate(in: list.pointer))")
    case let code: throw RevocationProblem("the revocation list was refused: \(verifyReason(code))")
    }
  }

  /// Verifies the certificate and the revocation list `list` with the issuer as the only trust anchor. Returns OpenSSL's `X509_V`
  /// code. OpenSSL checks revocation before dates, so a revoked certificate is always reported as revoked.
  private func verify(against list: OpaquePointer) -> Int32 {
    // SAFETY: the store and the context are ours; the deferred calls free the context first. The store retains the issuer
    // and the list.
    let store = X509_STORE_new()
    defer { X509_STORE_free(store) }
    let context = X509_STORE_CTX_new()
    defer { X509_STORE_CTX_free(context) }
    guard let context, X509_STORE_add_cert(store, issuer.pointer) == 1, X509_STORE_add_crl(store, list) == 1,
      X509_STORE_CTX_init(context, store, certificate.pointer, nil) == 1
    else { return X509_V_ERR_OUT_OF_MEM }
    X509_STORE_CTX_set_flags(context, UInt(X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_CRL_CHECK))
    return X509_verify_cert(context) == 1 ? X509_V_OK : X509_STORE_CTX_get_error(context)
  }

  private func revocationDate(in list: OpaquePointer) -> String {
    // SAFETY: the entry belongs to the list, and its date to the entry.
    var entry: OpaquePointer?
    guard X509_CRL_get0_by_cert(list, &entry, certificate.pointer) > 0, let entry else { return "" }
    return " on \(describe(time: X509_REVOKED_get0_revocationDate(entry)))"
  }
}
