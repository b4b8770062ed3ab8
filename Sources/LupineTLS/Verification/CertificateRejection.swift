// CertificateRejection: the reason why OpenSSL refused a certificate chain. OpenSSL frees the certificate when the handshake
// fails, so the verify callback copies the values that the error message needs.

import CLupineOpenSSL
import LupineLibc

/// The first failed check of a certificate chain, with details of the certificate that failed it. The details come from the peer
/// and are unverified.
struct CertificateRejection {
  /// The maximum number of a certificate's names that an error message lists: 8. Certificates of content delivery networks have
  /// hundreds of names.
  static let namesShownMax = 8

  /// OpenSSL's `X509_V_ERR` code for the check that failed.
  let verifyCode: Int32
  /// The position of the refused certificate in the chain: 0 for the server's own certificate, followed by its issuers.
  let depth: Int32
  let subject: String
  let issuer: String
  let notBefore: String
  let notAfter: String
  /// The subject alternative names of the refused certificate.
  let names: [String]
}

extension CertificateRejection {
  /// Copies the details of the check that has just failed from `store`, OpenSSL's X509_STORE_CTX.
  init(_ store: OpaquePointer) {
    // SAFETY: called from the verify callback, during which `store` and the certificate are alive; everything is
    // copied.
    let certificate = X509_STORE_CTX_get_current_cert(store)
    verifyCode = X509_STORE_CTX_get_error(store)
    depth = X509_STORE_CTX_get_error_depth(store)
    subject = certificate.map { describe(name: X509_get_subject_name($0)) } ?? "?"
    issuer = certificate.map { describe(name: X509_get_issuer_name($0)) } ?? "?"
    notBefore = certificate.map { describe(time: X509_get0_notBefore($0)) } ?? "?"
    notAfter = certificate.map { describe(time: X509_get0_notAfter($0)) } ?? "?"
    names = certificate.map { alternativeNames($0) } ?? []
  }
}

extension TLSError {
  init(_ rejection: CertificateRejection, host: String) {
    verifierError = nil
    let whose = rejection.depth == 0 ? "The certificate of \(host)" : "A certificate in the chain of \(host)"
    switch rejection.verifyCode {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      code = .certificateExpired
      message =
        "\(whose) (\(rejection.subject)) expired on \(rejection.notAfter). Renew it, or check this machine's clock."
    case X509_V_ERR_CERT_NOT_YET_VALID:
      code = .certificateNotYetValid
      message = "\(whose) (\(rejection.subject)) isn't valid before \(rejection.notBefore). Check this machine's clock."
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
      code = .hostMismatch
      message = Self.mismatch(rejection, host: host)
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      code = .selfSigned
      message =
        "\(whose) is self-signed (issuer \(rejection.issuer)) and isn't trusted. If you expect this certificate, add "
        + "it to trustRoots."
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
      X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      code = .unknownAuthority
      message =
        "\(whose) was issued by an unknown authority (\(rejection.issuer)). Add the authority's certificate to "
        + "trustRoots, install the system's ca-certificates, or have the server send its intermediate certificates."
    case X509_V_ERR_UNABLE_TO_GET_CRL, X509_V_ERR_CRL_HAS_EXPIRED:
      code = .certificateInvalid(verifyCode: Int(rejection.verifyCode))
      message =
        "\(whose) (\(rejection.subject)) can't be checked: there is no current revocation list of its issuer "
        + "(\(rejection.issuer)). Add one to revocationListFile."
    default:
      code = .certificateInvalid(verifyCode: Int(rejection.verifyCode))
      message = "\(whose) (\(rejection.subject)) was refused: \(verifyReason(rejection.verifyCode)). Replace it."
    }
  }

  /// Creates the error for a verification that failed before OpenSSL checked a certificate. `verifyCode` is OpenSSL's `X509_V_ERR`
  /// code.
  static func verificationFailed(_ verifyCode: Int32, host: String) -> TLSError {
    TLSError(
      code: .certificateInvalid(verifyCode: Int(verifyCode)),
      message:
        "The certificate chain of \(host) can't be verified: \(verifyReason(verifyCode)). Replace its certificates.")
  }

  static func refusedByVerifier(host: String, reason: String, error: (any Error)? = nil) -> TLSError {
    TLSError(
      code: .refusedByVerifier,
      message: "The TLS configuration's verifier refused the certificate of \(host): \(reason)",
      verifierError: error)
  }

  private static func mismatch(_ rejection: CertificateRejection, host: String) -> String {
    guard !rejection.names.isEmpty else {
      return
        "The certificate of \(host) has no subject alternative name, and its subject (\(rejection.subject)) is "
        + "ignored (RFC 9110 §4.3.4). Reissue it with a subject alternative name."
    }
    return
      "The certificate isn't for \(host) but for \(rejection.names.joined(separator: ", ")). Request one of these "
      + "names, or install a certificate that names \(host)."
  }
}

/// Returns OpenSSL's text for an `X509_V_ERR` code.
func verifyReason(_ verifyCode: Int32) -> String {
  // SAFETY: the string is static in OpenSSL.
  String(cString: X509_verify_cert_error_string(Int(verifyCode)))
}

/// Returns an X.509 name as text in the form of RFC 2253, which escapes control characters. Returns "?" if that fails.
func describe(name: OpaquePointer?) -> String {
  guard let name, let bio = Owned(BIO_new(BIO_s_mem()), freeing: { BIO_free($0) }) else { return "?" }
  lupine_name_print(bio.pointer, name)
  return printable(drain(bio.pointer))
}

/// Returns OpenSSL's `time` as text, such as "2026-01-31 23:59:59 UTC".
func describe(time: UnsafePointer<ASN1_TIME>?) -> String {
  var parts = tm()
  // SAFETY: OpenSSL checks the encoding and fills every field of `parts`, or returns 0.
  guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else { return "an unreadable date" }
  func two(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }
  return "\(Int(parts.tm_year) + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday)) "
    + "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) UTC"
}

private func alternativeNames(_ certificate: OpaquePointer) -> [String] {
  // SAFETY: the decoded list is ours and freed below. Its elements are only read before that, and their text is copied.
  guard let raw = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return [] }
  let list = OpaquePointer(raw)
  defer { GENERAL_NAMES_free(list) }
  var shown: [String] = []
  for element in elements(of: list) {
    var type: Int32 = 0
    let value = GENERAL_NAME_get0_value(element.assumingMemoryBound(to: GENERAL_NAME.self), &type)
    guard let value, let text = describe(value: value, type: type) else { continue }
    guard shown.count < CertificateRejection.namesShownMax else {
      shown.append("…")
      break
    }
    shown.append(text)
  }
  return shown
}

/// Returns the text of a subject alternative name, or nil if it is neither a DNS name nor an IP address.
private func describe(value: UnsafeMutableRawPointer, type: Int32) -> String? {
  guard type == GEN_DNS || type == GEN_IPADD else { return nil }
  // SAFETY: both kinds hold an ASN1_STRING, which states the length of its data.
  let string = value.assumingMemoryBound(to: ASN1_STRING.self)
  let bytes = UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string)))
  if type == GEN_DNS { return printable(bytes) }

  guard bytes.count == 4 || bytes.count == 16 else { return nil }
  var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
  // SAFETY: the count was checked against the family, and `text` has room for the longest form with its final NUL.
  let family = bytes.count == 4 ? AF_INET : AF_INET6
  guard inet_ntop(family, bytes.baseAddress, &text, socklen_t(text.count)) != nil else { return nil }
  return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
