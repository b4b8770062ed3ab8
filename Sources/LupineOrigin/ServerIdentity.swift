// ServerIdentity: the certificate of a TLS server, and the authority that its clients must trust.

package import LupineLoopback
package import LupineTLS

/// A server's certificate, ready for use, with the authority that issued it.
package struct ServerIdentity: Sendable {
  let context: TLSContext
  /// The authority's certificate, for use as the clients' trust root.
  package let authorityPEM: [UInt8]

  /// Creates an identity from a certificate and its key.
  ///
  /// - Parameters:
  ///   - identity: The server's certificate and its key.
  ///   - authorityPEM: The certificate of the issuing authority.
  ///   - applicationProtocols: The protocols that ALPN may select, most preferred first.
  ///   - versions: The TLS versions allowed.
  ///   - clientAuthorityPEM: If set, clients must present a certificate of this authority.
  ///   - stapledResponse: An OCSP response in DER for clients that request one, or empty for none.
  /// - Throws: `TLSError.Code.configuration` if the certificate and the key can't be used together.
  package init(
    _ identity: ThrowawayAuthority.Identity,
    authorityPEM: [UInt8],
    applicationProtocols: [String] = ["http/1.1"],
    versions: ClosedRange<TLSVersion> = .v1_2 ... .v1_3,
    clientAuthorityPEM: [UInt8]? = nil,
    stapledResponse: [UInt8] = []
  ) throws(TLSError) {
    context = try TLSContext(
      serverCertificatePEM: identity.certificatePEM, privateKeyPEM: identity.privateKeyPEM,
      applicationProtocols: applicationProtocols, versions: versions, clientAuthorityPEM: clientAuthorityPEM,
      stapledResponse: stapledResponse)
    self.authorityPEM = authorityPEM
  }

  /// Creates a new authority and a certificate that it issued, by default a valid one for this machine.
  package static func throwaway(
    names: [String] = ["localhost"],
    addresses: [String] = ["127.0.0.1", "::1"],
    validity: ThrowawayAuthority.Validity = .valid,
    versions: ClosedRange<TLSVersion> = .v1_2 ... .v1_3
  ) throws(TLSError) -> ServerIdentity {
    let authority = try ThrowawayAuthority()
    return try ServerIdentity(
      authority.issue(names: names, addresses: addresses, validity: validity),
      authorityPEM: authority.certificatePEM, versions: versions)
  }
}
