// ThrowawayAuthority: an in-memory certificate authority for tests and the demo.

internal import CLupineOpenSSL
package import LupineTLS

/// A certificate authority that issues short-lived certificates. Only for tests and the demo, because the authority's key is in
/// unprotected memory.
package struct ThrowawayAuthority: Sendable {
  /// The validity period of an issued certificate, relative to the time of issue.
  package enum Validity: Sendable {
    /// The certificate has been valid for one hour, and remains valid for 30 days.
    case valid
    /// The certificate has been valid for one hour, and expires one hour from now.
    case endingInAnHour
    /// The certificate expired one day ago.
    case expired
    /// The certificate becomes valid only tomorrow.
    case notYetValid

    fileprivate var seconds: ClosedRange<Int> {
      switch self {
      case .valid: -hour...30 * day
      case .endingInAnHour: -hour...hour
      case .expired: -30 * day ... -day
      case .notYetValid: day...30 * day
      }
    }
  }

  /// The purpose for which a certificate may be used (RFC 5280 §4.2.1.12).
  package enum Purpose: String, Sendable {
    case server = "serverAuth"
    case client = "clientAuth"
    case ocspResponder = "OCSPSigning"
  }

  /// A certificate and its private key, with which a server or an authority proves its identity.
  package struct Identity: Sendable {
    package let certificatePEM: [UInt8]
    package let privateKeyPEM: [UInt8]

    package init(certificatePEM: [UInt8], privateKeyPEM: [UInt8]) {
      self.certificatePEM = certificatePEM
      self.privateKeyPEM = privateKeyPEM
    }
  }

  /// The authority's certificate and key.
  package let identity: Identity

  /// Creates a certificate authority with a new P-256 key, and a self-signed certificate that may issue other certificates.
  package init(commonName: String = "Lupine throwaway CA") throws(TLSError) {
    identity = try certify(commonName, authorityExtensions, seconds: -60 * day...365 * day, issuer: nil)
  }

  /// Creates a certificate authority from any certificate, even from one that may not issue others. Tests use it to check that
  /// clients refuse the certificates of such an authority.
  package init(signingWith identity: Identity) {
    self.identity = identity
  }

  /// The authority's certificate in PEM, for use as a client's trust root.
  package var certificatePEM: [UInt8] { identity.certificatePEM }

  /// Issues a certificate, by default for a server.
  ///
  /// Without names and addresses, the certificate has only a common name, and clients refuse it. With `mustStaple`, the certificate
  /// requires a stapled OCSP response (RFC 7633). `responders` and `lists` are the URLs of OCSP responders and revocation lists.
  package func issue(
    commonName: String = "Lupine throwaway server",
    names: [String] = [],
    addresses: [String] = [],
    validity: Validity = .valid,
    purpose: Purpose = .server,
    mustStaple: Bool = false,
    responders: [String] = [],
    lists: [String] = []
  ) throws(TLSError) -> Identity {
    var extensions = leafExtensions(purpose, names: names, addresses: addresses)
    if mustStaple { extensions.append((NID_tlsfeature, "status_request")) }
    extensions += revocationExtensions(responders: responders, lists: lists)
    return try certify(commonName, extensions, seconds: validity.seconds, issuer: identity)
  }

  /// Issues the certificate of an intermediate authority. Servers must send it together with the certificates that the intermediate
  /// authority issues.
  package func issueAuthority(
    commonName: String = "Lupine throwaway intermediate CA", responders: [String] = [], lists: [String] = []
  ) throws(TLSError) -> ThrowawayAuthority {
    let extensions = authorityExtensions + revocationExtensions(responders: responders, lists: lists)
    return ThrowawayAuthority(
      signingWith: try certify(commonName, extensions, seconds: Validity.valid.seconds, issuer: identity))
  }

  /// Creates a self-signed server certificate.
  package static func selfSigned(
    commonName: String = "Lupine throwaway server",
    names: [String] = [],
    addresses: [String] = [],
    validity: Validity = .valid
  ) throws(TLSError) -> Identity {
    try certify(
      commonName, leafExtensions(.server, names: names, addresses: addresses), seconds: validity.seconds, issuer: nil)
  }
}

private let hour = 3600
private let day = 24 * hour

private let authorityExtensions: [(Int32, String)] = [
  (NID_basic_constraints, "critical,CA:TRUE"),
  (NID_key_usage, "critical,keyCertSign,cRLSign"),
  (NID_subject_key_identifier, "hash"),
]

private func revocationExtensions(responders: [String], lists: [String]) -> [(Int32, String)] {
  var extensions: [(Int32, String)] = []
  if !responders.isEmpty {
    extensions.append((NID_info_access, responders.map { "OCSP;URI:\($0)" }.joined(separator: ",")))
  }
  if !lists.isEmpty {
    extensions.append((NID_crl_distribution_points, lists.map { "URI:\($0)" }.joined(separator: ",")))
  }
  return extensions
}

private func leafExtensions(
  _ purpose: ThrowawayAuthority.Purpose, names: [String], addresses: [String]
) -> [(Int32, String)] {
  let alternatives = names.map { "DNS:\($0)" } + addresses.map { "IP:\($0)" }
  var extensions: [(Int32, String)] = [
    (NID_basic_constraints, "critical,CA:FALSE"),
    (NID_key_usage, "critical,digitalSignature"),
    (NID_ext_key_usage, purpose.rawValue),
    (NID_subject_key_identifier, "hash"),
    // Distinguishes authorities with the same name (RFC 5280 §4.2.1.1).
    (NID_authority_key_identifier, "keyid"),
  ]
  if !alternatives.isEmpty { extensions.append((NID_subject_alt_name, alternatives.joined(separator: ","))) }
  return extensions
}

/// Creates a new key and a certificate for it. `issuer` signs the certificate, which is self-signed if `issuer` is nil.
private func certify(
  _ commonName: String, _ extensions: [(Int32, String)], seconds: ClosedRange<Int>,
  issuer: ThrowawayAuthority.Identity?
) throws(TLSError) -> ThrowawayAuthority.Identity {
  OpenSSL.setUp()
  ERR_clear_error()
  guard let key = Owned(lupine_generate_p256_key(), freeing: EVP_PKEY_free),
    let certificate = Owned(X509_new(), freeing: X509_free)
  else { throw .configurationFromQueue("The throwaway key can't be created.") }
  try describe(certificate.pointer, commonName, key: key.pointer, seconds: seconds)
  if let issuer {
    let issuerKey = try PEM.privateKey(in: issuer.privateKeyPEM)
    _ = try PEM.forEachCertificate(in: issuer.certificatePEM) { issuer throws(TLSError) in
      try sign(certificate.pointer, extensions, issuer: issuer, key: issuerKey.pointer)
    }
  } else {
    try sign(certificate.pointer, extensions, issuer: certificate.pointer, key: key.pointer)
  }
  // SAFETY: both objects are alive until the end of this function, and encoding only reads them.
  let certificatePointer = certificate.pointer
  let keyPointer = key.pointer
  return ThrowawayAuthority.Identity(
    certificatePEM: try pem { PEM_write_bio_X509($0, certificatePointer) == 1 },
    privateKeyPEM: try pem { PEM_write_bio_PrivateKey($0, keyPointer, nil, nil, 0, nil, nil) == 1 })
}

/// Sets all parts of a certificate except its issuer, extensions and signature.
private func describe(
  _ certificate: OpaquePointer, _ commonName: String, key: OpaquePointer, seconds: ClosedRange<Int>
) throws(TLSError) {
  // The serial number must be unique for the issuer, positive and at most 20 bytes long (RFC 5280 §4.1.2.2); this one
  // fits 8.
  let serial = UInt64.random(in: 1...UInt64(Int64.max))
  let name = X509_get_subject_name(certificate)
  // SAFETY: all of these belong to the certificate, which the caller owns, and OpenSSL copies the text.
  let isSet =
    X509_set_version(certificate, Int(X509_VERSION_3)) == 1
    && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial) == 1
    && X509_gmtime_adj(X509_getm_notBefore(certificate), seconds.lowerBound) != nil
    && X509_gmtime_adj(X509_getm_notAfter(certificate), seconds.upperBound) != nil
    && X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, commonName, Int32(commonName.utf8.count), -1, 0) == 1
    && X509_set_pubkey(certificate, key) == 1
  guard isSet else { throw .configurationFromQueue("The throwaway certificate's fields can't be set.") }
}

private func sign(
  _ certificate: OpaquePointer, _ extensions: [(Int32, String)], issuer: OpaquePointer, key: OpaquePointer
) throws(TLSError) {
  guard X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1 else {
    throw .configurationFromQueue("The throwaway certificate's issuer can't be set.")
  }
  for (identifier, value) in extensions {
    let made = lupine_make_extension(issuer, certificate, identifier, value)
    // SAFETY: the certificate takes a copy.
    guard let made = Owned(made, freeing: X509_EXTENSION_free), X509_add_ext(certificate, made.pointer, -1) == 1 else {
      throw .configurationFromQueue("The throwaway certificate's extension \"\(value)\" can't be set.")
    }
  }
  guard X509_sign(certificate, key, EVP_sha256()) > 0 else {
    throw .configurationFromQueue("The throwaway certificate can't be signed.")
  }
}

/// Returns the PEM text that the closure `write` writes to a memory BIO of OpenSSL.
private func pem(_ write: (OpaquePointer) -> Bool) throws(TLSError) -> [UInt8] {
  guard let bio = Owned(BIO_new(BIO_s_mem()), freeing: { BIO_free($0) }), write(bio.pointer) else {
    throw .configurationFromQueue("PEM text can't be written.")
  }
  return drain(bio.pointer)
}
