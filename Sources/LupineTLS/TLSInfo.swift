// What a handshake agreed on, for metrics and for the command line's verbose output.

import CLupineOpenSSL

/// What both sides agreed on; empty strings and a zero code before the handshake is done.
public struct TLSInfo: Sendable, Hashable {
  /// The version's name, such as "TLSv1.3".
  public let protocolVersion: String
  /// The cipher suite's IANA name, such as "TLS_AES_256_GCM_SHA384".
  public let cipherSuite: String
  /// The cipher suite's IANA number.
  public let cipherSuiteCode: UInt16
  /// What ALPN chose; nil if the server chose nothing.
  public let applicationProtocol: String?
  /// Whether an earlier session was resumed, in which case no certificate was sent.
  public let isResumed: Bool

  /// Makes an info of its parts.
  public init(
    protocolVersion: String,
    cipherSuite: String,
    cipherSuiteCode: UInt16,
    applicationProtocol: String?,
    isResumed: Bool
  ) {
    self.protocolVersion = protocolVersion
    self.cipherSuite = cipherSuite
    self.cipherSuiteCode = cipherSuiteCode
    self.applicationProtocol = applicationProtocol
    self.isResumed = isResumed
  }
}

extension TLSInfo {
  /// Before the handshake is done nothing is agreed on, whatever OpenSSL already holds.
  static let none = TLSInfo(
    protocolVersion: "", cipherSuite: "", cipherSuiteCode: 0, applicationProtocol: nil, isResumed: false)

  init(established ssl: OpaquePointer) {
    // SAFETY: the cipher and the strings are OpenSSL's statics; the ALPN bytes belong to `ssl` and are copied here.
    let cipher = SSL_get_current_cipher(ssl)
    var chosen: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &chosen, &count)
    let alpn = UnsafeBufferPointer(start: chosen, count: Int(count))

    protocolVersion = String(cString: SSL_get_version(ssl))
    cipherSuite = SSL_CIPHER_standard_name(cipher).map { String(cString: $0) } ?? ""
    cipherSuiteCode = cipher == nil ? 0 : SSL_CIPHER_get_protocol_id(cipher)
    applicationProtocol = alpn.isEmpty ? nil : String(decoding: alpn, as: UTF8.self)
    isResumed = SSL_session_reused(ssl) == 1
  }
}
