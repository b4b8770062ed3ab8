// OfferTests: the choice among the challenges of a response, and refused downgrades.

import LupineWire
import Testing

@testable import LupineAuthentication

@Suite("AuthenticationOffer")
struct OfferTests {
  private func names(_ line: String) -> [String] {
    AuthenticationOffer.ranked(Challenge.parse(line)).map { offer in
      guard case .digest(let digest) = offer.content else { return "\(offer.scheme) \(offer.realm ?? "-")" }
      return "\(digest.algorithm.token) \(digest.realm)"
    }
  }

  @Test(
    "the client sorts the authentication schemes that a server offers by strength, and drops unknown or malformed challenges",
    arguments: [
      ("Basic realm=b, Digest realm=d, nonce=n, Negotiate, NTLM", ["negotiate -", "ntlm -", "MD5 d", "basic b"]),
      (
        "Digest realm=d, nonce=n, qop=auth, algorithm=MD5, Digest realm=d, nonce=n, qop=auth, algorithm=SHA-256",
        ["SHA-256 d"]
      ),
      (
        "Digest realm=d, nonce=n, qop=auth, algorithm=SHA-256, Digest realm=d, nonce=n, qop=auth, algorithm=SHA-512-256",
        ["SHA-512-256 d"]
      ),
      (
        "Digest realm=d, nonce=n, qop=auth, algorithm=SHA-512, Digest realm=e, nonce=n, qop=auth-int, algorithm=MD5",
        ["MD5 e"]
      ),
      (
        "Digest realm=a, nonce=n, Digest realm=b, nonce=n, Basic, Basic realm=c",
        ["MD5 a", "MD5 b", "basic -", "basic c"]
      ),
      ("Bearer realm=x, Digest realm=y, Negotiate not/base64-, NTLM x", []), ("", []),
      ("basic realm=\"Digest realm=d, nonce=n\"", ["basic Digest realm=d, nonce=n"]),
    ])
  func ranking(line: String, expected: [String]) {
    #expect(names(line) == expected)
  }

  @Test("the client decodes NTLM and Negotiate tokens with or without base64 padding")
  func tokens() {
    let offers = AuthenticationOffer.ranked(Challenge.parse("NTLM QQ==, Negotiate QUI"))
    #expect(offers.map(\.content) == [.negotiate(token: [0x41, 0x42]), .ntlm(token: [0x41])])
  }

  // MARK: Downgrades

  private func downgrade(to line: String, after: [String], isEncrypted: Bool = false) throws -> DowngradeRule.Downgrade?
  {
    var history = AuthenticationHistory()
    for line in after { history.record(try digestChallenge(line)) }
    let challenge = try #require(Challenge.parse(line).first)
    let offer = try #require(AuthenticationOffer(challenge))
    return DowngradeRule.downgrade(by: offer, after: history, isEncrypted: isEncrypted)
  }

  private static let digest = "Digest realm=r, nonce=n, qop=auth"

  @Test("the client doesn't use Basic without TLS if the server has offered Digest before")
  func basicInClear() throws {
    #expect(try downgrade(to: "Basic realm=r", after: [Self.digest]) == .basicInClear)
    #expect(try downgrade(to: "Basic realm=r", after: []) == nil)
    #expect(try downgrade(to: "Basic realm=r", after: [Self.digest], isEncrypted: true) == nil)
  }

  @Test("the client refuses a Digest challenge without qop if an earlier challenge of the server had a qop")
  func protectionRemoved() throws {
    let legacy = "Digest realm=r, nonce=n"
    #expect(try downgrade(to: legacy, after: [Self.digest]) == .protectionRemoved)
    #expect(try downgrade(to: legacy, after: [Self.digest, legacy]) == .protectionRemoved)
    #expect(try downgrade(to: legacy, after: [legacy]) == nil)
    #expect(try downgrade(to: Self.digest, after: [legacy]) == nil)
  }

  @Test("the client refuses a Digest challenge with a weaker hash function than in an earlier challenge of the server")
  func weakerAlgorithm() throws {
    let strong = Self.digest + ", algorithm=SHA-512-256"
    #expect(
      try downgrade(to: Self.digest + ", algorithm=SHA-256-sess", after: [Self.digest, strong])
        == .weakerAlgorithm(.sha256, after: .sha512_256))
    #expect(try downgrade(to: strong, after: [strong, Self.digest]) == nil)
    #expect(try downgrade(to: strong, after: [Self.digest]) == nil)
    for line in ["Negotiate", "NTLM"] { #expect(try downgrade(to: line, after: [strong]) == nil) }
  }
}
