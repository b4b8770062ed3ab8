// What a handshake agreed on, for metrics and for the command line's verbose output.

import CLupineOpenSSL

/// What both sides agreed on; empty strings and a zero code before the handshake is done.
public struct TLSInfo: Sendable, Hashable {
  /// What is known of the server's certificate from a stapled OCSP response.
  public enum StapledOCSP: Sendable, Hashable {
    /// `ocspStapling` is `.ignored`.
    case notAsked
    /// The server stapled none, and needn't.
    case absent
    /// The response says that the certificate is good.
    case good
    /// The session was resumed: what it said was checked when the session was made.
    case checkedEarlier
  }

  /// The version's name, such as "TLSv1.3".
  public let protocolVersion: String
  /// The cipher suite's IANA name, such as "TLS_AES_256_GCM_SHA384".
  public let cipherSuite: String
  /// The cipher suite's IANA number.
  public let cipherSuiteCode: UInt16
  /// The key exchange's group as OpenSSL names it, such as "x25519"; nil if there was none.
  public let group: String?
  /// What ALPN chose; nil if the server chose nothing.
  public let applicationProtocol: String?
  /// Whether an earlier session was resumed, in which case no certificate was sent.
  public let isResumed: Bool
  /// What a stapled OCSP response says.
  public let stapledOCSP: StapledOCSP
  private let peerCertificates: [Certificate]

  /// The peer's certificates in DER as it sent them, its own first; for a resumed session, those of the handshake that
  /// made it. Unverified with `Verification.none`. Encoded at each call.
  public var certificateChain: [[UInt8]] { peerCertificates.map(\.der) }

  /// Whom the peer's own certificate names as its subject, in the form of RFC 2253; nil without a certificate.
  package var peerSubject: String? { peerCertificates.first?.subject }
}

extension TLSInfo {
  /// Before the handshake is done nothing is agreed on, whatever OpenSSL already holds.
  static let none = TLSInfo(
    protocolVersion: "", cipherSuite: "", cipherSuiteCode: 0, group: nil, applicationProtocol: nil, isResumed: false,
    stapledOCSP: .notAsked, peerCertificates: [])

  init(established ssl: OpaquePointer, stapledOCSP: StapledOCSP) {
    // SAFETY: the cipher and the strings are OpenSSL's statics; the ALPN bytes belong to `ssl` and are copied here.
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
    // A server's chain leaves out the client's own certificate, a client's has the server's.
    let own = SSL_is_server(ssl) == 1 ? SSL_get0_peer_certificate(ssl).map { [Certificate(retaining: $0)] } ?? [] : []
    peerCertificates = own + certificates(in: SSL_get_peer_cert_chain(ssl))
  }
}
