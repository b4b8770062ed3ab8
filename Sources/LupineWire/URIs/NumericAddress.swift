// NumericAddress: parses IPv4 and IPv6 addresses (RFC 3986 §3.2.2, RFC 4291 §2.2) into bytes.

/// An IPv4 or IPv6 address.
package struct NumericAddress: Sendable, Hashable {
  /// The address in network byte order: 4 bytes for IPv4, 16 for IPv6.
  package let bytes: [UInt8]

  /// Parses the formats of inet_pton(3), such as "127.0.0.1" or "::1", without brackets or a zone. Returns nil for any
  /// other text.
  package init?(_ text: some StringProtocol) {
    let text = Substring(text).utf8
    guard let bytes = text.contains(UInt8(ascii: ":")) ? Self.v6(text) : Self.v4(text) else { return nil }
    self.bytes = bytes
  }

  private typealias Bytes = Substring.UTF8View

  // IPv4address = dec-octet "." dec-octet "." dec-octet "." dec-octet (RFC 3986 §3.2.2); no leading zeros.
  private static func v4(_ text: Bytes) -> [UInt8]? {
    let octets = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard octets.count == 4 else { return nil }
    var bytes: [UInt8] = []
    for octet in octets {
      guard octet.allSatisfy({ $0 &- 0x30 < 10 }), let byte = UInt8(String(octet) ?? ""),
        octet.count == 1 || octet.first != UInt8(ascii: "0")
      else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  // Eight groups of 1 to 4 hex digits. "::" may replace one run of zero groups, and an IPv4 address the last two groups
  // (RFC 4291 §2.2).
  private static func v6(_ text: Bytes) -> [UInt8]? {
    guard let gap = gap(in: text) else {
      guard let bytes = groups(text, mayEndInV4: true), bytes.count == 16 else { return nil }
      return bytes
    }
    let (before, after) = (text[..<gap], text[gap...].dropFirst(2))
    guard let head = before.isEmpty ? [] : groups(before, mayEndInV4: false),
      let tail = after.isEmpty ? [] : groups(after, mayEndInV4: true), head.count + tail.count <= 14
    else { return nil }
    return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
  }

  private static func gap(in text: Bytes) -> Bytes.Index? {
    text.indices.first { text[$0...].starts(with: "::".utf8) }
  }

  private static func groups(_ text: Bytes, mayEndInV4: Bool) -> [UInt8]? {
    var bytes: [UInt8] = []
    let groups = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    for (index, group) in groups.enumerated() {
      if mayEndInV4, index == groups.count - 1, group.contains(UInt8(ascii: ".")) {
        guard let v4 = v4(group) else { return nil }
        bytes += v4
      } else {
        // The sign is excluded here, because UInt16.init would accept it.
        guard (1...4).contains(group.count), group.first != UInt8(ascii: "+"), group.first != UInt8(ascii: "-"),
          let value = UInt16(String(group) ?? "", radix: 16)
        else { return nil }
        bytes += [UInt8(value >> 8), UInt8(value & 0xFF)]
      }
    }
    return bytes
  }

  /// Returns whether this address is of the same family as `network` and has the same first `bitCount` bits.
  package func isIn(_ network: NumericAddress, bitCount: Int) -> Bool {
    guard bytes.count == network.bytes.count else { return false }
    let whole = bitCount / 8
    guard bytes.prefix(whole) == network.bytes.prefix(whole) else { return false }
    let rest = bitCount % 8
    return rest == 0 || (bytes[whole] ^ network.bytes[whole]) >> UInt8(8 - rest) == 0
  }
}
