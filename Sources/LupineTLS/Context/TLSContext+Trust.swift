// TLSContext+Trust: loads the trusted certificates of a context.

import CLupineOpenSSL
import LupineLibc

extension TLSContext {
  /// Loads the trusted certificates from all sources into the trust store of `context`, an OpenSSL SSL_CTX. Throws a `TLSError`
  /// with the code `.configuration` if `sources` is empty, or if a source can't be read or contains no certificate.
  package static func trust(_ sources: [TLSConfiguration.TrustSource], _ context: OpaquePointer) throws(TLSError) {
    guard !sources.isEmpty else {
      throw .configuration(
        "trustRoots is empty, so no certificate could be accepted. Use [.system], or a file.")
    }
    for source in sources { try trust(source, context) }
    guard sources.contains(where: { $0 != .system }) else { return }
    // Certificates that the caller names explicitly are trusted, even an intermediate certificate or the server's own.
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), UInt(X509_V_FLAG_PARTIAL_CHAIN))
  }

  private static func trust(_ source: TLSConfiguration.TrustSource, _ context: OpaquePointer) throws(TLSError) {
    ERR_clear_error()
    switch source {
    case .system:
      guard SSL_CTX_set_default_verify_paths(context) == 1 else {
        throw .configurationFromQueue("The system's trust roots can't be loaded.")
      }
    case .file(let path):
      guard SSL_CTX_load_verify_file(context, path) == 1 else {
        throw .configurationFromQueue("The trust roots can't be read from \(path). Use a PEM file.")
      }
    case .directory(let path):
      // The directory is opened here, because OpenSSL opens it only when it needs an issuer, and would then report a wrong path
      // as an unknown authority.
      guard let directory = opendir(path) else {
        throw .configuration(
          "The directory of trust roots \(path) can't be opened: \(lastSystemError()). Check the path.")
      }
      closedir(directory)
      guard SSL_CTX_load_verify_dir(context, path) == 1 else {
        throw .configurationFromQueue("The trust roots in \(path) can't be used.")
      }
    case .pem(let text):
      let count = try PEM.forEachCertificate(in: text) { certificate throws(TLSError) in
        try add(certificate, context)
      }
      guard count > 0 else {
        throw .configuration("The trust roots contain no certificate. Pass PEM text with BEGIN CERTIFICATE lines.")
      }
    case .der(let bytes):
      guard let certificate = Certificate(der: bytes) else {
        throw .configurationFromQueue(
          "The trust root's \(bytes.count) bytes aren't a single DER certificate. Pass each certificate separately.")
      }
      try add(certificate.pointer, context)
    }
  }

  /// Loads the certificate revocation lists in `file` into `context`, an OpenSSL SSL_CTX. The context then refuses a certificate
  /// that is on a list, or whose issuer has no list in the file.
  static func refuseRevoked(byListsIn file: String, _ context: OpaquePointer) throws(TLSError) {
    ERR_clear_error()
    // SAFETY: the store belongs to the context, and the lookup to the store.
    let store = SSL_CTX_get_cert_store(context)
    guard let lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file()),
      X509_load_crl_file(lookup, file, X509_FILETYPE_PEM) > 0
    else {
      throw .configurationFromQueue("The revocation lists can't be read from \(file). Use a PEM file with lists.")
    }
    X509_STORE_set_flags(store, UInt(X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL))
  }

  private static func add(_ certificate: OpaquePointer, _ context: OpaquePointer) throws(TLSError) {
    // SAFETY: the store belongs to the context and takes another reference to the certificate.
    guard X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate) == 1 else {
      throw .configurationFromQueue("A trust root can't be added.")
    }
  }
}
