// TLSParameters: the TLS version and the cipher suite of a connection, by the names of Foundation's metrics.

// swift-format-ignore: TypeNamesShouldBeCapitalized, AlwaysUseLowerCamelCase
/// A TLS version. The raw value is the version's number in the TLS protocol (RFC 8446 §4.2.1).
public enum tls_protocol_version_t: UInt16, Sendable {
  /// TLS 1.0 (RFC 2246).
  case TLSv10 = 0x0301
  /// TLS 1.1 (RFC 4346).
  case TLSv11 = 0x0302
  /// TLS 1.2 (RFC 5246).
  case TLSv12 = 0x0303
  /// TLS 1.3 (RFC 8446).
  case TLSv13 = 0x0304
  /// DTLS 1.0 (RFC 4347). No connection has this version, because HTTP/1.1 isn't sent over datagrams.
  case DTLSv10 = 0xFEFF
  /// DTLS 1.2 (RFC 6347). No connection has this version, because HTTP/1.1 isn't sent over datagrams.
  case DTLSv12 = 0xFEFD
}

// swift-format-ignore: TypeNamesShouldBeCapitalized, AlwaysUseLowerCamelCase
/// A TLS cipher suite. The raw value is the suite's number in IANA's TLS registry, such as 0x1301 for `TLS_AES_128_GCM_SHA256`.
public struct tls_ciphersuite_t: RawRepresentable, Hashable, Sendable {
  /// The cipher suite's number in IANA's TLS registry.
  public let rawValue: UInt16

  /// Creates a cipher suite from its number in IANA's TLS registry. Any number is accepted.
  public init(rawValue: UInt16) {
    self.rawValue = rawValue
  }
}
