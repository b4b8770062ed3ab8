// NTLMChallenge: parses the server's CHALLENGE_MESSAGE and checks its lengths and offsets (MS-NLMP 2.2.1.2, 2.2.2.1).

/// The reason why an NTLM handshake failed.
package enum NTLMError: Error, Sendable, Hashable {
  /// The server's NTLM message is malformed. The associated value names the malformed part.
  case malformed(String)
  /// The server's NTLM message, or a name that the client would send, is longer than `NTLMChallenge.bytesMax`.
  case tooLong
  /// The server doesn't support NTLMv2. The client never uses earlier versions, because they are weaker.
  case versionIsTooOld
  /// The server answered the client's first NTLM message without a challenge.
  case noChallenge
  /// The server refused the user name or the password.
  case refused
  /// OpenSSL's configuration forbids MD5, which NTLM requires.
  case hashIsUnavailable
}

/// The server's NTLM message (CHALLENGE_MESSAGE), which answers the client's first message.
struct NTLMChallenge: Sendable, Hashable {
  /// The maximum length of a server's NTLM challenge in bytes: 16 KiB. The challenges of Windows have a few hundred bytes.
  static let bytesMax = 16_384

  /// The NTLM negotiation flags (NegotiateFlags, MS-NLMP 2.2.2.5).
  struct Flags: OptionSet, Sendable, Hashable {
    let rawValue: UInt32
    static let unicode = Flags(rawValue: 0x0000_0001)
    static let requestTarget = Flags(rawValue: 0x0000_0004)
    static let ntlm = Flags(rawValue: 0x0000_0200)
    static let alwaysSign = Flags(rawValue: 0x0000_8000)
    static let extendedSessionSecurity = Flags(rawValue: 0x0008_0000)
    static let targetInfo = Flags(rawValue: 0x0080_0000)
    static let version = Flags(rawValue: 0x0200_0000)
    static let key128 = Flags(rawValue: 0x2000_0000)
    static let key56 = Flags(rawValue: 0x8000_0000)
  }

  let flags: Flags
  /// The 8-byte nonce in the server's NTLM challenge (ServerChallenge).
  let nonce: [UInt8]
  /// The attributes in the target information of the server's challenge, in the order received, without the final `endOfList`.
  let attributes: [NTLMAttribute]
  /// The bytes of the server's challenge as received, from which the client computes its message integrity code (MIC).
  let message: [UInt8]

  // Signature (8), MessageType (4), TargetNameFields (8), NegotiateFlags (4), ServerChallenge (8), Reserved (8),
  // TargetInfoFields (8), Version (8), Payload
  /// Parses the server's CHALLENGE_MESSAGE.
  init(_ message: [UInt8]) throws(NTLMError) {
    guard message.count <= Self.bytesMax else { throw .tooLong }
    guard message.count >= 48, message.starts(with: NTLMMessage.signature), message.littleEndianWord(at: 8) == 2 else {
      throw .malformed("header")
    }
    flags = Flags(rawValue: message.littleEndianWord(at: 20))
    // Without extended session security, the server would compute NTLMv1. NTLMv2 also requires the target information.
    guard flags.isSuperset(of: [.unicode, .extendedSessionSecurity, .targetInfo]) else { throw .versionIsTooOld }
    nonce = Array(message[24..<32])
    attributes = try NTLMAttribute.list(in: Self.field(at: 40, of: message))
    self.message = message
  }

  // Len (2), MaxLen (2), BufferOffset (4)
  private static func field(at position: Int, of message: [UInt8]) throws(NTLMError) -> ArraySlice<UInt8> {
    let length = Int(message.littleEndianHalf(at: position))
    let offset = Int(message.littleEndianWord(at: position + 4))
    guard offset >= 48, offset <= message.count, length <= message.count - offset else {
      throw .malformed("target information")
    }
    return message[offset..<offset + length]
  }
}

// AV_PAIR: AvId (2), AvLen (2), Value
/// An attribute (AV_PAIR) of the target information in the server's NTLM challenge.
struct NTLMAttribute: Sendable, Hashable {
  static let endOfList: UInt16 = 0
  static let flags: UInt16 = 6
  static let timestamp: UInt16 = 7
  static let targetName: UInt16 = 9
  static let channelBindings: UInt16 = 10

  let identifier: UInt16
  let value: [UInt8]

  /// Parses a list of NTLM attributes, which must end with `endOfList`. Ignores bytes after the list.
  static func list(in bytes: ArraySlice<UInt8>) throws(NTLMError) -> [NTLMAttribute] {
    var rest = Array(bytes)[...]
    var attributes: [NTLMAttribute] = []
    while rest.count >= 4 {
      let header = Array(rest.prefix(4))
      let (identifier, length) = (header.littleEndianHalf(at: 0), Int(header.littleEndianHalf(at: 2)))
      if identifier == endOfList { return attributes }
      rest = rest.dropFirst(4)
      guard length <= rest.count else { throw .malformed("attribute") }
      // A timestamp is a FILETIME, which has 8 bytes.
      guard identifier != timestamp || length == 8 else { throw .malformed("timestamp") }
      attributes.append(NTLMAttribute(identifier: identifier, value: Array(rest.prefix(length))))
      rest = rest.dropFirst(length)
    }
    throw .malformed("end of the attributes")
  }

  /// Encodes a list of NTLM attributes, and appends `endOfList`.
  static func encode(_ attributes: [NTLMAttribute]) -> [UInt8] {
    var bytes: [UInt8] = []
    for attribute in attributes + [NTLMAttribute(identifier: endOfList, value: [])] {
      bytes.append(littleEndian: attribute.identifier)
      bytes.append(littleEndian: UInt16(attribute.value.count))
      bytes += attribute.value
    }
    return bytes
  }
}
