// PeerName: the name of the server for server name indication (RFC 6066 §3) and for the verification of its certificate
// (RFC 9110 §4.3.4, RFC 9525).

import CLupineOpenSSL
import LupineLibc

/// The DNS name or IP address that the server's certificate must contain.
enum PeerName {
  /// A DNS name without its trailing dot, because neither certificates nor SNI contain that dot.
  case dns(String)
  /// An IP address of 4 or 16 bytes in network byte order.
  case address([UInt8])

  /// The maximum length of a host name in bytes: 253. RFC 1035 §2.3.4 allows 255 bytes on the wire, which is 253 in text.
  static let nameBytesMax = 253

  /// Parses a host: a DNS name, an IPv4 address, or an IPv6 address with or without brackets and zone. Throws
  /// `TLSError.Code.configuration` for a name that a certificate can't contain, such as an empty name.
  init(host: String) throws(TLSError) {
    if let address = Self.address(host) {
      self = .address(address)
      return
    }
    let name = host.hasSuffix(".") ? String(host.dropLast()) : host
    // OpenSSL interprets a leading dot as "any subdomain of" and an empty name as "don't check".
    guard !name.isEmpty, !name.hasPrefix("."), name.utf8.count <= Self.nameBytesMax,
      name.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw .configuration(
        "\"\(printable(host.utf8))\" isn't a host name that TLS can verify. Use 1 to \(Self.nameBytesMax) ASCII "
          + "characters (Punycode for others) that don't start with a dot.")
    }
    self = .dns(name)
  }

  /// Sets the name that `ssl` sends as SNI, and the DNS name or IP address that the server's certificate must contain.
  func apply(to ssl: OpaquePointer) throws(TLSError) {
    ERR_clear_error()
    // RFC 6066 §3: literal addresses aren't permitted as server names, so only a DNS name is sent.
    if case .dns(let name) = self, lupine_ssl_set_server_name(ssl, name) != 1 {
      throw .configurationFromQueue("The server's name can't be set.")
    }
    // SAFETY: `ssl` is alive and owns the parameters.
    try require(in: SSL_get0_param(ssl))
  }

  /// Sets the DNS name or IP address that the server's certificate must contain in `parameters`, OpenSSL's X509_VERIFY_PARAM.
  func require(in parameters: OpaquePointer?) throws(TLSError) {
    ERR_clear_error()
    // SAFETY: the caller owns the parameters, and OpenSSL copies the name or address.
    X509_VERIFY_PARAM_set_hostflags(
      parameters, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
    let isSet =
      switch self {
      case .dns(let name): X509_VERIFY_PARAM_set1_host(parameters, name, name.utf8.count) == 1
      case .address(let bytes): X509_VERIFY_PARAM_set1_ip(parameters, bytes, bytes.count) == 1
      }
    guard isSet else { throw .configurationFromQueue("The host name can't be set.") }
  }

  /// Removes the DNS name or IP address that `require` has set in `parameters`, OpenSSL's X509_VERIFY_PARAM. Certificates with any
  /// name are then accepted.
  static func requireNone(in parameters: OpaquePointer?) {
    // SAFETY: the caller owns the parameters, and nothing is read.
    X509_VERIFY_PARAM_set1_host(parameters, nil, 0)
    X509_VERIFY_PARAM_set1_ip(parameters, nil, 0)
  }

  private static func address(_ host: String) -> [UInt8]? {
    // The zone is dropped: certificates can't contain one, because it only has meaning on this machine (RFC 6874).
    let literal = host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host[...]
    let zoneless = literal.prefix { $0 != "%" }
    var four = in_addr()
    var sixteen = in6_addr()
    // SAFETY: inet_pton writes exactly the structure of its family, and both structures are plain bytes.
    if inet_pton(AF_INET, host, &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
    if inet_pton(AF_INET6, String(zoneless), &sixteen) == 1 { return withUnsafeBytes(of: sixteen) { Array($0) } }
    return nil
  }
}

/// Returns the bytes as text for an error message. Bytes that aren't printable ASCII become question marks, because they may come
/// from the peer.
func printable(_ bytes: some Sequence<UInt8>) -> String {
  String(decoding: bytes.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
}
