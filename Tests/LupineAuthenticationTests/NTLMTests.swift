// NTLMTests: NTLMv2 responses, messages and hostile challenges (MS-NLMP 2.2, 3.1.5, 4.2).

import LupineTLS
import Testing

@testable import LupineAuthentication

@Suite("NTLM", .timeLimit(.minutes(10)))
struct NTLMTests {
  @Test(
    "the MD4 function returns the hashes of the test suite in RFC 1320 §A.5",
    arguments: [
      ("", "31d6cfe0d16ae931b73c59d7e0c089c0"), ("a", "bde52cb31de33e46245e05fbdbd6fb24"),
      ("abc", "a448017aaf21d8525fc10ae87aa6729d"), ("message digest", "d9130a8164549fe818874806e1c7014b"),
      ("abcdefghijklmnopqrstuvwxyz", "d79e1c308aa5bbcdeea8ed63df412da9"),
      (
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "043f8582f241db351ce627e153e7f0e4"
      ),
      (
        "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
        "e33b4ddc9c38f2199c3e7b164fcc0536"
      ),
    ])
  func md4(text: String, hash: String) {
    #expect(hex(MD4.hash(Array(text.utf8))) == hash)
  }

  // MARK: The example of MS-NLMP 4.2.4

  private static let serverNonce: [UInt8] = [0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF]
  private static let clientNonce = [UInt8](repeating: 0xAA, count: 8)
  private static let targetInformation = NTLMAttribute.encode([
    NTLMAttribute(identifier: 2, value: NTLMMessage.utf16("Domain")),
    NTLMAttribute(identifier: 1, value: NTLMMessage.utf16("Server")),
  ])

  @Test("the NTLMv2 values computed for the example in MS-NLMP 4.2.4 equal the published values")
  func publishedResponse() throws {
    let key = try NTLMResponse.key(user: "User", domain: "Domain", password: "Password")
    #expect(hex(key) == "0c868a403bfd7a93a3001ef22ef02e3f")
    let response = try NTLMResponse(
      key: key, serverNonce: Self.serverNonce, clientNonce: Self.clientNonce, time: 0,
      targetInformation: Self.targetInformation)
    #expect(hex(response.sessionKey) == "8de40ccadbc14a82f15cb0ad0de95ca3")
    #expect(
      hex(response.bytes)
        == "68cd0ab851e51c96aabc927bebef6a1c" + "01010000000000000000000000000000aaaaaaaaaaaaaaaa00000000"
        + "02000c0044006f006d00610069006e0001000c005300650072007600650072000000000000000000")
  }

  @Test("NTLM converts the user name to uppercase character by character, and keeps the domain and password unchanged")
  func upperCase() throws {
    let keys = try ["straße", "STRAßE"].map { try NTLMResponse.key(user: $0, domain: "d", password: "p") }
    #expect(keys[0] == keys[1])
    #expect(try NTLMResponse.key(user: "STRASSE", domain: "d", password: "p") != keys[0])
    #expect(try NTLMResponse.key(user: "straße", domain: "D", password: "p") != keys[0])
  }

  // MARK: Messages

  /// Returns the bytes of an NTLM challenge message. Some tests damage these bytes.
  private func challenge(
    flags: UInt32 = 0xA288_8205, attributes: [NTLMAttribute] = [NTLMAttribute(identifier: 2, value: [0x44, 0])]
  ) -> [UInt8] {
    let information = NTLMAttribute.encode(attributes)
    var message = NTLMMessage.signature
    message.append(littleEndian: UInt32(2))
    message += [0, 0, 0, 0, 56, 0, 0, 0]
    message.append(littleEndian: flags)
    message += Self.serverNonce + [UInt8](repeating: 0, count: 8)
    message.append(littleEndian: UInt16(information.count))
    message.append(littleEndian: UInt16(information.count))
    message.append(littleEndian: UInt32(56))
    message += [10, 0, 0, 0, 0, 0, 0, 15]
    return message + information
  }

  private func parameters(
    user: String = "Domain\\User", host: String = "h.example", binding: ChannelBinding? = nil
  ) -> NTLMHandshake.Context {
    NTLMHandshake.Context(
      credential: PasswordCredential(user: user, password: "Password"), host: host, binding: binding,
      time: 0x0102_0304_0506_0708, nonce: Self.clientNonce)
  }

  /// Returns the payload in an NTLM AUTHENTICATE message whose length and offset are stored at `position`.
  private func payload(at position: Int, of message: [UInt8]) -> [UInt8] {
    let offset = Int(message.littleEndianWord(at: position + 4))
    return Array(message[offset..<offset + Int(message.littleEndianHalf(at: position))])
  }

  @Test("the client's first NTLM message requests NTLMv2, and contains neither a domain nor a workstation")
  func first() {
    var handshake = NTLMHandshake()
    #expect(
      hex(handshake.start())
        == "4e544c4d53535000" + "01000000" + "058288a2" + "0000000000000000" + "0000000000000000" + "0a0000000000000f")
  }

  @Test("the client's last NTLM message has the NTLMv2 response, an LM response of zeros, and a valid integrity code")
  func last() throws {
    let time = NTLMAttribute(identifier: NTLMAttribute.timestamp, value: [1, 2, 3, 4, 5, 6, 7, 8])
    let replaced = [NTLMAttribute.flags, NTLMAttribute.channelBindings, NTLMAttribute.targetName].map {
      NTLMAttribute(identifier: $0, value: [1, 0, 0, 0])
    }
    let server = challenge(attributes: [NTLMAttribute(identifier: 2, value: [0x44, 0]), time] + replaced)
    var handshake = NTLMHandshake()
    let first = handshake.start()
    var last = try handshake.answer(server, with: parameters())
    #expect(last.starts(with: NTLMMessage.signature) && last.littleEndianWord(at: 8) == 3)
    #expect(payload(at: 12, of: last) == [UInt8](repeating: 0, count: 24))
    #expect(payload(at: 28, of: last) == NTLMMessage.utf16("Domain"))
    #expect(payload(at: 36, of: last) == NTLMMessage.utf16("User"))
    #expect(payload(at: 44, of: last).isEmpty && payload(at: 52, of: last).isEmpty)
    #expect(last.littleEndianWord(at: 60) == 0xA288_8205)

    // The NTLMv2 proof is computed over the server's time and all attributes, including those that the client adds.
    let response = payload(at: 20, of: last)
    let key = try NTLMResponse.key(user: "User", domain: "Domain", password: "Password")
    let proof = try NTLMResponse.code(Self.serverNonce + response[16...], key: key)
    #expect(Array(response.prefix(16)) == proof && Array(response[24..<32]) == time.value)
    let attributes = try NTLMAttribute.list(in: response[44...])
    #expect(attributes.map(\.identifier) == [2, 7, 6, 10, 9])
    // The server's flag 1 remains set.
    #expect(attributes[2].value == [3, 0, 0, 0] && attributes[3].value == [UInt8](repeating: 0, count: 16))
    #expect(attributes[4].value == NTLMMessage.utf16("HTTP/h.example"))

    let code = Array(last[72..<88])
    last.replaceSubrange(72..<88, with: [UInt8](repeating: 0, count: 16))
    #expect(try NTLMResponse.code(first + server + last, key: try NTLMResponse.code(proof, key: key)) == code)
  }

  @Test("NTLM uses the client's time if the server sends none, and an empty domain for a user name with @")
  func ownTime() throws {
    var handshake = NTLMHandshake()
    _ = handshake.start()
    let last = try handshake.answer(challenge(), with: parameters(user: "me@d.example"))
    #expect(Array(payload(at: 20, of: last)[24..<32]) == [8, 7, 6, 5, 4, 3, 2, 1])
    #expect(payload(at: 28, of: last).isEmpty && payload(at: 36, of: last) == NTLMMessage.utf16("me@d.example"))
    let attributes = try NTLMAttribute.list(in: payload(at: 20, of: last)[44...])
    #expect(attributes.first { $0.identifier == NTLMAttribute.flags }?.value == [2, 0, 0, 0])
  }

  @Test("over TLS, the client's last NTLM message contains the hash of the channel binding (RFC 5929 §4)")
  func channelBinding() throws {
    let binding = try #require(ChannelBinding(serverCertificate: CertificateVectors.sha256))
    let hash = try #require(MessageDigest.sha256.hash(CertificateVectors.sha256))
    #expect(binding.applicationData == Array("tls-server-end-point:".utf8) + hash)
    var handshake = NTLMHandshake()
    _ = handshake.start()
    let response = payload(at: 20, of: try handshake.answer(challenge(), with: parameters(binding: binding)))
    let bound = try NTLMAttribute.list(in: response[44...]).first { $0.identifier == NTLMAttribute.channelBindings }
    let structure = [UInt8](repeating: 0, count: 16) + [53, 0, 0, 0] + binding.applicationData
    #expect(bound?.value == MessageDigest.md5.hash(structure))
  }

  // MARK: Refusals

  @Test(
    "the NTLM handshake fails if the server doesn't support NTLMv2",
    arguments: [0xA280_8205, 0xA288_8204, 0xA208_8205] as [UInt32])
  func oldVersions(flags: UInt32) {
    var handshake = NTLMHandshake()
    _ = handshake.start()
    #expect(throws: NTLMError.versionIsTooOld) { try handshake.answer(challenge(flags: flags), with: parameters()) }
  }

  @Test(
    "in an NTLM handshake, a 401 without a challenge is an error, and a second challenge means a refused credential")
  func order() throws {
    var handshake = NTLMHandshake()
    #expect(throws: NTLMError.refused) { try handshake.answer(challenge(), with: parameters()) }
    _ = handshake.start()
    #expect(throws: NTLMError.noChallenge) { try handshake.answer(nil, with: parameters()) }
    _ = try handshake.answer(challenge(), with: parameters())
    #expect(throws: NTLMError.refused) { try handshake.answer(challenge(), with: parameters()) }
  }

  @Test(
    "the client refuses an NTLM message with invalid lengths or offsets",
    arguments: [
      (40, [0xFF, 0xFF], "target information"), (44, [0xFF, 0xFF, 0xFF, 0xFF], "target information"),
      (44, [47, 0, 0, 0], "target information"), (44, [57, 0, 0, 0], "target information"), (8, [3], "header"),
      (0, [0], "header"),
      (58, [3, 0], "end of the attributes"), (58, [7, 0], "attribute"), (58, [0xFF, 0xFF], "attribute"),
      (40, [6, 0], "end of the attributes"),
      (40, [0, 0], "end of the attributes"), (56, [7], "timestamp"),
    ] as [(Int, [UInt8], String)])
  func falseFields(position: Int, bytes: [UInt8], part: String) {
    var message = challenge()
    message.replaceSubrange(position..<position + bytes.count, with: bytes)
    #expect(throws: NTLMError.malformed(part)) { try NTLMChallenge(message) }
  }

  @Test("the client refuses an NTLM challenge that is truncated, or longer than the limit")
  func truncation() throws {
    let message = challenge()
    for length in message.indices {
      #expect(throws: NTLMError.self) { try NTLMChallenge(Array(message.prefix(length))) }
    }
    let longest = message + [UInt8](repeating: 0, count: NTLMChallenge.bytesMax - message.count)
    #expect(try NTLMChallenge(longest).message == longest)
    #expect(throws: NTLMError.tooLong) { try NTLMChallenge(longest + [0]) }
  }

  @Test("the client refuses to send an NTLM message with a user name or a domain that is longer than the limit")
  func longNames() throws {
    let longest = String(repeating: "u", count: NTLMChallenge.bytesMax / 2)
    for user in [longest, longest + "\\u"] {
      var handshake = NTLMHandshake()
      _ = handshake.start()
      _ = try handshake.answer(challenge(), with: parameters(user: user))
    }
    for user in [longest + "u", longest + "u\\u"] {
      var handshake = NTLMHandshake()
      _ = handshake.start()
      #expect(throws: NTLMError.tooLong) { try handshake.answer(challenge(), with: parameters(user: user)) }
    }
  }

  @Test(
    "the client refuses to send an NTLM message for a host whose name is longer than the limit",
    arguments: [8_188, 40_000])
  func longHost(length: Int) throws {
    var handshake = NTLMHandshake()
    _ = handshake.start()
    let host = String(repeating: "h", count: length)
    #expect(throws: NTLMError.tooLong) { try handshake.answer(challenge(), with: parameters(host: host)) }
  }
}
