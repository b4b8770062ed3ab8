// RevocationSubjectTests: OCSP responses and revocation lists about a certificate, good, bad and hostile.

import LupineLoopback
import LupineTLS
import Testing

@Suite("Revocation of a certificate")
struct RevocationSubjectTests {
  private let authority: ThrowawayAuthority
  private let identity: ThrowawayAuthority.Identity
  private let subject: RevocationSubject

  init() throws {
    authority = try ThrowawayAuthority()
    identity = try authority.issue(names: ["localhost"])
    subject = try Self.subject(identity, of: authority)
  }

  private static func subject(
    _ identity: ThrowawayAuthority.Identity, of authority: ThrowawayAuthority
  ) throws -> RevocationSubject {
    let chain = [try identity.certificateDER, try authority.identity.certificateDER]
    return try #require(RevocationSubject.subjects(ofChain: chain).first)
  }

  private func problem(_ body: () throws -> RevocationStatus) throws -> String {
    try #require(throws: RevocationProblem.self) { _ = try body() }.description
  }

  @Test("the client checks the revocation of each certificate in a chain except the trust anchor")
  func subjects() throws {
    let intermediate = try authority.issueAuthority()
    let leaf = try intermediate.issue(names: ["localhost"])
    let chain = try [leaf, intermediate.identity, authority.identity].map { try $0.certificateDER }
    #expect(RevocationSubject.subjects(ofChain: chain).count == 2)
    #expect(RevocationSubject.subjects(ofChain: [chain[0]]).isEmpty)
    #expect(RevocationSubject.subjects(ofChain: [[1, 2, 3], chain[1]]).isEmpty)
    #expect(RevocationSubject.subjects(ofChain: []).isEmpty)
  }

  @Test(
    "for a certificate, the client asks at most two OCSP responders and loads at most two revocation lists, all by http"
  )
  func addresses() throws {
    let many = (1...4).map { "http://127.0.0.1/\($0)" }
    let named = try authority.issue(
      responders: ["https://a.example/", "ldap://b.example/", "file:///etc/passwd"] + many, lists: ["ftp://c/"] + many)
    let subject = try Self.subject(named, of: authority)
    #expect(subject.responders == Array(many.prefix(2)))
    #expect(subject.distributionPoints == Array(many.prefix(2)))
    #expect(self.subject.responders.isEmpty && self.subject.distributionPoints.isEmpty)
  }

  @Test("a good OCSP response confirms the certificate until the response's next update")
  func good() throws {
    let request = try #require(subject.ocspRequest())
    let plain = try authority.ocspResponse(for: identity)
    let repeating = try authority.ocspResponse(for: identity, answering: request)
    for response in [plain, repeating] {
      guard case .good(let until?) = try subject.status(fromOCSP: response, answering: request) else {
        Issue.record("it isn't good")
        continue
      }
      #expect(until > 0)
    }
    let undated = try authority.ocspResponse(for: identity, nextUpdate: nil)
    #expect(try subject.status(fromOCSP: undated) == .good(until: nil))
  }

  @Test("the client refuses a replayed OCSP response, which contains another request's nonce")
  func replayed() throws {
    let (first, second) = (try #require(subject.ocspRequest()), try #require(subject.ocspRequest()))
    #expect(first != second)
    let replayed = try authority.ocspResponse(for: identity, answering: first)
    #expect(try problem { try subject.status(fromOCSP: replayed, answering: second) }.contains("nonce"))
    _ = try subject.status(fromOCSP: replayed, answering: first)
  }

  @Test("an OCSP response can report a certificate as revoked, but the status unknown neither confirms nor refuses it")
  func statuses() throws {
    guard case .revoked(let words) = try subject.status(fromOCSP: authority.ocspResponse(for: identity, .revoked))
    else {
      Issue.record("it isn't revoked")
      return
    }
    #expect(words.contains("revoked on 20"))
    #expect(
      try problem { try subject.status(fromOCSP: authority.ocspResponse(for: identity, .unknown)) }.contains("know"))
    for status in [1, 2, 3, 5, 6] as [Int32] {
      let refusal = ThrowawayAuthority.ocspRefusal(status: status)
      #expect(try problem { try subject.status(fromOCSP: refusal) }.contains("status \(status)"))
    }
  }

  @Test(
    "the client ignores an OCSP response that is outdated, for another certificate or wrongly signed, whatever its status"
  )
  func lies() throws {
    let (foreign, other) = (try ThrowawayAuthority(), try authority.issue(names: ["localhost"]))
    let server = try authority.issue(commonName: "A server")
    let foreignDelegate = try foreign.issue(purpose: .ocspResponder)
    for status in [ThrowawayAuthority.OCSPStatus.good, .revoked] {
      let responses = [
        try foreign.ocspResponse(for: identity, status),
        try authority.ocspResponse(for: identity, status, responder: foreign.identity),
        try authority.ocspResponse(for: identity, status, responder: server),
        try authority.ocspResponse(for: identity, status, responder: foreignDelegate),
        try authority.ocspResponse(for: other, status),
      ]
      for response in responses { _ = try problem { try subject.status(fromOCSP: response) } }
    }
    for status in [ThrowawayAuthority.OCSPStatus.good, .revoked] {
      for (start, end) in [(-7200, -3600), (3600, 7200), (-60, -120), (-11 * 86400, nil)] as [(Int, Int?)] {
        let response = try authority.ocspResponse(for: identity, status, thisUpdate: start, nextUpdate: end)
        _ = try problem { try subject.status(fromOCSP: response) }
      }
    }
    let delegate = try authority.issue(purpose: .ocspResponder)
    _ = try subject.status(fromOCSP: authority.ocspResponse(for: identity, responder: delegate))
  }

  @Test(
    "of an OCSP response's statuses, only those about the certificate count, and revoked takes precedence over others")
  func severalStatuses() throws {
    let other = try authority.issue(names: ["localhost"])
    func result(
      _ status: ThrowawayAuthority.OCSPStatus,
      after earlier: (identity: ThrowawayAuthority.Identity, status: ThrowawayAuthority.OCSPStatus)
    ) throws -> RevocationStatus {
      try subject.status(fromOCSP: authority.ocspResponse(for: identity, status, after: [earlier]))
    }
    for foreign in [ThrowawayAuthority.OCSPStatus.good, .revoked, .unknown] {
      guard case .good = try result(.good, after: (other, foreign)) else {
        Issue.record("it isn't good")
        continue
      }
    }
    _ = try problem { try result(.good, after: (identity, .unknown)) }
    for own in [ThrowawayAuthority.OCSPStatus.good, .unknown] {
      guard case .revoked = try result(.revoked, after: (identity, own)) else {
        Issue.record("it isn't revoked")
        continue
      }
      guard case .revoked = try result(own, after: (identity, .revoked)) else {
        Issue.record("it isn't revoked")
        continue
      }
    }
  }

  @Test("a revocation list confirms a certificate that it doesn't list, and refuses a certificate that it lists")
  func lists() throws {
    let other = try authority.issue(names: ["localhost"])
    guard case .good(_?) = try subject.status(fromList: authority.revocationList(revoking: [other])) else {
      Issue.record("it isn't good")
      return
    }
    guard
      case .revoked(let words) = try subject.status(fromList: authority.revocationList(revoking: [other, identity]))
    else {
      Issue.record("it isn't revoked")
      return
    }
    #expect(words.contains("revoked on 20"))
  }

  @Test(
    "the client ignores a revocation list that is outdated, has no next update, or isn't signed by the certificate's issuer"
  )
  func badLists() throws {
    let foreign = try ThrowawayAuthority()
    let bad = [
      try foreign.revocationList(), try foreign.revocationList(revoking: [identity]),
      try authority.revocationList(signer: foreign.identity),
      try authority.revocationList(revoking: [identity], signer: foreign.identity),
      try authority.revocationList(thisUpdate: -7200, nextUpdate: -3600),
      try authority.revocationList(thisUpdate: 3600, nextUpdate: 7200),
      try authority.revocationList(nextUpdate: nil), [], [1, 2, 3],
    ]
    for (index, list) in bad.enumerated() {
      #expect(throws: RevocationProblem.self, "\(index)") { try subject.status(fromList: list) }
    }
  }

  @Test("an altered OCSP response or revocation list never confirms or refuses a certificate, and causes no trap")
  func changed() throws {
    let response = try authority.ocspResponse(for: identity)
    let list = try authority.revocationList()
    for (original, isList) in [(response, false), (list, true)] {
      for index in original.indices {
        for bit in [0, 3, 7] {
          var bytes = original
          bytes[index] ^= 1 << UInt8(bit)
          check(bytes, isList: isList)
        }
        check(Array(original.prefix(index)), isList: isList)
      }
      check(original + [0], isList: isList)
    }
  }

  private func check(_ bytes: [UInt8], isList: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    do {
      let status = try isList ? subject.status(fromList: bytes) : subject.status(fromOCSP: bytes)
      // A change outside of the signed part has no effect, such as in an attached certificate that isn't needed.
      if case .revoked = status { Issue.record("a change made it \(status)", sourceLocation: sourceLocation) }
    } catch {
      #expect(error.description.contains("refused") || isList)
    }
  }
}
