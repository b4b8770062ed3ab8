// A name and a password as Authorization and Proxy-Authorization carry them (RFC 7617).

/// The credentials of the Basic scheme.
package enum BasicCredentials {
  /// A field's value, or nil if the name has a colon, behind which the password would begin (RFC 7617 §2).
  ///
  /// The text is sent as UTF-8, which is the one charset that a server can ask for (§2.1).
  package static func fieldValue(user: String, password: String) -> String? {
    guard !user.utf8.contains(Byte.colon) else { return nil }
    return fieldValue(userPass: Array("\(user):\(password)".utf8))
  }

  // credentials = "Basic" 1*SP token68; user-pass = user-id ":" password (§2)
  /// A field's value for a name and a password that are joined already.
  package static func fieldValue(userPass: [UInt8]) -> String {
    "Basic " + Base64.encode(userPass)
  }
}

/// RFC 4648 §4, with padding.
enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var bits: UInt32 = 0
      for (index, byte) in group.enumerated() { bits |= UInt32(byte) << UInt32(16 - 8 * index) }
      for index in 0..<4 {
        text.append(index <= group.count ? alphabet[Int(bits >> UInt32(18 - 6 * index)) & 63] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
