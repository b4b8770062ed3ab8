// BasicCredentials: user names and passwords as values of Authorization and Proxy-Authorization (RFC 7617).

/// The credentials of the Basic scheme.
package enum BasicCredentials {
  /// Returns a field value, or nil if the user name contains a colon, because the first colon separates it from the
  /// password (RFC 7617 §2).
  ///
  /// The text is encoded as UTF-8, the only charset that a server can request (§2.1).
  package static func fieldValue(user: String, password: String) -> String? {
    guard !user.utf8.contains(Byte.colon) else { return nil }
    return fieldValue(userPass: Array("\(user):\(password)".utf8))
  }

  // credentials = "Basic" 1*SP token68; user-pass = user-id ":" password (§2)
  /// Returns a field value for a user name and a password that are already joined by a colon.
  package static func fieldValue(userPass: [UInt8]) -> String {
    "Basic " + Base64.encode(userPass)
  }
}

/// Base64 with padding (RFC 4648 §4).
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
