// ChallengeVectors: the table of challenges, with the field lines that servers send (RFC 9110 §11).

import LupineWire
import Testing

/// The field lines of a WWW-Authenticate or Proxy-Authenticate field, and the expected challenges.
struct ChallengeVector: Sendable, CustomTestStringConvertible {
  let lines: [String]
  let challenges: [Challenge]

  init(_ lines: String..., gives challenges: Challenge...) {
    self.lines = lines
    self.challenges = challenges
  }

  var testDescription: String { lines.joined(separator: " | ") }

  static let all: [ChallengeVector] = [
    // Challenges that conform to the grammar.
    ChallengeVector("Basic realm=\"simple\"", gives: .of("Basic", ("realm", "simple"))),
    ChallengeVector(
      "Basic realm=\"foo\", charset=\"UTF-8\"", gives: .of("Basic", ("realm", "foo"), ("charset", "UTF-8"))),
    ChallengeVector("Negotiate", gives: .of("Negotiate")),
    ChallengeVector("Negotiate oRswGaADCg==", gives: .of("Negotiate", token68: "oRswGaADCg==")),
    ChallengeVector("Foo a-b.c_d~e+f/g", gives: .of("Foo", token68: "a-b.c_d~e+f/g")),
    // The example in RFC 9110 §11.6.1, and the same challenges in reverse order.
    ChallengeVector(
      "Basic realm=\"simple\", Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\"",
      gives: .of("Basic", ("realm", "simple")),
      .of("Newauth", ("realm", "apps"), ("type", "1"), ("title", "Login to \"apps\""))),
    ChallengeVector(
      "Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\", Basic realm=\"simple\"",
      gives: .of("Newauth", ("realm", "apps"), ("type", "1"), ("title", "Login to \"apps\"")),
      .of("Basic", ("realm", "simple"))),
    // Several field lines with the same name.
    ChallengeVector(
      "Negotiate", "NTLM", "Basic realm=\"a, Digest b\"",
      gives: .of("Negotiate"), .of("NTLM"), .of("Basic", ("realm", "a, Digest b"))),
    ChallengeVector("Basic", "realm=\"of the line before\"", gives: .of("Basic")),
    // Empty lines and superfluous commas.
    ChallengeVector(gives: []),
    ChallengeVector("", gives: []),
    ChallengeVector(", ,\t,", gives: []),
    ChallengeVector(",,Basic,,realm=x,,,a=b,", gives: .of("Basic", ("realm", "x"), ("a", "b"))),
    ChallengeVector("Negotiate,Basic", gives: .of("Negotiate"), .of("Basic")),
    ChallengeVector("Negotiate oRswGaADCg== ,Basic", gives: .of("Negotiate", token68: "oRswGaADCg=="), .of("Basic")),
    ChallengeVector(
      "Basic realm=\"a,b\",Basic realm=\"c\"", gives: .of("Basic", ("realm", "a,b")), .of("Basic", ("realm", "c"))),
    // White space around "=", names in any letter case, and unquoted values.
    ChallengeVector(
      "DIGEST Realm = x , NONCE=\t\"y\"  ,qop=auth,Basic realm=z",
      gives: .of("DIGEST", ("Realm", "x"), ("NONCE", "y"), ("qop", "auth")), .of("Basic", ("realm", "z"))),
    ChallengeVector("Basic realm=/private/ü", gives: .of("Basic", ("realm", "/private/ü"))),
    ChallengeVector("Basic realm=\"\"", gives: .of("Basic", ("realm", ""))),
    ChallengeVector("Basic realm=\"a\", realm=\"b\"", gives: .of("Basic", ("realm", "a"), ("realm", "b"))),
    // A token68 that looks like a parameter, and a parameter that looks like a token68.
    ChallengeVector("Foo bar", gives: .of("Foo", token68: "bar")),
    ChallengeVector("Foo realm=", gives: .of("Foo", token68: "realm=")),
    ChallengeVector("Foo bar==, a=b", gives: .of("Foo", token68: "bar==")),
    ChallengeVector("Foo a=b", gives: .of("Foo", ("a", "b"))),
    // Mistakes that real servers make.
    ChallengeVector("Basic", gives: .of("Basic")),
    ChallengeVector("basic  realm=x", gives: .of("basic", ("realm", "x"))),
    ChallengeVector(
      "Basic realm=\"a\" Digest realm=\"b\" nonce=c", gives: .of("Basic", ("realm", "a")),
      .of("Digest", ("realm", "b"), ("nonce", "c"))),
    ChallengeVector("NTLM Basic realm=\"x\"", gives: .of("NTLM"), .of("Basic", ("realm", "x"))),
    ChallengeVector("Basic; realm=\"x\"", gives: .of("Basic", ("realm", "x"))),
    ChallengeVector("Basic realm=\"x\"y", gives: .of("Basic", ("realm", "x")), .of("y")),
    ChallengeVector("realm=\"nobody's\", Basic", gives: .of("Basic")),
    ChallengeVector("\"Basic realm=x\", Digest", gives: .of("Digest")),
    ChallengeVector("=, Basic realm=x", gives: .of("Basic", ("realm", "x"))),
    // Quoted strings without a closing quotation mark, some of which end with an escape.
    ChallengeVector("Basic realm=\"unfinished, Digest x", gives: .of("Basic", ("realm", "unfinished, Digest x"))),
    ChallengeVector("Basic realm=\"", gives: .of("Basic", ("realm", ""))),
    ChallengeVector("Basic realm=\"a\\", gives: .of("Basic", ("realm", "a\\"))),
    ChallengeVector("Basic realm=\"a\\\"", gives: .of("Basic", ("realm", "a\""))),
    ChallengeVector("Basic realm=\"unfinished", "Digest", gives: .of("Basic", ("realm", "unfinished")), .of("Digest")),
    // The parser of heads refuses NUL. Here, NUL is only a separator or a character of a quoted string.
    ChallengeVector("Basic\u{0}realm=\"a\u{0}b\"", gives: .of("Basic", ("realm", "a\u{0}b"))),
  ]
}

extension ChallengeVector {
  init(_ lines: String..., gives challenges: [Challenge]) {
    self.lines = lines
    self.challenges = challenges
  }
}

extension Challenge {
  fileprivate static func of(_ scheme: String, _ parameters: (String, String)...) -> Challenge {
    Challenge(scheme: scheme, content: .parameters(parameters.map { Parameter(name: $0.0, value: $0.1) }))
  }

  fileprivate static func of(_ scheme: String, token68: String) -> Challenge {
    Challenge(scheme: scheme, content: .token68(token68))
  }
}
