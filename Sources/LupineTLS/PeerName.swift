// The host that a client asks for, and how it is put to OpenSSL: server name indication (RFC 6066 §3), and the
// identity that the certificate must prove (RFC 9110 §4.3.4, RFC 9525).

import CLupineOpenSSL
import Glibc

/// Whom the certificate must name.
enum PeerName {
  /// Without the root's trailing dot, which neither certificates nor SNI have.
  case dns(String)
  /// 4 or 16 bytes, in network order.
  case address([UInt8])

  /// Bytes (RFC 1035 §2.3.4 allows 255 on the wire, which is 253 in text).
  static let nameBytesMax = 253

  /// Takes a name, an IPv4 address, or an IPv6 address with or without brackets and zone.
  init(host: String) throws(TLSError) {
    if let address = Self.address(host) {
      self = .address(address)
      return
    }
    let name = host.hasSuffix(".") ? String(host.dropLast()) : host
    // OpenSSL takes a leading dot for "any subdomain of", and an empty name for "don't check".
    guard !name.isEmpty, !name.hasPrefix("."), name.utf8.count <= Self.nameBytesMax,
      name.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw .configuration(
        "\"\(printable(host.utf8))\" is no host name that TLS can verify. Use 1 to \(Self.nameBytesMax) ASCII characters "
          + "(punycode for others), not starting with a dot.")
    }
    self = .dns(name)
  }

  /// Sets what is sent as SNI, and what the certificate is compared with.
  func apply(to ssl: OpaquePointer) throws(TLSError) {
    ERR_clear_error()
    // RFC 6066 §3: literal addresses aren't permitted as a server name.
    if case .dns(let name) = self, lupine_ssl_set_server_name(ssl, name) != 1 {
      throw .configurationFromQueue("The server's name can't be set.")
    }
    // SAFETY: `ssl` is alive and owns the parameters.
    try require(in: SSL_get0_param(ssl))
  }

  /// Sets what the certificate is compared with.
  func require(in parameters: OpaquePointer?) throws(TLSError) {
    ERR_clear_error()
    // SAFETY: the caller owns the parameters; OpenSSL copies the name and the address.
    X509_VERIFY_PARAM_set_hostflags(
      parameters, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
    let isSet =
      switch self {
      case .dns(let name): X509_VERIFY_PARAM_set1_host(parameters, name, name.utf8.count) == 1
      case .address(let bytes): X509_VERIFY_PARAM_set1_ip(parameters, bytes, bytes.count) == 1
      }
    guard isSet else { throw .configurationFromQueue("The host name can't be set.") }
  }

  /// Takes away what `require` has set.
  static func requireNone(in parameters: OpaquePointer?) {
    // SAFETY: the caller owns the parameters; nothing is read.
    X509_VERIFY_PARAM_set1_host(parameters, nil, 0)
    X509_VERIFY_PARAM_set1_ip(parameters, nil, 0)
  }

  private static func address(_ host: String) -> [UInt8]? {
    // A certificate can't name a zone: it only means something on this machine (RFC 6874).
    let literal = host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host[...]
    let zoneless = literal.prefix { $0 != "%" }
    var four = in_addr()
    var sixteen = in6_addr()
    // SAFETY: inet_pton writes exactly the structure that its family names; both are plain bytes.
    if inet_pton(AF_INET, host, &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
    if inet_pton(AF_INET6, String(zoneless), &sixteen) == 1 { return withUnsafeBytes(of: sixteen) { Array($0) } }
    return nil
  }
}

/// Text for a message: whatever isn't printable ASCII becomes a question mark, since it may come from the peer.
func printable(_ bytes: some Sequence<UInt8>) -> String {
  String(decoding: bytes.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
}
