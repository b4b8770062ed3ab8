// UTF8Validator: validates UTF-8 that arrives in pieces (RFC 3629 §4).

/// Validates the text of a message, which may be split anywhere, and finds the first invalid byte as soon as it arrives.
struct UTF8Validator {
  /// The number of bytes that complete the current character.
  private var missingCount = 0
  /// The permitted values of the next byte, if the current character is incomplete.
  private var range: ClosedRange<UInt8> = 0x80...0xbf

  /// Whether the text may end here, because no character is incomplete.
  var isComplete: Bool { missingCount == 0 }

  /// Returns whether the text is still valid after these bytes.
  mutating func accept(_ bytes: borrowing Span<UInt8>) -> Bool {
    var index = 0
    while index < bytes.count {
      if missingCount == 0 {
        index = bytes.endOfASCII(from: index)
        guard index < bytes.count else { return true }
        guard begin(bytes[index]) else { return false }
      } else {
        guard range.contains(bytes[index]) else { return false }
        missingCount -= 1
        range = 0x80...0xbf
      }
      index += 1
    }
    return true
  }

  // UTF8-2 = %xC2-DF UTF8-tail
  // UTF8-3 = %xE0 %xA0-BF UTF8-tail / %xE1-EC 2( UTF8-tail ) / %xED %x80-9F UTF8-tail / %xEE-EF 2( UTF8-tail )
  // UTF8-4 = %xF0 %x90-BF 2( UTF8-tail ) / %xF1-F3 3( UTF8-tail ) / %xF4 %x80-8F 2( UTF8-tail )
  // (RFC 3629 §4)
  private mutating func begin(_ byte: UInt8) -> Bool {
    range = 0x80...0xbf
    switch byte {
    case 0xc2...0xdf: missingCount = 1
    case 0xe0...0xef: missingCount = 2
    case 0xf0...0xf4: missingCount = 3
    default: return false
    }
    switch byte {
    case 0xe0: range = 0xa0...0xbf
    case 0xed: range = 0x80...0x9f
    case 0xf0: range = 0x90...0xbf
    case 0xf4: range = 0x80...0x8f
    default: break
    }
    return true
  }
}
