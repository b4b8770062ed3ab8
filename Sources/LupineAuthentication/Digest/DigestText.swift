// DigestText: the hexadecimal hashes and quoted strings of Digest's formulas and parameters.

import LupineTLS
import LupineWire

/// Returns two lowercase hexadecimal digits for each byte (RFC 7616 §3.1.3: LHEX).
func hex(_ bytes: [UInt8]) -> String {
  bytes.map { $0.hexDigits() }.joined()
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

extension MessageDigest {
  /// Returns the hash of the text's UTF-8 bytes in hexadecimal digits. Throws `.hashIsUnavailable` if OpenSSL's configuration
  /// forbids the hash function.
  func hex(_ text: String) throws(DigestSession.Failure) -> String {
    guard let bytes = hash(Array(text.utf8)) else { throw .hashIsUnavailable }
    return LupineAuthentication.hex(bytes)
  }
}
