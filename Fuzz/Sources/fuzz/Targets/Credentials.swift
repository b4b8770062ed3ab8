// Answers to challenges of Digest, NTLM and Negotiate.

@testable import LupineAuthentication
@testable import LupineLogin
@testable import LupineTLS
@testable import LupineURLSession
@testable import LupineWire
import Synchronization

extension FuzzTarget {
  /// Fuzzes Digest authentication. The lines of the input are a user name, and the values of WWW-Authenticate and
  /// Authentication-Info.
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

  /// Fuzzes the parser of NTLM messages. The input is a CHALLENGE_MESSAGE of the server.
  static let ntlm = FuzzTarget(
    name: "ntlm", summary: "an accepted NTLM challenge is answered with a message whose parts lie within it"
  ) { bytes in
    var handshake = NTLMHandshake()
    _ = handshake.start()
    let parameters = NTLMHandshake.Context(
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

  /// Fuzzes the handshakes of NTLM and Negotiate. If the first line begins with `n`, it selects NTLM, and otherwise Negotiate. The
  /// first byte of each other line selects an event: `p` prepares a request, `m` reports that the request's connection is missing,
  /// `r` is a response with 401, and `s` is any other response. For `r` and `s`, the rest of the line is the value of
  /// WWW-Authenticate.
  static let handshake = FuzzTarget(
    name: "handshake",
    summary: "no server keeps a handshake going, or is accepted by Negotiate without proof of its identity"
  ) { bytes in
    let lines = Input(bytes).lines
    let isNTLM = lines[0].first == UInt8(ascii: "n")
    let isProven = Proof()
    let sources = AuthenticationSources(
      bytes: { [UInt8](repeating: 1, count: 8) }, time: { 0 }, context: { _, _ in ServersChoice(isProven) })
    var session = SessionLogins(sources)
    var authentication = ConnectionAuthentication()
    let login = Login(
      party: .origin(Origin(scheme: .https, host: "h.test", port: 443)), scheme: isNTLM ? .ntlm : .negotiate,
      credential: PasswordCredential(user: isNTLM ? "u" : "", password: ""))
    authentication.begin(login, &session)
    var (hasSentMessage, resendCount) = (false, 0)
    for line in lines.dropFirst() {
      let challenges = Challenge.parse(String(decoding: line.dropFirst(), as: UTF8.self))
      let resends: Bool
      switch line.first {
      case UInt8(ascii: "p"):
        var step = authentication.prepare(isPassedOn: true, certificate: nil, &session)
        if case .start(var handshake, let binding) = step {
          let message = Result { () throws(ConnectionHandshake.Failure) in try handshake.first(binding, sources) }
          step = authentication.started(handshake, message)
        }
        let value: String? = if case .add(let additions) = step { additions?.value } else { nil }
        hold(value?.hasPrefix(isNTLM ? "NTLM " : "Negotiate ") ?? true, value ?? "")
        hasSentMessage = value != nil
        continue
      case UInt8(ascii: "m"): resends = authentication.connectionIsMissing()
      case UInt8(ascii: "r"): resends = authentication.resends(after: challenges, sources)
      case UInt8(ascii: "s"):
        let verdict = authentication.receiveSuccess(challenges: challenges)
        resends = verdict == .resend
        hold(
          verdict != .trusted || !hasSentMessage || isNTLM || isProven.value.load(ordering: .relaxed),
          "a server was accepted without proof of its identity")
      default: continue
      }
      hasSentMessage = false
      if resends { resendCount += 1 }
    }
    // There are up to two handshakes, because the second one is attempted on a new connection.
    hold(resendCount <= 2 * (NegotiateHandshake.stepsMax + 2), "\(resendCount) requests")
  }
}

/// A flag that is set when the server has proven its identity.
private final class Proof: Sendable {
  let value = Atomic(false)
}

/// A security context in which the first byte of each server token selects the next step.
private struct ServersChoice: SecurityContext {
  private let isProven: Proof

  init(_ isProven: Proof) {
    self.isProven = isProven
    isProven.value.store(false, ordering: .relaxed)
  }

  mutating func step(_ token: [UInt8]?) throws(SecurityContextError) -> SecurityContextStep {
    guard let token else { return .proceed([1]) }
    switch token.first {
    case 1: return .proceed([1])
    case 2, 3:
      isProven.value.store(true, ordering: .relaxed)
      return .established(token.first == 2 ? [2] : nil, isMutual: true)
    case 4: return .established(nil, isMutual: false)
    default: throw SecurityContextError("defective token")
    }
  }
}
