// DigestText: the hexadecimal hashes, quoted strings and extended values of Digest's formulas and parameters.

import LupineTLS
import LupineWire

/// Returns two lowercase hexadecimal digits for each byte (RFC 7616 §3.1.3: LHEX).
func hex(_ bytes: [UInt8]) -> String {
  let digits = Array("0123456789abcdef".utf8)
  return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}

/// Returns the text as quoted-string = DQUOTE *( qdtext / quoted-pair ) DQUOTE (RFC 9110 §5.6.4).
func quotedString(_ text: String) -> String {
  var quoted = "\""
  for scalar in text.unicodeScalars {
    if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
    quoted.unicodeScalars.append(scalar)
  }
  return quoted + "\""
}

// value-chars = *( pct-encoded / attr-char ) (RFC 8187 §3.2.1)
/// Returns the text in UTF-8, with every byte percent-encoded that isn't an attr-char of RFC 8187, as in `username*`.
func extendedValue(_ text: String) -> String {
  PercentEncoding.encode(text.utf8, keeping: .attribute)
}

extension MessageDigest {
  /// Returns the hash of the text's UTF-8 bytes in hexadecimal digits. Throws `.hashIsUnavailable` if OpenSSL's configuration
  /// forbids the hash function.
  func hex(_ text: String) throws(DigestSession.Failure) -> String {
    guard let bytes = hash(Array(text.utf8)) else { throw .hashIsUnavailable }
    return LupineAuthentication.hex(bytes)
  }
}
