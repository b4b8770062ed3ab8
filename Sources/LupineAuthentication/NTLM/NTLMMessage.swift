// NTLMMessage: the client's messages, NEGOTIATE_MESSAGE and AUTHENTICATE_MESSAGE (MS-NLMP 2.2.1.1, 2.2.1.3).

enum NTLMMessage {
  static let signature = Array("NTLMSSP\0".utf8)

  /// The NTLM flags that the client requests. It requests neither signing nor sealing, because HTTP uses neither. Therefore, no
  /// session key is exchanged.
  static let flags: NTLMChallenge.Flags = [
    .unicode, .requestTarget, .ntlm, .alwaysSign, .extendedSessionSecurity, .targetInfo, .version, .key128, .key56,
  ]

  // ProductMajorVersion, ProductMinorVersion, ProductBuild (2), Reserved (3), NTLMRevisionCurrent: 15 (2.2.2.10)
  /// The client's version in NTLM messages. Servers ignore it, apart from the revision, but gss-ntlmssp refuses messages without a
  /// version.
  private static let version: [UInt8] = [10, 0, 0, 0, 0, 0, 0, 15]

  /// Returns the client's first NTLM message (NEGOTIATE_MESSAGE), which names neither a domain nor a workstation.
  static func negotiate() -> [UInt8] {
    var message = signature
    message.append(littleEndian: UInt32(1))
    message.append(littleEndian: flags.rawValue)
    message += [UInt8](repeating: 0, count: 16)
    return message + version
  }

  /// The index of the first byte of the 16-byte message integrity code (MIC) in the client's last NTLM message.
  static let integrityCodePosition = 72

  /// Returns the client's last NTLM message (AUTHENTICATE_MESSAGE), with zeros in place of the message integrity code.
  static func authenticate(
    flags: NTLMChallenge.Flags, domain: [UInt8], user: [UInt8], response: [UInt8]
  ) -> [UInt8] {
    let headBytes = integrityCodePosition + 16
    // LmChallengeResponse is 24 zeros, because LM and LMv2 responses would help only an attacker who guesses passwords.
    let payloads = [[UInt8](repeating: 0, count: 24), response, domain, user, [], []]
    var message = signature
    message.append(littleEndian: UInt32(3))
    var offset = headBytes
    for payload in payloads {
      message.append(littleEndian: UInt16(payload.count))
      message.append(littleEndian: UInt16(payload.count))
      message.append(littleEndian: UInt32(offset))
      offset += payload.count
    }
    message.append(littleEndian: flags.rawValue)
    message += version
    message += [UInt8](repeating: 0, count: 16)
    return message + payloads.joined()
  }

  /// Returns the text in UTF-16, in little-endian byte order.
  static func utf16(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    for unit in text.utf16 { bytes.append(littleEndian: unit) }
    return bytes
  }
}
