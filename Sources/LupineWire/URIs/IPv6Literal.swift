// IPv6Literal: checks the text of IPv6 addresses (RFC 3986 §3.2.2, RFC 4291 §2.2).

package enum IPv6Literal {
  /// Returns whether the text is an IPv6 address in a format of inet_pton(3), such as "::1", without brackets or a zone.
  package static func isValid(_ text: some StringProtocol) -> Bool {
    let text = Substring(text).utf8
    guard let gap = text.indices.first(where: { text[$0...].starts(with: "::".utf8) }) else {
      return groupCount(text, mayEndInV4: true) == 8
    }
    let (before, after) = (text[..<gap], text[gap...].dropFirst(2))
    guard let head = before.isEmpty ? 0 : groupCount(before, mayEndInV4: false),
      let tail = after.isEmpty ? 0 : groupCount(after, mayEndInV4: true)
    else { return false }
    return head + tail <= 7
  }

  // Groups of 1 to 4 hex digits. "::" may replace one run of zero groups, and an IPv4 address the last two groups
  // (RFC 4291 §2.2).
  private static func groupCount(_ text: Substring.UTF8View, mayEndInV4: Bool) -> Int? {
    let groups = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    let endsInV4 = mayEndInV4 && groups.last.map(isV4) ?? false
    let isHex = groups.dropLast(endsInV4 ? 1 : 0).allSatisfy { group in
      (1...4).contains(group.count) && group.allSatisfy { Byte.hexValue($0) != nil }
    }
    return isHex ? groups.count + (endsInV4 ? 1 : 0) : nil
  }

  // IPv4address = dec-octet "." dec-octet "." dec-octet "." dec-octet (RFC 3986 §3.2.2); no leading zeros.
  private static func isV4(_ text: Substring.UTF8View) -> Bool {
    let octets = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return octets.count == 4
      && octets.allSatisfy { octet in
        octet.allSatisfy { $0 &- 0x30 < 10 } && UInt8(String(octet) ?? "") != nil
          && (octet.count == 1 || octet.first != UInt8(ascii: "0"))
      }
  }
}
