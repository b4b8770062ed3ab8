// EmbeddedAddresses: the other addresses that a connection to an address may reach.

internal import LupineReactor

extension IPAddress {
  /// An IPv6 network whose addresses contain IPv4 addresses, and the rule for extracting them.
  private struct Translation {
    let network: AddressNetwork
    /// Returns the IPv4 addresses that the given IPv6 address contains.
    let embedded: @Sendable (UInt128) -> [UInt32]
  }

  private static let translations: [Translation] = [
    // IPv4-compatible (RFC 4291 §2.5.5.1, deprecated).
    Translation(network: "::/96") { [UInt32(truncatingIfNeeded: $0)] },
    // IPv4-translated (RFC 2765 §2.1, obsolete).
    Translation(network: "::ffff:0:0:0/96") { [UInt32(truncatingIfNeeded: $0)] },
    // The well-known prefix of NAT64 (RFC 6052 §2.1).
    Translation(network: "64:ff9b::/96") { [UInt32(truncatingIfNeeded: $0)] },
    // The prefix for local NAT64 (RFC 8215). The operator chooses a prefix of 48, 56, 64 or 96 bits in it. The address
    // follows the prefix, but bits 64 to 71 are skipped (RFC 6052 §2.2).
    Translation(network: "64:ff9b:1::/48") { bits in
      let skipped = ((bits >> 64) << 56) | (bits & ((UInt128(1) << 56) - 1))
      return [UInt32(truncatingIfNeeded: bits)]
        + [48, 56, 64].map { UInt32(truncatingIfNeeded: skipped >> (120 - $0 - 32)) }
    },
    // 6to4: bits 16 to 47 are the router's address (RFC 3056 §2).
    Translation(network: "2002::/16") { [UInt32(truncatingIfNeeded: $0 >> 80)] },
    // Teredo: the server's address after the prefix, and the client's with all bits inverted at the end (RFC 4380 §4).
    Translation(network: "2001::/32") { [UInt32(truncatingIfNeeded: $0 >> 64), ~UInt32(truncatingIfNeeded: $0)] },
  ]

  /// Other addresses that a connection to this address may reach: the embedded IPv4 addresses. A connection to the unspecified
  /// address also reaches the loopback address, because Linux opens it to this machine.
  ///
  /// This address must not be IPv4-mapped.
  var reachedAddresses: [IPAddress] {
    switch self {
    case .ipv4(0): [.ipv4(0x7F00_0001)]
    case .ipv4: []
    case .ipv6(0): [.ipv6(1), .ipv4(0x7F00_0001)]
    case .ipv6(let bits):
      ((Self.translations.first { $0.network.contains(self) }?.embedded(bits) ?? []) + Self.embeddedByISATAP(bits))
        // A translator that reaches 0.0.0.0 reaches its own machine.
        .map { .ipv4($0) }.flatMap { [$0] + $0.reachedAddresses }
    }
  }

  /// Returns the IPv4 address embedded in an IPv6 address by ISATAP, or an empty array for any other address.
  ///
  /// In an ISATAP address, any prefix of 64 bits is followed by the interface identifier, which is `00-00-5E-FE` or `02-00-5E-FE`
  /// and then the IPv4 address (RFC 5214 §6.1). A machine with an ISATAP interface sends packets to that IPv4 address.
  private static func embeddedByISATAP(_ bits: UInt128) -> [UInt32] {
    // The universal/local bit is ignored.
    UInt32(truncatingIfNeeded: bits >> 32) & ~0x0200_0000 == 0x5EFE ? [UInt32(truncatingIfNeeded: bits)] : []
  }
}
