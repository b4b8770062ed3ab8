// AuthenticationLimitsTests: the number of client certificates that a session remembers.

import LupineEngine
import Testing

@testable import LupineURLSession

@Suite struct AuthenticationLimitsTests {
  @Test("a session remembers the client certificates of at most 256 origins")
  func identities() {
    func origin(_ number: Int) -> Origin { Origin(scheme: .https, host: "h\(number).example", port: 443) }
    let identities = SessionIdentities()
    for number in 0..<256 { identities.choose(.anonymous, for: origin(number)) }
    #expect(identities.known(about: origin(0)) == SessionIdentities.Known.chosen(.anonymous))
    identities.choose(.anonymous, for: origin(256))
    #expect(identities.known(about: origin(0)) == nil)
    #expect(identities.known(about: origin(256)) == SessionIdentities.Known.chosen(.anonymous))
  }
}
