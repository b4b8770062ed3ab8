// JSONEscape: escapes in strings (RFC 8259 §7).

enum JSONEscape {
  /// Returns the number of bytes of the escape whose backslash is at `offset`: 2, 6, or 12 for a surrogate pair. Returns nil if it
  /// is no valid escape. A surrogate without its partner has no Unicode character, so it isn't valid here.
  static func length(in bytes: JSONBytes, at offset: Int) -> Int? {
    guard offset + 1 < bytes.count else { return nil }
    switch bytes[offset + 1] {
    case 0x22, 0x5C, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74: return 2
    case 0x75:
      guard let unit = unit(in: bytes, at: offset) else { return nil }
      guard unit & 0xF800 == 0xD800 else { return 6 }
      guard unit < 0xDC00, let low = self.unit(in: bytes, at: offset + 6), low & 0xFC00 == 0xDC00 else { return nil }
      return 12
    default: return nil
    }
  }

  /// Returns the bytes of a valid string in UTF-8, with its escapes replaced.
  static func text(of bytes: JSONBytes) -> String {
    // No escape is shorter than the UTF-8 bytes of its character.
    String(unsafeUninitializedCapacity: bytes.count) { buffer in
      // SAFETY: as many bytes are written as are read, or fewer. The buffer has room for all that are read.
      var written = 0
      var index = 0
      while index < bytes.count {
        let byte = bytes[index]
        guard byte == 0x5C, let length = length(in: bytes, at: index) else {
          buffer[written] = byte
          written += 1
          index += 1
          continue
        }
        for byte in character(in: bytes, at: index, length: length).utf8CodeUnits {
          buffer[written] = byte
          written += 1
        }
        index += length
      }
      return written
    }
  }

  private static func character(in bytes: JSONBytes, at offset: Int, length: Int) -> Unicode.Scalar {
    switch bytes[offset + 1] {
    case 0x62: return "\u{08}"
    case 0x66: return "\u{0C}"
    case 0x6E: return "\n"
    case 0x72: return "\r"
    case 0x74: return "\t"
    case 0x75:
      var value = UInt32(unit(in: bytes, at: offset) ?? 0)
      if length == 12 {
        value = 0x10000 + (value & 0x3FF) << 10 + UInt32(unit(in: bytes, at: offset + 6) ?? 0) & 0x3FF
      }
      return Unicode.Scalar(value) ?? "\u{FFFD}"
    case let byte: return Unicode.Scalar(byte)
    }
  }

  // Reads "\u" and four hexadecimal digits at `offset`.
  private static func unit(in bytes: JSONBytes, at offset: Int) -> UInt16? {
    guard offset + 6 <= bytes.count, bytes[offset] == 0x5C, bytes[offset + 1] == 0x75 else { return nil }
    var value: UInt16 = 0
    for index in offset + 2..<offset + 6 {
      let digit: UInt8
      switch bytes[index] {
      case 0x30...0x39: digit = bytes[index] - 0x30
      case 0x41...0x46: digit = bytes[index] - 0x37
      case 0x61...0x66: digit = bytes[index] - 0x57
      default: return nil
      }
      value = value << 4 | UInt16(digit)
    }
    return value
  }
}

extension Unicode.Scalar {
  // The bytes of the character in UTF-8.
  fileprivate var utf8CodeUnits: Unicode.UTF8.EncodedScalar { Unicode.UTF8.encode(self) ?? .init() }
}
