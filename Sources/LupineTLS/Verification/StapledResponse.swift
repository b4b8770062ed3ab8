// StapledResponse: checks the OCSP response that a server staples to its handshake (RFC 6066 §8).

import CLupineOpenSSL

enum StapledResponse {
  /// Returns the OCSP response in DER that the server has stapled to the handshake of `ssl`, or nil if none has arrived.
  static func bytes(of ssl: OpaquePointer) -> [UInt8]? {
    var bytes: UnsafePointer<UInt8>?
    let count = lupine_ssl_staple(ssl, &bytes)
    guard let bytes, count > 0 else { return nil }
    // SAFETY: the bytes belong to the session and are copied here.
    return Array(UnsafeBufferPointer(start: bytes, count: count))
  }

  /// Checks the OCSP response that `host` has stapled to the handshake of `ssl`. The certificate chain must already be verified.
  /// Throws a `TLSError` with the code `.ocsp` if the response doesn't show that the certificate is good, or if there is no
  /// response although one is required.
  static func check(
    _ ssl: OpaquePointer, host: String, isRequired: Bool
  ) throws(TLSError) -> TLSInfo.StapledOCSP {
    // A resumed handshake has neither a certificate nor a response. Both were checked in the handshake that created the
    // session.
    guard SSL_session_reused(ssl) == 0 else { return .checkedEarlier }  // only with TLS 1.3
    let chain = certificates(in: SSL_get0_verified_chain(ssl))
    guard let leaf = chain.first else { throw .ocsp(.untrusted, host, "the server's chain is unknown") }
    guard let bytes = bytes(of: ssl) else {
      guard !isRequired else { throw .ocsp(.missing, host, "the configuration requires one") }
      guard !leaf.mustStaple else { throw .ocsp(.missing, host, "its certificate requires one (RFC 7633)") }
      return .absent
    }
    do throws(OCSPFailure) {
      let answer = try OCSPAnswer(bytes)
      guard let issuer = issuer(of: leaf, in: chain) else {
        throw OCSPFailure(
          .untrusted, "the certificate's issuer isn't in its chain, so the response can't be verified")
      }
      _ = try answer.confirm(leaf, from: issuer)
    } catch {
      throw .ocsp(error.problem, host, error.cause)
    }
    return .good
  }

  private static func issuer(of leaf: Certificate, in chain: [Certificate]) -> Certificate? {
    if chain.count > 1 { return chain[1] }
    return X509_check_issued(leaf.pointer, leaf.pointer) == X509_V_OK ? leaf : nil
  }
}

extension TLSError {
  static func ocsp(_ problem: OCSPProblem, _ host: String, _ cause: String) -> TLSError {
    let remedy =
      switch problem {
      case .missing: "Enable stapling on the server, or set ocspStapling to .checked or .ignored."
      case .revoked: "The server's operator must replace the certificate; don't connect until then."
      case .notYetValid, .expired: "Have the server fetch a new one, or check this machine's clock."
      case .malformed, .refused, .untrusted, .otherCertificate, .unknownCertificate:
        "Inspect the response with openssl s_client -status."
      }
    let problemText =
      switch problem {
      case .missing: "\(host) stapled no OCSP response: \(cause)"
      case .revoked: "The OCSP response that \(host) stapled reports that \(cause)"
      default: "The OCSP response that \(host) stapled was refused: \(cause)"
      }
    return TLSError(code: .ocsp(problem), message: "\(problemText). \(remedy)")
  }
}
