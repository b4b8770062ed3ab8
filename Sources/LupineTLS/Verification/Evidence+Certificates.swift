// Evidence+Certificates: verifies certificates that the caller passes in DER, without a handshake.

import CLupineOpenSSL

extension CertificateVerifier.Evidence {
  /// Verifies a server's certificates, given in DER, with the system's trust roots. The first certificate in `list` is the server's
  /// own.
  ///
  /// Returns nil if a certificate can't be parsed, or if the trust roots can't be read. Reading the trust roots blocks the thread
  /// for milliseconds.
  package init?(certificates list: [[UInt8]]) {
    let parsed = list.compactMap { Certificate(der: $0) }
    guard parsed.count == list.count, !list.isEmpty, let terms = VerificationTerms(ofServersTrustedBy: [.system]),
      let verification = try? terms.verify(parsed, name: nil, shownAs: parsed[0].subject, anchors: nil)
    else { return nil }
    self.init(
      host: "", port: 0, isProxy: false, sentChain: list, builtChain: verification.chain, problem: verification.problem,
      stapledResponse: nil, certificates: parsed, terms: terms)
  }
}

extension VerificationTerms {
  /// Creates the trust roots and parameters with which a client verifies servers if its trust roots are `sources`. Returns nil if
  /// the sources can't be read.
  convenience init?(ofServersTrustedBy sources: [TLSConfiguration.TrustSource]) {
    guard let context = try? TLSContext(client: TLSConfiguration(trustRoots: sources)),
      let own = X509_STORE_CTX_new()
    else { return nil }
    // SAFETY: the context of the verification is ours, and freed at the end. It borrows the store, which `init` retains.
    defer { X509_STORE_CTX_free(own) }
    guard X509_STORE_CTX_init(own, SSL_CTX_get_cert_store(context.pointer), nil, nil) == 1,
      X509_STORE_CTX_set_default(own, "ssl_server") == 1
    else { return nil }
    self.init(of: own)
  }
}
