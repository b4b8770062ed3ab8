// SpecialAddresses: IANA's tables of special-purpose addresses, which decide whether an address is public.
//
// Sources: https://www.iana.org/assignments/iana-ipv4-special-registry (as of 2020-09-04),
// https://www.iana.org/assignments/iana-ipv6-special-registry (as of 2025-10-09), column "Globally Reachable";
// https://www.iana.org/assignments/ipv6-address-space for 2000::/3, the only block assigned for global unicast; and the
// multicast blocks of RFC 5771 and RFC 4291 §2.7. A value of N/A counts as false.

internal import LupineReactor

extension IPAddress {
  /// Whether the address is globally reachable: it is assigned for unicast, and not reserved for a special purpose, such as use
  /// within a machine, a link, a site or a document.
  ///
  /// The address must not be IPv4-mapped. Embedded IPv4 addresses aren't considered.
  var isPublic: Bool {
    let matches = Self.specialNetworks.filter { $0.network.contains(self) }
    // The entry with the longest matching prefix applies.
    return matches.max { $0.network.prefixLength < $1.network.prefixLength }?.isPublic ?? (bitCount == 32)
  }

  private static let specialNetworks: [(network: AddressNetwork, isPublic: Bool)] = [
    ("0.0.0.0/8", false),  // This network (RFC 791)
    ("10.0.0.0/8", false),  // Private use (RFC 1918)
    ("100.64.0.0/10", false),  // Shared address space, for carrier-grade NAT (RFC 6598)
    ("127.0.0.0/8", false),  // Loopback (RFC 1122)
    ("169.254.0.0/16", false),  // Link-local (RFC 3927), with the metadata services of clouds
    ("172.16.0.0/12", false),  // Private use (RFC 1918)
    ("192.0.0.0/24", false),  // IETF protocol assignments (RFC 6890)
    ("192.0.0.9/32", true),  // Port Control Protocol anycast (RFC 7723)
    ("192.0.0.10/32", true),  // TURN anycast (RFC 8155)
    ("192.0.2.0/24", false),  // Documentation (RFC 5737)
    ("192.31.196.0/24", true),  // AS112 (RFC 7535)
    ("192.52.193.0/24", true),  // AMT (RFC 7450)
    ("192.88.99.0/24", false),  // 6to4 relay anycast, deprecated (RFC 7526)
    ("192.168.0.0/16", false),  // Private use (RFC 1918)
    ("192.175.48.0/24", true),  // AS112 (RFC 7534)
    ("198.18.0.0/15", false),  // Benchmarking (RFC 2544)
    ("198.51.100.0/24", false),  // Documentation (RFC 5737)
    ("203.0.113.0/24", false),  // Documentation (RFC 5737)
    ("224.0.0.0/4", false),  // Multicast (RFC 5771)
    ("240.0.0.0/4", false),  // Reserved (RFC 1112), and broadcast (RFC 919)

    ("64:ff9b::/96", true),  // The well-known prefix of NAT64 (RFC 6052)
    ("2000::/3", true),  // Global unicast (RFC 4291)
    ("2001::/23", false),  // IETF protocol assignments (RFC 2928), with Teredo and benchmarking
    ("2001:1::1/128", true),  // Port Control Protocol anycast (RFC 7723)
    ("2001:1::2/128", true),  // TURN anycast (RFC 8155)
    ("2001:1::3/128", true),  // DNS-SD service registration anycast (RFC 9665)
    ("2001:3::/32", true),  // AMT (RFC 7450)
    ("2001:4:112::/48", true),  // AS112 (RFC 7535)
    ("2001:20::/28", true),  // ORCHIDv2 (RFC 7343)
    ("2001:30::/28", true),  // Drone remote identification (RFC 9374)
    ("2001:db8::/32", false),  // Documentation (RFC 3849)
    ("2002::/16", false),  // 6to4 (RFC 3056)
    ("2620:4f:8000::/48", true),  // AS112 (RFC 7534)
    ("3fff::/20", false),  // Documentation (RFC 9637)
  ]
}
