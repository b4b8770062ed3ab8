// TLSInfo: the parameters that a handshake has negotiated, for metrics and the command's verbose output.

import CLupineOpenSSL

/// The negotiated parameters of a TLS connection. Before the handshake is complete, strings are empty and the cipher suite's
/// number is zero.
public struct TLSInfo: Sendable, Hashable {
  /// The result of checking the OCSP response that the server stapled to its handshake.
  public enum StapledOCSP: Sendable, Hashable {
    /// No OCSP response was checked, because `ocspStapling` is `.ignored`.
    case notAsked
    /// The server stapled no OCSP response, and neither the configuration nor the certificate required one.
    case absent
    /// The stapled OCSP response states that the server's certificate is good.
    case good
    /// The TLS session was resumed. The OCSP response was checked in the handshake that created the session.
    case checkedEarlier
  }

  /// The name of the negotiated TLS version, such as "TLSv1.3".
  public let protocolVersion: String
  /// The IANA name of the negotiated cipher suite, such as "TLS_AES_256_GCM_SHA384".
  public let cipherSuite: String
  /// The IANA number of the negotiated cipher suite, such as 0x1302 for TLS_AES_256_GCM_SHA384.
  public let cipherSuiteCode: UInt16
  /// OpenSSL's name for the group of the key exchange, such as "x25519", or nil if the handshake used no group.
  public let group: String?
  /// The application protocol that the server selected with ALPN, such as "http/1.1", or nil if it selected none.
  public let applicationProtocol: String?
  /// Whether the handshake resumed an earlier TLS session. The server sends no certificate in such a handshake.
  public let isResumed: Bool
  /// The result of checking the OCSP response that the server stapled to its handshake.
  public let stapledOCSP: StapledOCSP
  private let peerCertificates: [Certificate]

  /// The peer's certificates in DER as received, starting with the peer's own certificate. For a resumed session, the certificates
  /// of the original handshake. With `Verification.none`, the certificates are unverified. Each access encodes the certificates
  /// anew.
  public var certificateChain: [[UInt8]] { peerCertificates.map(\.der) }

  /// The subject of the peer's own certificate, as text in the form of RFC 2253, or nil if the peer has sent no certificate.
  package var peerSubject: String? { peerCertificates.first?.subject }
}

extension TLSInfo {
  /// The empty values that `TLSSession.info` has before the handshake is complete, even if OpenSSL already knows some of the
  /// parameters.
  static let none = TLSInfo(
    protocolVersion: "", cipherSuite: "", cipherSuiteCode: 0, group: nil, applicationProtocol: nil, isResumed: false,
    stapledOCSP: .notAsked, peerCertificates: [])

  init(established ssl: OpaquePointer, stapledOCSP: StapledOCSP) {
    // SAFETY: the cipher and the strings are static in OpenSSL. The ALPN bytes belong to `ssl` and are copied here.
    let cipher = SSL_get_current_cipher(ssl)
    var chosen: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &chosen, &count)
    let alpn = UnsafeBufferPointer(start: chosen, count: Int(count))

    protocolVersion = String(cString: SSL_get_version(ssl))
    cipherSuite = SSL_CIPHER_standard_name(cipher).map { String(cString: $0) } ?? ""
    cipherSuiteCode = cipher == nil ? 0 : SSL_CIPHER_get_protocol_id(cipher)
    group = lupine_ssl_group_name(ssl).map { String(cString: $0) }
    applicationProtocol = alpn.isEmpty ? nil : String(decoding: alpn, as: UTF8.self)
    isResumed = SSL_session_reused(ssl) == 1
    self.stapledOCSP = stapledOCSP
    // On a server, OpenSSL's list of the peer's certificates lacks the client's own certificate. On a client, it includes the
    // server's own.
    let own = SSL_is_server(ssl) == 1 ? SSL_get0_peer_certificate(ssl).map { [Certificate(retaining: $0)] } ?? [] : []
    peerCertificates = own + certificates(in: SSL_get_peer_cert_chain(ssl))
  }
}
