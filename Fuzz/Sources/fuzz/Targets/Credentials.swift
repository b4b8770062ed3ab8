// Answers to challenges of Digest and NTLM.

@testable import LupineAuthentication
@testable import LupineTLS
@testable import LupineWire

extension FuzzTarget {
  /// The input consists of a user name and the values of WWW-Authenticate and Authentication-Info, one per line.
  static let digest = FuzzTarget(
    name: "digest", summary: "a Digest challenge is answered with its own realm, nonce and opaque, each parameter once"
  ) { bytes in
    let lines = Input(bytes).lines.map { String(decoding: $0, as: UTF8.self) }
    let offers = AuthenticationOffer.ranked(Challenge.parse(lines.count > 1 ? lines[1] : ""))
    for (stronger, weaker) in zip(offers, offers.dropFirst()) {
      hold(stronger.scheme >= weaker.scheme, "\(offers) aren't sorted")
    }
    let credential = PasswordCredential(user: lines[0], password: "secret-word")
    for challenge in offers.compactMap(\.digest) {
      guard var session = try? DigestSession(challenge, credential: credential),
        let proof = try? session.proof(
          method: "GET", target: "/x?\"y\\", clientNonce: "c", contentHash: { $0.hash([]) })
      else { continue }
      check(proof.fieldValue, answers: challenge)
      let information = DigestInformation(lines.count > 2 ? lines[2] : "")
      let verdict = proof.verify(information) { [] }
      hold((verdict == .unproven) == (information.responseProof == nil), "\(information) is \(verdict)")
      if let next = information.nextNonce { session.adopt(next, announcedFor: proof) }
    }
  }

  private static func check(_ value: String, answers challenge: DigestChallenge) {
    let written = Challenge.parse(value)
    guard written.count == 1, case .parameters(let parameters) = written[0].content else {
      return hold(false, "\(value.debugDescription) reads as \(written)")
    }
    hold(written[0].scheme == "Digest" && !value.contains("secret-word"), value)
    let names = parameters.map(\.name)
    hold(Set(names).count == names.count, "\(names)")
    let expected = [
      "realm": challenge.realm, "nonce": challenge.nonce, "opaque": challenge.opaque, "uri": "/x?\"y\\",
    ]
    for (name, text) in expected {
      hold(written[0].parameter(name) == text, "\(name) of \(challenge) is \(written[0].parameter(name) ?? "missing")")
    }
  }

  /// The input is the server's CHALLENGE_MESSAGE.
  static let ntlm = FuzzTarget(
    name: "ntlm", summary: "an accepted NTLM challenge is answered with a message whose parts lie within it"
  ) { bytes in
    var handshake = NTLMHandshake()
    _ = handshake.start()
    let parameters = NTLMHandshake.Parameters(
      credential: PasswordCredential(user: "D\\u", password: "p"), host: "h", binding: nil, time: 0,
      nonce: [UInt8](repeating: 1, count: 8))
    guard let message = try? handshake.answer(bytes, with: parameters), let challenge = try? NTLMChallenge(bytes) else {
      return
    }
    let list = NTLMAttribute.encode(challenge.attributes)
    hold((try? NTLMAttribute.list(in: list[...])) == challenge.attributes, "\(challenge.attributes)")
    var end = NTLMMessage.integrityCodePosition + 16
    for position in stride(from: 12, to: 60, by: 8) {
      hold(Int(message.littleEndianWord(at: position + 4)) == end, "a part of \(shown(message)) isn't after the others")
      end += Int(message.littleEndianHalf(at: position))
    }
    hold(end == message.count, "\(shown(message)) ends at \(end)")
    hold(message[end - 4..<end] == [0x44, 0, 0x75, 0][...], "\(shown(message)) doesn't end with the names")
  }
}
