// NegotiateRoundsTests: Negotiate with several messages on one connection, as NTLM within SPNEGO needs them (RFC 4559 §5).

import LupineAuthentication
import LupineEngine
import Testing

@testable import LupineLogin

@Suite struct NegotiateRoundsTests {
  /// A mock security context with three steps. It sends its step's number, and expects the server's token [9] after the first.
  private struct Script: SecurityContext {
    private var count: UInt8 = 0

    init() {}

    mutating func step(_ token: [UInt8]?) throws(SecurityContextError) -> SecurityContextStep {
      count += 1
      guard count == 1 || token == [9] else { throw SecurityContextError("the token isn't the server's") }
      return count < 3 ? .proceed([count]) : .established([count], isMutual: true)
    }
  }

  @Test("each further Negotiate message answers the token of a 401, on the connection of the first message")
  func rounds() throws {
    let authentication = LoginConnection(LoginSession(Script()))
    authentication.begin(
      Login(
        party: .origin(Origin(scheme: .https, host: "h.example", port: 443)), scheme: .negotiate,
        credential: PasswordCredential(user: "", password: "")))
    let first = try #require(try authentication.prepare())
    #expect(first.value == "Negotiate AQ==" && !first.needsOpenConnection)
    for value in ["Negotiate Ag==", "Negotiate Aw=="] {
      #expect(authentication.resends(after: Challenge.parse("NTLM, Negotiate CQ==")))
      let (additions, didStart) = try authentication.start()
      let next = try #require(additions)
      #expect(!didStart)
      #expect(next.value == value && next.needsOpenConnection && next.group == first.group)
    }
    #expect(authentication.receiveSuccess(challenges: []) == .trusted)
    let later = try #require(try authentication.prepare())
    #expect(later.value == nil && later.group == first.group)
  }
}
