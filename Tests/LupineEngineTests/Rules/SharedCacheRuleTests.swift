// SharedCacheRuleTests: the settings with which an engine may not share cached responses.

import LupineReactor
import LupineTLS
import LupineTestSupport
import Testing

@testable import LupineEngine

@Suite struct SharedCacheRuleTests {
  @Test("settings of trust and of the route keep an engine from sharing cached responses, and other settings don't")
  func settings() throws {
    func isOwn(_ change: (inout EngineConfiguration) throws -> Void) throws -> Bool {
      var configuration = EngineConfiguration()
      try change(&configuration)
      return configuration.hasOwnTrustOrRoute
    }
    struct Resolver: HostResolver {
      func addresses(of host: String) async throws(ResolveError) -> [SocketAddress] { [] }
    }
    let address = try #require(SocketAddress(numeric: "127.0.0.1", port: 0))
    let own: [(inout EngineConfiguration) throws -> Void] = [
      { $0.tls.trustRoots = [.system, .file("/x")] }, { $0.tls.verification = .none }, { $0.tls.serverName = "x" },
      { $0.tls.maximumVersion = .v1_2 }, { $0.tls.cipherList = "x" }, { $0.tls.ocspStapling = .required },
      { $0.tls.revocationListFile = "/x" }, { $0.tls.verifier = CertificateVerifier { _ in .asFound } },
      { $0.tls.resumesSessions = false }, { $0.proxy = .fixed(try Proxy("http://p.example:1")) },
      { $0.resolver.overrides = [HostOverride(host: "x", addresses: [])] }, { $0.addressPolicy = .publicOnly },
      { $0.socketPath = "/x" }, { $0.socket.localAddress = address }, { $0.socket.interface = "lo" },
      { $0.resolver.resolver = Resolver() }, { $0.proxyVerification = .none },
    ]
    for (index, change) in own.enumerated() { #expect(try isOwn(change), "setting \(index)") }
    let shared: [(inout EngineConfiguration) throws -> Void] = [
      { _ in }, { $0.tls.keyLogFile = "/x" }, { $0.resolver.cacheAge = .zero }, { $0.socket.keepAlive = nil },
      { $0.loopCount = 2 }, { $0.limits = Limits() },
    ]
    for (index, change) in shared.enumerated() { #expect(try !isOwn(change), "setting \(index)") }
  }
}
