// Percent-escaping over UTF-8 bytes (RFC 3986 §2.1).

import Foundation

/// Which of the 256 bytes stay as they are; the others become `%` and two hex digits.
struct PercentEscapeTable: Sendable {
  /// The table of `CharacterSet.afURLQueryAllowed`.
  static let formDefault = PercentEscapeTable(.afURLQueryAllowed)

  private let stays: [Bool]

  /// Only ASCII members of `allowed` count, and a space never does.
  init(_ allowed: CharacterSet) {
    var stays = [Bool](repeating: false, count: 256)
    for byte in UInt8.min..<0x80 where byte != UInt8(ascii: " ") {
      stays[Int(byte)] = allowed.contains(Unicode.Scalar(byte))
    }
    self.stays = stays
  }

  /// `text` with every byte that doesn't stay escaped; a space as `%20`, or as `+` if `spaceAsPlus` is set.
  func escape(_ text: String, spaceAsPlus: Bool = false) -> String {
    // Most keys and values need no escape at all.
    if text.utf8.allSatisfy({ stays[Int($0)] }) { return text }

    var escaped: [UInt8] = []
    escaped.reserveCapacity(text.utf8.count * 2)
    for byte in text.utf8 {
      if stays[Int(byte)] {
        escaped.append(byte)
      } else if spaceAsPlus, byte == UInt8(ascii: " ") {
        escaped.append(UInt8(ascii: "+"))
      } else {
        escaped.append(UInt8(ascii: "%"))
        escaped.append(Self.hexDigits[Int(byte >> 4)])
        escaped.append(Self.hexDigits[Int(byte & 0x0F)])
      }
    }
    return String(decoding: escaped, as: UTF8.self)
  }

  // hexdig in upper case, as RFC 3986 §2.1 asks producers to write it.
  private static let hexDigits = Array("0123456789ABCDEF".utf8)
}
