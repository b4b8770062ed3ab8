// ChallengeTests: parsing of authentication challenges, including hostile ones, in time linear in their length.

import Testing

@testable import LupineWire

@Suite("Challenge", .timeLimit(.minutes(10)))
struct ChallengeTests {
  private func fields(_ lines: [String]) -> Fields {
    var fields = Fields()
    for line in lines { fields.append(name: "WWW-Authenticate", value: line) }
    fields.append(name: "Proxy-Authenticate", value: "Other")
    return fields
  }

  @Test("the parser splits each WWW-Authenticate field line into its challenges", arguments: ChallengeVector.all)
  func vectors(_ vector: ChallengeVector) {
    #expect(fields(vector.lines).challenges("www-authenticate") == vector.challenges)
    if vector.lines.count == 1 { #expect(Challenge.parse(vector.lines[0]) == vector.challenges) }
  }

  @Test("a challenge field line that is cut off at any byte yields the first schemes of the complete line")
  func prefixes() {
    for line in ChallengeVector.all.flatMap(\.lines) {
      let schemes = Challenge.parse(line).map(\.scheme)
      for length in 0..<line.utf8.count {
        let some = Challenge.parse(String(decoding: line.utf8.prefix(length), as: UTF8.self)).map(\.scheme)
        // The last scheme may have been found in an incomplete scheme, in a parameter name without its "=", or in a token68 of the
        // previous challenge.
        #expect(schemes.starts(with: some.dropLast()), "\(length) bytes of \(line)")
      }
    }
  }

  @Test(
    "looking up a challenge's scheme or parameter ignores case, and returns the first of several equal parameters")
  func lookup() {
    let challenge = Challenge.parse("bAsIc REALM=\"a\", realm=\"b\"")[0]
    #expect(challenge.isOf(scheme: "Basic") && !challenge.isOf(scheme: "Basi") && !challenge.isOf(scheme: "Basic2"))
    #expect(challenge.realm == "a" && challenge.parameter("Realm") == "a" && challenge.parameter("rea") == nil)
    #expect(Challenge(scheme: "Foo", content: .token68("realm=")).realm == nil)
  }

  @Test("the challenge parser drops authentication challenges and parameters that exceed the limits")
  func limits() {
    let schemes = (0..<100).map { "s\($0) a=b" }
    let kept = schemes.prefix(Limits.challengesMax).map { String($0.prefix { $0 != " " }) }
    #expect(Challenge.parse(schemes.joined(separator: ", ")).map(\.scheme) == kept)
    #expect(fields(schemes).challenges("WWW-Authenticate").map(\.scheme) == kept)
    let twoLines = [schemes[..<10], schemes[10...]].map { $0.joined(separator: ", ") }
    #expect(fields(twoLines).challenges("WWW-Authenticate").map(\.scheme) == kept)

    let parameters = (0..<100).map { "p\($0)=v" }.joined(separator: ",")
    let challenges = Challenge.parse("One \(parameters), Two realm=x")
    #expect(challenges.map(\.scheme) == ["One", "Two"])
    guard case .parameters(let parameters) = challenges[0].content else {
      Issue.record("the challenge has no parameters")
      return
    }
    #expect(parameters.map(\.name) == (0..<Limits.challengeParametersMax).map { "p\($0)" })
    #expect(challenges[1].realm == "x")
  }

  @Test(
    "parsing a hostile challenge field line takes time linear in the line's length",
    arguments: [
      (",", 10_000, 0), ("a", 65_536, 1), ("\"", 65_535, 0), ("\"", 65_536, 0), ("=", 65_536, 0), ("\u{0}", 65_536, 0),
      ("\\", 65_536, 0), (" ", 65_536, 0), ("\"\\", 32_768, 0), ("a ", 32_768, 16), ("a b", 21_845, 16),
      ("a/", 32_768, 16), ("a =", 21_845, 0), ("a=\"", 21_845, 0), ("Basic realm=\"x", 4_681, 16),
      ("a b/", 16_384, 16), ("é", 32_768, 0),
    ])
  func hostile(piece: String, count: Int, challengeCount: Int) {
    let line = String(repeating: piece, count: count)
    // A parser that backtracks would need minutes.
    #expect(Challenge.parse(line).count == challengeCount)
  }
}

@Suite("BasicCredentials")
struct BasicCredentialsTests {
  @Test(
    "a user name and a password are encoded as the value of a Basic Authorization field",
    arguments: [
      // The examples of RFC 7617 §2 and §2.1.
      ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), ("test", "123£", "Basic dGVzdDoxMjPCow=="),
      ("", "", "Basic Og=="), ("a", "", "Basic YTo="), ("a", "b:c", "Basic YTpiOmM="), ("a:b", "c", nil),
      (":", "", nil),
    ] as [(String, String, String?)])
  func value(user: String, password: String, value: String?) {
    #expect(BasicCredentials.fieldValue(user: user, password: password) == value)
  }

  @Test(
    "the Base64 encoder pads input whose length isn't a multiple of three bytes",
    // The test vectors of RFC 4648 §10.
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
      ("foobar", "Zm9vYmFy"),
    ])
  func base64(text: String, encoded: String) {
    #expect(Base64.encode(Array(text.utf8)) == encoded)
    #expect(Base64.decode(encoded) == Array(text.utf8))
    #expect(Base64.decode(String(encoded.prefix { $0 != "=" })) == Array(text.utf8))
  }

  @Test(
    "the Base64 decoder refuses text that isn't valid Base64",
    arguments: ["A", "AAAAA", "AB", "AAB", "A-", "A A", "=A"])
  func malformedBase64(text: String) {
    #expect(Base64.decode(text) == nil)
  }

  @Test("the Base64 encoder encodes every byte with the alphabet of RFC 4648 §4")
  func alphabet() {
    let bytes: [UInt8] = [0xFB, 0xEF, 0xBE, 0xFF, 0xFF, 0xFF, 0, 0, 0]
    #expect(Base64.encode(bytes) == "++++////AAAA" && Base64.decode("++++////AAAA") == bytes)
  }
}
