// Challenges in WWW-Authenticate and Proxy-Authenticate.

@testable import LupineWire

extension FuzzTarget {
  /// Fuzzes the parser of authentication challenges. The input is the value of a WWW-Authenticate field.
  static let challenges = FuzzTarget(
    name: "challenges", summary: "challenges written strictly are parsed to the same challenges, within the limits"
  ) { bytes in
    let challenges = Challenge.parse(String(decoding: bytes, as: UTF8.self))
    hold(challenges.count <= Limits.challengesMax, "\(challenges.count) challenges")
    for challenge in challenges { check(challenge) }
    let written = challenges.map(write).joined(separator: ", ")
    let again = Challenge.parse(written)
    hold(again == challenges, "\(challenges) written as \(written.debugDescription) reads as \(again)")

    // Several field lines that are parsed together must yield the challenges of the lines parsed one by one, up to the limit.
    var fields = Fields()
    let lines = bytes.split(separator: 0x0A).prefix(20)
    for line in lines { fields.append(name: "www-authenticate", valueBytes: Array(line)) }
    let expected = lines.flatMap { Challenge.parse(String(decoding: $0, as: UTF8.self)) }.prefix(Limits.challengesMax)
    hold(fields.challenges("WWW-Authenticate") == Array(expected), "lines differ from each line alone")
  }

  private static func check(_ challenge: Challenge) {
    hold(!challenge.scheme.isEmpty && challenge.scheme.utf8.allSatisfy(CharacterClass.token.contains), "\(challenge)")
    guard case .parameters(let parameters) = challenge.content else { return }
    hold(parameters.count <= Limits.challengeParametersMax, "\(parameters.count) parameters")
    for parameter in parameters {
      hold(challenge.parameter(parameter.name.uppercased()) != nil, "\(parameter)")
    }
  }

  // challenge = auth-scheme [ 1*SP ( token68 / #auth-param ) ] (RFC 9110 §11.3)
  private static func write(_ challenge: Challenge) -> String {
    switch challenge.content {
    case .token68(let word): return "\(challenge.scheme) \(word)"
    case .parameters(let parameters):
      return challenge.scheme + " "
        + parameters.map { parameter in
          let value = parameter.value.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined()
          return "\(parameter.name)=\"\(value)\""
        }.joined(separator: ", ")
    }
  }
}
