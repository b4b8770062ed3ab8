// `PercentEscapeTable`: percent-encodes UTF-8 bytes (RFC 3986 §2.1).

package import Foundation

/// A table of the bytes that aren't percent-encoded. Every other byte is encoded as `%` and two hexadecimal digits.
package struct PercentEscapeTable: Sendable {
  /// The table for forms, in which only the characters in `CharacterSet.afURLQueryAllowed` aren't percent-encoded.
  package static let formDefault = PercentEscapeTable(.afURLQueryAllowed)

  private let stays: [Bool]

  /// Creates a table in which only the ASCII characters in `allowed` aren't percent-encoded. The space is always encoded.
  package init(_ allowed: CharacterSet) {
    var stays = [Bool](repeating: false, count: 256)
    for byte in UInt8.min..<0x80 where byte != UInt8(ascii: " ") {
      stays[Int(byte)] = allowed.contains(Unicode.Scalar(byte))
    }
    self.stays = stays
  }

  /// Returns `text` percent-encoded. A space becomes `+` if `spaceAsPlus` is true, and `%20` otherwise.
  package func escape(_ text: String, spaceAsPlus: Bool = false) -> String {
    // Most keys and values need no percent-encoding.
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

  // Uppercase digits, as RFC 3986 §2.1 recommends for programs that produce URIs.
  private static let hexDigits = Array("0123456789ABCDEF".utf8)
}
