// ServerIdentity: the certificate of a TLS server, and the certificate authority that its clients must trust.

package import LupineLoopback
package import LupineTLS

/// A server's TLS context with its certificate, and the certificate of the authority that issued it.
package struct ServerIdentity: Sendable {
  let context: TLSContext
  /// The certificate of the authority in PEM, which clients use as their trust root.
  package let authorityPEM: [UInt8]

  /// Creates a server's identity from a certificate and its private key.
  ///
  /// - Parameters:
  ///   - identity: The server's certificate and private key.
  ///   - authorityPEM: The certificate of the authority that issued the server's certificate.
  ///   - applicationProtocols: The protocols that ALPN may select, most preferred first.
  ///   - versions: The TLS versions that the server accepts.
  ///   - clientAuthorityPEM: If not nil, the server requests a client certificate that was issued by this authority.
  ///   - requiresClientCertificate: Whether a client must present the requested certificate.
  ///   - stapledResponse: The OCSP response in DER that the server staples for clients that request one. If empty, the server
  ///     staples none.
  /// - Throws: `TLSError.Code.configuration` if the certificate and the key can't be used together.
  package init(
    _ identity: ThrowawayAuthority.Identity,
    authorityPEM: [UInt8],
    applicationProtocols: [String] = ["http/1.1"],
    versions: ClosedRange<TLSVersion> = .v1_2 ... .v1_3,
    clientAuthorityPEM: [UInt8]? = nil,
    requiresClientCertificate: Bool = true,
    stapledResponse: [UInt8] = []
  ) throws(TLSError) {
    context = try TLSContext(
      serverCertificatePEM: identity.certificatePEM, privateKeyPEM: identity.privateKeyPEM,
      applicationProtocols: applicationProtocols, versions: versions, clientAuthorityPEM: clientAuthorityPEM,
      requiresClientCertificate: requiresClientCertificate, stapledResponse: stapledResponse)
    self.authorityPEM = authorityPEM
  }

  /// Creates a server's identity with a certificate that a new authority issues. By default, the certificate is valid and for
  /// `localhost`.
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
