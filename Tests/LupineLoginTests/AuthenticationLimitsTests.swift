// AuthenticationLimitsTests: the numbers of servers and proxies that a session remembers, and its random client nonces.

import LupineAuthentication
import LupineEngine
import Testing

@testable import LupineLogin

@Suite struct AuthenticationLimitsTests {
  private let credential = PasswordCredential(user: "me", password: "pw")

  private func address(_ number: Int) throws -> ProxyAddress {
    try #require(ProxyAddress(try Proxy("http://p\(number).example:1")))
  }

  @Test("a session remembers the tunnels and the accepted credentials of at most 256 proxies")
  func proxies() throws {
    var connections = AuthenticatedConnections()
    func group(_ number: Int) throws -> UInt64 {
      let party = AuthenticationParty.proxy(try address(number))
      return connections.tunnelGroup(Login(party: party, scheme: .basic, credential: credential))
    }
    let first = try group(0)
    for number in 1..<256 { _ = try group(number) }
    let isKept = try group(0) == first
    #expect(isKept)
    _ = try group(256)
    let isDropped = try group(0) != first
    #expect(isDropped)

    func note(_ address: ProxyAddress) {
      connections.note(Login(party: .proxy(address), scheme: .basic, credential: credential), by: address)
    }
    for number in 0..<256 { note(try address(number)) }
    #expect(connections.accepted.count == 256)
    let last = try address(256)
    note(last)
    #expect(Array(connections.accepted.keys) == [last])
  }

  @Test("a task answers at most eight challenges in a row in which a proxy says that the Digest nonce is stale")
  func staleNoncesOfProxy() throws {
    let authentication = LoginProxy(LoginSession())
    let (proxy, request) = (try Proxy("http://me:pw@p.example:1"), EngineRequest(uri: try URI("http://h.example/")))
    func isAnswered(_ parameters: String) -> Bool {
      let challenges = Challenge.parse("Digest realm=r, qop=auth, \(parameters)")
      return authentication.resends(after: challenges, from: proxy, request)
    }
    #expect(isAnswered("nonce=n"))
    let answers = (0...8).map { isAnswered("nonce=s\($0), stale=true") }
    #expect(answers == Array(repeating: true, count: 8) + [false])
  }

  @Test("the client nonces of Digest and NTLM are random")
  func nonces() {
    let sources = AuthenticationSources()
    let texts = (0..<64).map { _ in sources.nonce() }
    // Two numbers of 64 bits have at least 20 hexadecimal digits together, except in one of 10^14 cases.
    #expect(Set(texts).count == texts.count && texts.allSatisfy { $0.utf8.count >= 20 })
    let bytes = (0..<64).map { _ in sources.bytes() }
    for index in 0..<8 {
      // Each bit is 0 in some nonces, and 1 in others.
      let (common, all) = bytes.reduce((UInt8.max, UInt8(0))) { ($0.0 & $1[index], $0.1 | $1[index]) }
      #expect(common == 0 && all == UInt8.max)
    }
  }
}
