// IPAddress: an IP address as an integer, to match it against networks.

/// An IPv4 or IPv6 address as an integer, whose most significant bit is the first bit of the address.
package enum IPAddress: Sendable, Hashable {
  case ipv4(UInt32)
  case ipv6(UInt128)

  /// Parses a numeric address such as "127.0.0.1" or "::1". Returns nil for any other text.
  package init?(_ text: some StringProtocol) {
    guard let ip = SocketAddress(numeric: String(text), port: 0)?.ip else { return nil }
    self = ip
  }

  /// The length of the address in bits: 32 or 128.
  package var bitCount: Int {
    switch self {
    case .ipv4: 32
    case .ipv6: 128
    }
  }

  /// The address's 4 or 16 bytes in network byte order.
  package var bytes: [UInt8] {
    let bits =
      switch self {
      case .ipv4(let bits): UInt128(bits)
      case .ipv6(let bits): bits
      }
    return stride(from: bitCount - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bits >> $0) }
  }

  /// Returns the address with all bits after the first `length` set to 0.
  package func masked(_ length: Int) -> IPAddress {
    switch self {
    // A shift by the bit width gives 0.
    case .ipv4(let bits): .ipv4(bits & UInt32.max << (32 - min(length, 32)))
    case .ipv6(let bits): .ipv6(bits & UInt128.max << (128 - min(length, 128)))
    }
  }

  /// The IPv4 address of an IPv4-mapped address (::ffff:0:0/96, RFC 4291 §2.5.5.2), or the address itself.
  package var unmapped: IPAddress {
    if case .ipv6(let bits) = self, bits >> 32 == 0xFFFF { .ipv4(UInt32(truncatingIfNeeded: bits)) } else { self }
  }
}
