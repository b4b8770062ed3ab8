// DigestTests: Digest challenges, their responses, nonces and the verification of servers (RFC 7616).

import LupineTLS
import LupineWire
import Testing

@testable import LupineAuthentication

/// Parses the value of a WWW-Authenticate field, and returns its first challenge as a Digest challenge.
func digestChallenge(_ line: String) throws -> DigestChallenge {
  try DigestChallenge(try #require(Challenge.parse(line).first))
}

extension DigestSession {
  /// Returns the Digest credentials for a `GET` request without content, by default for the target `/x`.
  fileprivate mutating func proof(clientNonce: String = "c", target: String = "/x") throws -> DigestProof {
    try proof(method: "GET", target: target, clientNonce: clientNonce) { _ in nil }
  }
}

extension DigestProof {
  fileprivate func parameter(_ name: String) -> String? { Challenge.parse(fieldValue).first?.parameter(name) }
}

@Suite("Digest", .timeLimit(.minutes(10)))
struct DigestTests {
  private let credential = PasswordCredential(user: "u", password: "p")

  private func session(_ line: String) throws -> DigestSession {
    try DigestSession(try digestChallenge(line), credential: credential)
  }

  @Test(
    "for each test challenge, the client computes the published Digest response, or the one that Python computed",
    arguments: DigestVector.all)
  func vectors(_ vector: DigestVector) throws {
    var session = try DigestSession(
      try digestChallenge(vector.challenge),
      credential: PasswordCredential(user: vector.user, password: vector.password))
    let proof = try session.proof(method: vector.method, target: vector.target, clientNonce: vector.clientNonce) {
      $0.hash(Array(vector.content.utf8))
    }
    let written = try #require(Challenge.parse(proof.fieldValue).first)
    guard case .parameters(let parameters) = written.content else {
      Issue.record("the credentials have no parameters")
      return
    }
    #expect(written.scheme == "Digest" && parameters.count == vector.parameters.count)
    #expect(Dictionary(uniqueKeysWithValues: parameters.map { ($0.name, $0.value) }) == vector.parameters)
  }

  @Test("the client quotes Digest parameters only where RFC 7616 §3.4 requires quotes")
  func quoting() throws {
    var session = try session(
      "Digest realm=\"a\\\"b\\\\\", nonce=n, algorithm=md5-SESS, qop=auth, opaque=\"\", userhash=TRUE")
    let user = try #require(MessageDigest.md5.hash(Array("u:a\"b\\".utf8)))
    let proof = try session.proof(target: "/\"")
    let response = try #require(proof.parameter("response"))
    #expect(
      proof.fieldValue == """
        Digest username="\(hex(user))", realm="a\\"b\\\\", uri="/\\"", algorithm=MD5-sess, nonce="n", nc=00000001, \
        cnonce="c", qop=auth, response="\(response)", opaque="", userhash=true
        """)
  }

  @Test(
    "the client quotes the Digest user name, or sends username* if the server supports UTF-8 or the name can't be quoted",
    arguments: [
      ("me", "", "username=\"me\""), ("m\"e\\", "", "username=\"m\\\"e\\\\\""), ("é", "", "username=\"é\""),
      ("é", ", charset=utf-8", "username*=UTF-8''%C3%A9"), ("me", ", charset=UTF-8", "username=\"me\""),
      ("a\r\nb: c", "", "username*=UTF-8''a%0D%0Ab%3A%20c"), ("\u{7F}'*%", "", "username*=UTF-8''%7F%27%2A%25"),
    ])
  func user(name: String, charset: String, parameter: String) throws {
    var session = try DigestSession(
      try digestChallenge("Digest realm=r, nonce=n, qop=auth\(charset)"),
      credential: PasswordCredential(user: name, password: "p"))
    #expect(try session.proof().fieldValue.hasPrefix("Digest \(parameter), realm="))
  }

  // MARK: Challenges

  @Test(
    "the Digest parser uses defaults for missing parameters, and ignores the case of parameter names and tokens")
  func defaults() throws {
    let minimal = try digestChallenge("digest REALM=r, Nonce=n")
    #expect(minimal.algorithm == DigestAlgorithm(.md5) && minimal.protection == .legacy && minimal.domain == [])
    #expect(!minimal.isStale && !minimal.hashesUser && minimal.opaque == nil)
    for empty in ["\"\"", "\" , \""] {
      #expect(try digestChallenge("Digest realm=r, nonce=n, qop=\(empty)").protection == .legacy)
    }
    let full = try digestChallenge(
      "Digest realm=\"\", nonce=\"\", domain=\" /a  http://b/c \", STALE=True, userhash=tRUE, opaque=o, qop=\"AUTH-INT\""
    )
    #expect(full.realm == "" && full.domain == ["/a", "http://b/c"] && full.isStale && full.hashesUser)
    #expect(full.opaque == "o" && full.protection == .content)
  }

  static let tooLong = String(repeating: "n", count: DigestChallenge.valueBytesMax + 1)

  @Test(
    "a Digest challenge that the client can't answer is refused with an error that states the reason",
    arguments: [
      ("Digest", .missing("realm")), ("Digest nonce=n", .missing("realm")), ("Digest realm=r", .missing("nonce")),
      ("Digest abc=", .missing("realm")), ("Digest realm=r, nonce=n, algorithm=SHA-512", .unknownAlgorithm),
      ("Digest realm=r, nonce=n, algorithm=\"\"", .unknownAlgorithm),
      ("Digest realm=r, nonce=n, qop=\"\", algorithm=SHA-256", .unknownProtection),
      ("Digest realm=r, nonce=n, qop=\"auth2,other\"", .unknownProtection),
      ("Digest realm=r, nonce=n, algorithm=SHA-256", .unknownProtection),
      ("Digest realm=r, nonce=n, algorithm=MD5-sess", .unknownProtection),
      ("Digest realm=r, nonce=\(tooLong)", .tooLong("nonce")), ("Digest nonce=n, realm=\(tooLong)", .tooLong("realm")),
      ("Digest realm=r, nonce=n, opaque=\(tooLong)", .tooLong("opaque")),
    ] as [(String, DigestChallenge.Defect)])
  func defects(line: String, defect: DigestChallenge.Defect) {
    #expect(throws: defect) { try digestChallenge(line) }
  }

  @Test("the client accepts a realm, nonces and an opaque value of exactly the maximum length")
  func longest() throws {
    let (text, next) = (String(Self.tooLong.dropLast()), String(repeating: "m", count: DigestChallenge.valueBytesMax))
    var session = try session("Digest realm=\(text), nonce=\(text), opaque=\(text), qop=auth")
    let first = try session.proof()
    for name in ["realm", "nonce", "opaque"] { #expect(first.parameter(name) == text) }
    session.adopt(next, announcedFor: first)
    #expect(try session.proof().parameter("nonce") == next)
  }

  @Test("if a Digest challenge's domain parameter lists more URIs than the limit, the client ignores the excess URIs")
  func domains() throws {
    let list = String(repeating: "/a ", count: 10_000)
    #expect(
      try digestChallenge("Digest realm=r, nonce=n, domain=\"\(list)\"").domain.count == DigestChallenge.domainCountMax)
  }

  @Test("if the server's only Digest qop is auth-int, the client refuses to send a body that it can't hash in advance")
  func unknownContent() throws {
    var session = try session("Digest realm=r, nonce=n, qop=auth-int")
    #expect(throws: DigestSession.Failure.contentIsUnknown) { try session.proof() }
  }

  // MARK: Nonces

  @Test(
    "the Digest nonce count (nc) increases with each request, and a -sess algorithm keeps the first client nonce")
  func counting() throws {
    var plain = try session("Digest realm=r, nonce=n, qop=auth, algorithm=SHA-256")
    #expect(try plain.proof(clientNonce: "c1").parameter("nc") == "00000001")
    let second = try plain.proof(clientNonce: "c2")
    #expect(second.parameter("nc") == "00000002" && second.parameter("cnonce") == "c2")
    #expect(second.parameter("response") == "120168370dd63533732a1e9b5f41e03c6713cb98f871abb57ab0e3d3e05ed08a")

    var keyed = try session("Digest realm=r, nonce=n, qop=auth, algorithm=MD5-sess")
    _ = try keyed.proof(clientNonce: "c")
    let next = try keyed.proof(clientNonce: "other")
    #expect(next.parameter("cnonce") == "c" && next.parameter("nc") == "00000002")
    #expect(next.parameter("response") == "5a5e3ece2a631536bfe9fc135284a3ae")
  }

  @Test("if the server sends a Digest nextnonce, the following request uses that nonce, with nonce count 1")
  func nextNonce() throws {
    var session = try session("Digest realm=r, nonce=n, qop=auth, algorithm=SHA-256")
    let first = try session.proof()
    session.adopt("n2", announcedFor: first)
    let second = try session.proof(clientNonce: "c3")
    #expect(second.parameter("nonce") == "n2" && second.parameter("nc") == "00000001")
    #expect(second.parameter("response") == "fe308f9ac2a44a6be289cdbe96aa4725dd1225adf8036a80700cc0abda7bffe8")
    // A later nextnonce for the first request doesn't replace the nonce that the second request has already used.
    session.adopt("n3", announcedFor: first)
    #expect(try session.proof().parameter("nonce") == "n2")
    // A nextnonce that repeats the current nonce doesn't restart its count.
    session.adopt("n2", announcedFor: second)
    #expect(try session.proof().parameter("nc") == "00000003")
    session.adopt(String(repeating: "n", count: DigestChallenge.valueBytesMax + 1), announcedFor: second)
    #expect(try session.proof().parameter("nonce") == "n2")
  }

  @Test("a new challenge replaces a Digest session's nonce only if the challenge has the session's realm and algorithm")
  func renewal() throws {
    var session = try session("Digest realm=r, nonce=n, qop=auth")
    _ = try session.proof()
    #expect(session.renew(with: try digestChallenge("Digest realm=r, nonce=n2, qop=auth, stale=true, opaque=o")))
    let proof = try session.proof()
    #expect(proof.parameter("nonce") == "n2" && proof.parameter("nc") == "00000001" && proof.parameter("opaque") == "o")
    for line in ["Digest realm=s, nonce=n3, qop=auth", "Digest realm=r, nonce=n3, qop=auth, algorithm=SHA-256"] {
      #expect(!session.renew(with: try digestChallenge(line)))
    }
    #expect(try session.proof().parameter("nonce") == "n2")
  }

  @Test("after a new challenge, a -sess algorithm derives a new key from the new nonces (RFC 7616 §3.6)")
  func newKey() throws {
    let line = "Digest realm=r, nonce=n2, qop=auth, algorithm=MD5-sess"
    var renewed = try session("Digest realm=r, nonce=n, qop=auth, algorithm=MD5-sess")
    _ = try renewed.proof(clientNonce: "c")
    #expect(renewed.renew(with: try digestChallenge(line)))
    var fresh = try session(line)
    let (value, expected) = (try renewed.proof(clientNonce: "d"), try fresh.proof(clientNonce: "d"))
    #expect(value.fieldValue == expected.fieldValue)
  }

  @Test("if the server reuses a recent Digest nonce, the nonce count continues from its previous value")
  func returningNonce() throws {
    var session = try session("Digest realm=r, nonce=n, qop=auth")
    func count(_ nonce: String) throws -> String? {
      #expect(session.renew(with: try digestChallenge("Digest realm=r, nonce=\(nonce), qop=auth")))
      return try session.proof().parameter("nc")
    }
    #expect(try ["n", "m", "n", "m", "n"].map(count) == ["00000001", "00000001", "00000002", "00000002", "00000003"])
    for index in 0..<DigestSession.earlierNoncesMax - 1 { _ = try count("x\(index)") }
    #expect(try count("m") == "00000003")
    for index in 0...DigestSession.earlierNoncesMax { _ = try count("y\(index)") }
    #expect(try count("m") == "00000001")
  }

  // MARK: Verification of the server

  private let challenge = "Digest realm=r, nonce=n, qop=auth, algorithm=SHA-256"

  @Test(
    "a Digest rspauth proves the server's identity only if it was computed for the request that the response answers",
    arguments: [
      ("rspauth=\"a0324a39089809cf7f1c106fe43eee9e5d9d4e4009dbb8da184379558387a332\"", .proven),
      (
        "qop=auth, nc=00000001, cnonce=\"c\", rspauth=\"A0324A39089809CF7F1C106FE43EEE9E5D9D4E4009DBB8DA184379558387A332\"",
        .proven
      ),
      ("qop=auth-int, rspauth=\"c49e0cb1daa86eb2aa7a809f22ac4b8ac0d0ba140a781f4fe1f2aed22b204d4f\"", .proven),
      ("nextnonce=x", .unproven), ("", .unproven),
      ("rspauth=\"\"", .forged),
      ("rspauth=\"b0324a39089809cf7f1c106fe43eee9e5d9d4e4009dbb8da184379558387a332\"", .forged),
      ("nc=00000002, rspauth=\"a0324a39089809cf7f1c106fe43eee9e5d9d4e4009dbb8da184379558387a332\"", .forged),
      ("cnonce=d, rspauth=\"a0324a39089809cf7f1c106fe43eee9e5d9d4e4009dbb8da184379558387a332\"", .forged),
      ("qop=x, rspauth=\"a0324a39089809cf7f1c106fe43eee9e5d9d4e4009dbb8da184379558387a332\"", .forged),
    ] as [(String, DigestProof.Verdict)])
  func verdicts(field: String, verdict: DigestProof.Verdict) throws {
    var session = try session(challenge)
    let content = MessageDigest.sha256.hash(Array("answer".utf8))
    #expect(try session.proof().verify(DigestInformation(field)) { content } == verdict)
  }

  @Test("a Digest rspauth with qop=auth-int doesn't prove the server's identity if the response's content is unknown")
  func unknownResponseContent() throws {
    var session = try session(challenge)
    let information = DigestInformation("qop=auth-int, rspauth=x, nextnonce=\"m\"")
    #expect(information.nextNonce == "m")
    #expect(try session.proof().verify(information) { nil } == .unproven)
  }

  @Test("the descriptions and mirrors of credentials, Digest sessions and Digest proofs contain no password or key")
  func secrecy() throws {
    let secret = PasswordCredential(user: "me", password: "s3cret")
    var session = try DigestSession(try digestChallenge(challenge), credential: secret)
    let proof = try session.proof()
    let key = hex(try #require(MessageDigest.sha256.hash(Array("me:r:s3cret".utf8))))
    var text = "\(secret) \(session) \(proof) \(String(reflecting: secret)) \(String(reflecting: proof))"
    dump(secret, to: &text)
    dump(session, to: &text)
    dump(proof, to: &text)
    #expect(!text.contains("s3cret") && !text.contains(key) && text.contains("PasswordCredential(user: me)"))
  }
}
