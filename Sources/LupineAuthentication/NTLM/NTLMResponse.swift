// NTLMResponse: the NTLMv2 response to a challenge (MS-NLMP 3.3.2).

import LupineTLS

/// The NTLMv2 response to a server's challenge, which the client computes from the password and the challenge.
struct NTLMResponse: Sendable {
  /// The field NtChallengeResponse of the client's last message: NTProofStr, followed by the bytes from which it is computed.
  let bytes: [UInt8]
  /// SessionBaseKey, the key with which the client computes the message integrity code.
  let sessionKey: [UInt8]

  // temp = Responserversion (1), HiResponserversion (1), Z(6), Time (8), ClientChallenge (8), Z(4), ServerName, Z(4)
  // NTProofStr = HMAC_MD5(ResponseKeyNT, ServerChallenge || temp)
  // SessionBaseKey = HMAC_MD5(ResponseKeyNT, NTProofStr)
  init(
    key: [UInt8], serverNonce: [UInt8], clientNonce: [UInt8], time: UInt64, targetInformation: [UInt8]
  ) throws(NTLMError) {
    var covered: [UInt8] = [1, 1, 0, 0, 0, 0, 0, 0]
    covered.append(littleEndian: time)
    covered += clientNonce
    covered += [0, 0, 0, 0]
    covered += targetInformation
    covered += [0, 0, 0, 0]
    let proof = try Self.code(serverNonce + covered, key: key)
    bytes = proof + covered
    sessionKey = try Self.code(proof, key: key)
  }

  // NTOWFv2 = HMAC_MD5(MD4(UNICODE(Passwd)), UNICODE(Uppercase(User) || UserDom))
  /// Returns the key that NTLMv2 derives from the user name, the domain and the password (NTOWFv2). Converts each character of the
  /// user name to uppercase separately, as Windows does.
  static func key(user: String, domain: String, password: String) throws(NTLMError) -> [UInt8] {
    var name = ""
    for scalar in user.unicodeScalars {
      let upper = scalar.properties.uppercaseMapping.unicodeScalars
      name.unicodeScalars.append(upper.count == 1 ? upper[upper.startIndex] : scalar)
    }
    return try code(NTLMMessage.utf16(name + domain), key: MD4.hash(NTLMMessage.utf16(password)))
  }

  /// Returns the HMAC-MD5 of the bytes with `key`. Throws `.hashIsUnavailable` if OpenSSL's configuration forbids MD5.
  static func code(_ bytes: [UInt8], key: [UInt8]) throws(NTLMError) -> [UInt8] {
    guard let code = MessageDigest.md5.authenticationCode(of: bytes, key: key) else { throw .hashIsUnavailable }
    return code
  }
}
