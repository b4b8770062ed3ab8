// AddressNetwork: a network of IP addresses, written as a prefix (RFC 4632 §3.1, RFC 4291 §2.3).

internal import LupineReactor

/// A network of IP addresses, such as 10.0.0.0/8 or fd00::/8.
///
/// Each IPv4 address also has an IPv6 form, such as ::ffff:10.0.0.1, and connecting to this form connects to the IPv4 address.
/// This type treats the two forms as the same address: IPv4 networks contain both forms, and IPv6 networks contain neither.
public struct AddressNetwork: Sendable, Hashable {
  let first: IPAddress
  /// The number of leading bits that all addresses of the network share: 0...32 for IPv4, 0...128 for IPv6.
  let prefixLength: Int

  /// Parses a network of the form `prefix = address [ "/" length ]`. An address without a length is a network that contains only
  /// this address.
  ///
  /// Returns nil if the text isn't a network. The bits after the prefix must be 0, so 10.1.0.0/8 isn't a network.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let address = IPAddress(parts[0]) else { return nil }
    let bitCount = address.bitCount
    var length = bitCount
    if parts.count == 2 {
      // The prefix length has at most three digits and no sign.
      let digits = parts[1]
      guard 1...3 ~= digits.utf8.count, digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
        let number = Int(digits), number <= bitCount
      else { return nil }
      length = number
    }
    guard address.masked(length) == address else { return nil }
    // The kernel treats addresses in ::ffff:0:0/96 as IPv4 addresses, so the network is stored as an IPv4 network.
    if case .ipv4(let bits) = address.unmapped, bitCount == 128 {
      guard length >= 96 else { return nil }
      (first, prefixLength) = (.ipv4(bits), length - 96)
    } else {
      (first, prefixLength) = (address, length)
    }
  }

  /// Returns whether the network contains an address, which must not be IPv4-mapped.
  func contains(_ address: IPAddress) -> Bool {
    address.masked(prefixLength) == first && address.bitCount == first.bitCount
  }
}

extension AddressNetwork: ExpressibleByStringLiteral {
  /// Creates a network from a literal, such as `"10.0.0.0/8"`. Traps if the literal isn't a network.
  public init(stringLiteral text: String) {
    guard let network = AddressNetwork(text) else { preconditionFailure("\(text) isn't a network") }
    self = network
  }
}

extension AddressNetwork: CustomStringConvertible {
  /// The network in the form that the initializer parses, such as 10.0.0.0/8.
  public var description: String { "\(SocketAddress(first, port: 0).host)/\(prefixLength)" }
}
