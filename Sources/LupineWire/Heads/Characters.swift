// Characters: the character classes of RFC 9110 §5.6 and RFC 3986 §2 as bitmaps over ASCII, and percent-encoding.

/// A set of ASCII characters. Bytes above 0x7F are never members.
///
/// The sets are written as integer literals, so that they are compile-time constants and need no lazy initialization.
package struct CharacterClass: Sendable {
  let low: UInt64  // 0x00...0x3F
  let high: UInt64  // 0x40...0x7F

  @inline(__always)
  package func contains(_ byte: UInt8) -> Bool {
    guard byte < 128 else { return false }
    return ((byte < 64 ? low : high) >> UInt64(byte & 63)) & 1 == 1
  }

  /// The characters of a token: tchar = "!" / "#" / "$" / "%" / "&" / "'" / "*" / "+" / "-" / "." / "^" / "_" / "`" / "|" / "~" /
  /// DIGIT / ALPHA (RFC 9110 §5.6.2).
  static let token = CharacterClass(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE)

  /// The characters of a token68 before its padding: ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" (RFC 9110 §11.2).
  static let token68 = CharacterClass(low: 0x03FF_E800_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)

  /// The unreserved characters of URIs: ALPHA / DIGIT / "-" / "." / "_" / "~" (RFC 3986 §2.3).
  package static let unreserved = CharacterClass(low: 0x03FF_6000_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)

  /// The characters of a scheme: ALPHA / DIGIT / "+" / "-" / "." (RFC 3986 §3.1).
  package static let scheme = CharacterClass(low: 0x03FF_6800_0000_0000, high: 0x07FF_FFFE_07FF_FFFE)

  /// The characters that stay unescaped in an extended value: attr-char, which is tchar without "%", "'" and "*" (RFC 8187 §3.2.1).
  package static let attribute = CharacterClass(low: 0x03FF_685A_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE)

  /// All ASCII characters.
  package static let ascii = CharacterClass(low: .max, high: .max)

  /// The characters of a registered name (a host), besides percent-encodings: unreserved / sub-delims (RFC 3986 §3.2.2).
  static let registeredName = CharacterClass(low: 0x2BFF_7FD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)

  /// The characters that stay unescaped in a path or query: unreserved / sub-delims / ":" / "@" / "/" / "?" / "%" / "[" / "]" (RFC
  /// 3986 §3.3, §3.4). "%" is included, so that percent-encoded bytes aren't encoded twice.
  static let pathOrQuery = CharacterClass(low: 0xAFFF_FFF2_0000_0000, high: 0x47FF_FFFE_AFFF_FFFF)
}

/// The ASCII characters that have a meaning in the syntax of field lines and values.
package enum Byte {
  static let tab: UInt8 = 0x09
  static let lineFeed: UInt8 = 0x0A
  static let carriageReturn: UInt8 = 0x0D
  static let space: UInt8 = 0x20
  static let doubleQuote: UInt8 = 0x22
  static let comma: UInt8 = 0x2C
  static let colon: UInt8 = 0x3A
  static let semicolon: UInt8 = 0x3B
  static let equals: UInt8 = 0x3D
  static let backslash: UInt8 = 0x5C

  @inline(__always)
  static func lowercased(_ byte: UInt8) -> UInt8 {
    byte &- 0x41 < 26 ? byte | 0x20 : byte
  }

  /// Returns whether a field value may contain the byte: HTAB / SP / VCHAR / obs-text (RFC 9110 §5.5), which excludes
  /// all other control characters.
  @inline(__always)
  static func isFieldContent(_ byte: UInt8) -> Bool {
    (byte >= 0x20 && byte != 0x7F) || byte == tab
  }

  /// Returns the value of a hex digit, in 0...15, or nil if the byte isn't one.
  @inline(__always)
  package static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }
}

/// Parses decimal numbers: 1*DIGIT (RFC 5234 §B.1).
package enum Digits {
  /// Parses a decimal number. Leading zeros are allowed. Returns nil if `bytes` is empty, a byte isn't a digit, or the number
  /// overflows 64 bits.
  static func value(of bytes: some Collection<UInt8>) -> UInt64? {
    guard !bytes.isEmpty else { return nil }
    var value: UInt64 = 0
    for byte in bytes {
      guard byte &- 0x30 < 10 else { return nil }
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(UInt64(byte &- 0x30))
      guard !overflow, !carry else { return nil }
      value = sum
    }
    return value
  }

  /// Parses a decimal number with any number of digits. Numbers above `limit` are reduced to it. Returns nil if `digits` is empty or
  /// a byte isn't a digit.
  package static func value(of digits: ArraySlice<UInt8>, atMost limit: Int64) -> Int64? {
    guard !digits.isEmpty, digits.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
    return Int64(min(value(of: digits) ?? .max, UInt64(limit)))
  }
}

/// Percent-encoding: pct-encoded = "%" HEXDIG HEXDIG (RFC 3986 §2.1).
package enum PercentEncoding {
  /// Returns the bytes as text in which each byte that isn't in the class `kept` is percent-encoded.
  package static func encode(_ bytes: some Sequence<UInt8>, keeping kept: CharacterClass) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    for byte in bytes {
      if kept.contains(byte) {
        encoded.append(byte)
      } else {
        encoded.append(contentsOf: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]])
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// Returns the percent-decoded bytes, or nil if a "%" isn't followed by two hex digits.
  package static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    var decoded: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%") {
        guard let high = rest.popFirst().flatMap(Byte.hexValue), let low = rest.popFirst().flatMap(Byte.hexValue) else {
          return nil
        }
        decoded.append(high << 4 | low)
      } else {
        decoded.append(byte)
      }
    }
    return decoded
  }

  /// Returns the percent-decoded bytes. Keeps each "%" that isn't followed by two hex digits.
  package static func decodeLeniently(_ text: some Sequence<UInt8>) -> [UInt8] {
    var decoded: [UInt8] = []
    var rest = Array(text)[...]
    while let byte = rest.popFirst() {
      let digits = byte == UInt8(ascii: "%") ? rest.prefix(2).compactMap(Byte.hexValue) : []
      if digits.count == 2 { rest.removeFirst(2) }
      decoded.append(digits.count == 2 ? digits[0] << 4 | digits[1] : byte)
    }
    return decoded
  }
}

extension UInt8 {
  /// Whether the byte is a tchar, a character of tokens (RFC 9110 §5.6.2).
  package var isTokenCharacter: Bool { CharacterClass.token.contains(self) }
}

extension FixedWidthInteger where Self: UnsignedInteger {
  /// Returns the number in hexadecimal with all digits that its type has, such as "0f" for 15 as a `UInt8`.
  package func hexDigits(uppercase: Bool = false) -> String {
    let digits = String(self, radix: 16, uppercase: uppercase)
    return String(repeating: "0", count: Self.bitWidth / 4 - digits.utf8.count) + digits
  }
}

extension String {
  /// Returns whether two field names are equal. Only ASCII letters are compared
  /// case-insensitively, because names are tokens (RFC 9110 §5.1).
  package func isSameFieldName(as other: String) -> Bool {
    let (left, right) = (utf8, other.utf8)
    return left.count == right.count && left.elementsEqual(right) { Byte.lowercased($0) == Byte.lowercased($1) }
  }
}
