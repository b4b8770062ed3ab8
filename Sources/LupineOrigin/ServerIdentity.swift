// What a TLS origin shows to its clients, and what those have to trust.

package import LupineTLS

/// A server's certificate, ready for use, with the authority that signed it.
package struct ServerIdentity: Sendable {
  let context: TLSContext
  /// The certificate that clients take as their trust root.
  package let authorityPEM: [UInt8]

  /// Takes a certificate and its key. With `clientAuthorityPEM`, clients must show a certificate of that authority's;
  /// `stapledResponse` is an OCSP response in DER for clients that ask for one. Throws `TLSError.Code.configuration` if they can't be used together.
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

  /// Makes an authority that nobody else knows, and a certificate of it; by default a good one for this machine.
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
