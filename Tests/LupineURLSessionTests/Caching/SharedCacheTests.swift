// SharedCacheTests: sessions that share a cache don't get what another session's trust or route has let in.

import Foundation
import LupineCache
import LupineEngine
import LupineLoopback
import LupineOrigin
import LupineTLS
import LupineTestSupport
import Testing

@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct SharedCacheTests {
  /// The session settings with which a server may be another one than with the default settings.
  private static let settings: [(name: String, change: @Sendable (inout EngineConfiguration) throws -> Void)] = [
    ("roots", { $0.tls.trustRoots = [.pem(try ThrowawayAuthority().certificatePEM)] }),
    ("verification", { $0.tls.verification = .none }),
    ("verifier", { $0.tls.verifier = CertificateVerifier { _ in .accept } }),
    ("version", { $0.tls.minimumVersion = .v1_3 }),
    ("overrides", { $0.resolver.overrides = [HostOverride(host: "h.example", addresses: [])] }),
    ("local address", { $0.socket.localAddress = SocketAddress(numeric: "127.0.0.1", port: 0) }),
    ("policy", { $0.addressPolicy = .only(["127.0.0.0/8"]) }),
    (
      "proxy",
      { $0.proxy = .perScheme(http: nil, https: .success(try Proxy("http://127.0.0.1:1")), bypass: .none) }
    ),
  ]

  @Test(
    "a session with its own trust in servers or its own route shares no cached responses, in memory or on disk",
    arguments: settings.map(\.name))
  func ownSettings(name: String) async throws {
    let change = try #require(Self.settings.first { $0.name == name }).change
    try await withCache(disk: 1_000_000) { fixture async throws in
      for path in ["/a", "/b"] {
        fixture.script.on(path) { _, number in
          Reply(fields: ["Cache-Control": "max-age=60, public"], .bytes(Array("\(number)".utf8)))
        }
      }
      var engine = fixture.session.configuration.engine
      try change(&engine)
      let own = fixture.sibling { [engine] in $0.engine = engine }
      #expect(try await fixture.load("/a").text == "0")
      for _ in 0..<2 { #expect(try await fixture.load("/a", in: own).text == "1") }
      #expect(try await fixture.load("/b", in: own).text == "0")
      #expect(try await fixture.load("/b").text == "1")
      for path in ["/a", "/b"] {
        let request = fixture.request(path)
        #expect(fixture.cache.cachedResponse(for: request)?.data == Data((path == "/a" ? "0" : "1").utf8))
      }
      fixture.cache.stores.waitForFiles {}
      #expect(fixture.directory.records.count == 2)
    }
  }

  @Test("sessions with the default trust and route share cached responses, whatever their other settings are")
  func defaultSettings() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a", "shared")
      try await fixture.load()
      let other = fixture.sibling {
        $0.engine.tls.keyLogFile = "/proc/none"
        $0.engine.pool.connectionsPerOriginMax = 1
        $0.engine.resolver.cacheAge = .zero
        $0.engine.socket.keepAlive = nil
        $0.timeoutIntervalForRequest = 5
      }
      let evaluation = ServerTrustEvaluation(
        isQuick: { _ in true }, mayDecide: { $0 != "localhost" }, usesStaple: false
      ) { _, _ in false }
      #expect(other.client.evaluateTrust(by: evaluation))
      let delegated = URLSession(
        configuration: other.configuration, delegate: ServerTrustChallengeTests.Silent(), delegateQueue: nil)
      for session in [other, delegated] { #expect(try await fixture.load(in: session).text == "shared") }
      #expect(fixture.script.count == 1)
    }
  }

  // MARK: Responses over TLS

  /// The ways in which a session accepts a server that the system doesn't trust.
  enum Leniency: CaseIterable { case verification, roots, evaluation, delegate }

  private func lenient(_ kind: Leniency, _ authority: ThrowawayAuthority, _ cache: URLCache) throws -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = cache
    if kind == .verification { configuration.engine.tls.verification = .none }
    if kind == .roots { configuration.engine.tls.trustRoots = [.pem(authority.certificatePEM)] }
    let delegate = kind == .delegate ? ServerTrustChallengeTests.Deciding(ServerTrustChallengeTests.accept) : nil
    let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    if kind == .evaluation {
      let evaluation = ServerTrustEvaluation(
        isQuick: { _ in true }, mayDecide: { $0 == "localhost" }, usesStaple: false
      ) { _, _ in true }
      #expect(session.client.evaluateTrust(by: evaluation))
    }
    return session
  }

  @Test(
    "what a session has received from a server that the system doesn't trust is served to no other session, nor is it in a file",
    arguments: Leniency.allCases)
  func untrusted(kind: Leniency) async throws {
    let authority = try ThrowawayAuthority()
    let identity = try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"])
    let server = try ServerIdentity(identity, authorityPEM: authority.certificatePEM)
    try await withServer(tls: server) { _ in
      Reply(fields: ["Cache-Control": "max-age=60, stale-if-error=600"], .bytes(Array("forged".utf8)))
    } _: { origin in
      let directory = CacheDirectory()
      let cache = URLCache(memoryCapacity: 1_000_000, diskCapacity: 1_000_000, folder: directory.path) { Date() }
      let session = try lenient(kind, authority, cache)
      let request = URLRequest(url: try #require(URL(string: origin.url)))
      for _ in 0..<2 { #expect(try await session.data(for: request).0 == Data("forged".utf8)) }
      #expect(origin.requestCount == 1)
      let configuration = URLSessionConfiguration.ephemeral
      configuration.urlCache = cache
      let careful = URLSession(configuration: configuration)
      for policy in [URLRequest.CachePolicy.useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad]
      {
        var request = request
        request.cachePolicy = policy
        let error = await #expect(throws: URLError.self) { try await careful.data(for: request) }
        #expect(
          error?.code == (policy == .returnCacheDataDontLoad ? .resourceUnavailable : .serverCertificateHasUnknownRoot))
      }
      #expect(cache.cachedResponse(for: request) == nil)
      cache.stores.waitForFiles {}
      #expect(directory.records.isEmpty && origin.requestCount == 1)
    }
  }

  @Test("if the delegate accepts a server itself, a 304 of that server doesn't change the response that sessions share")
  func untrustedValidation() async throws {
    let authority = try ThrowawayAuthority()
    let identity = try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"])
    let server = try ServerIdentity(identity, authorityPEM: authority.certificatePEM)
    try await withServer(tls: server) { _ in
      Reply(status: 304, fields: ["Cache-Control": "max-age=1000000", "ETag": "\"1\""])
    } _: { origin in
      let cache = URLCache(inMemory: 1_000_000)
      let request = URLRequest(url: try #require(URL(string: origin.url)))
      let url = try #require(request.url)
      let fields = ["Cache-Control": "max-age=0", "ETag": "\"1\""]
      let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields)
      let trusted = CachedURLResponse(response: try #require(head), data: Data("trusted".utf8))
      cache.storeCachedResponse(trusted, for: request)
      let session = try lenient(.delegate, authority, cache)
      #expect(try await session.data(for: request).0 == Data("trusted".utf8))
      let shared = cache.cachedResponse(for: request)?.response as? HTTPURLResponse
      #expect(shared?.value(forHTTPHeaderField: "Cache-Control") != "max-age=1000000")
    }
  }

  @Test("only a delegate's own decision about a server isolates its session from other users of the cache")
  func delegates() async throws {
    let answers: [(URLSession.AuthChallengeDisposition, isDecision: Bool)] = [
      (.performDefaultHandling, false), (.rejectProtectionSpace, true), (.cancelAuthenticationChallenge, true),
    ]
    let authority = try ThrowawayAuthority()
    let identity = try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"])
    try await withServer(tls: try ServerIdentity(identity, authorityPEM: authority.certificatePEM)) { _ in
      .text("never")
    } _: { origin in
      for (disposition, isDecision) in answers {
        let configuration = URLSessionConfiguration.ephemeral
        let delegate = ServerTrustChallengeTests.Deciding { _, complete in complete(disposition, nil) }
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        let url = try #require(URL(string: origin.url))
        await #expect(throws: URLError.self) { try await session.data(from: url) }
        #expect(delegate.hosts == ["localhost"])
        let cache = try #require(session.client.cache)
        #expect(try isIsolated(origin.url, cache) == isDecision)
      }
    }
  }

  private func isIsolated(_ url: String, _ cache: SessionCache) throws -> Bool {
    cache.request(
      EngineRequest(uri: try URI(url)), policy: .useProtocolCachePolicy, ownCookie: nil, identity: nil
    ).isIsolated
  }

  @Test("a trust evaluation isolates the https URLs of the hosts for which it decides")
  func evaluatedHosts() throws {
    let cache = SessionCache(URLCache(memoryCapacity: 1_000, diskCapacity: 0).stores)
    let request = CacheRequest(uri: try URI("https://a.example/"))
    #expect(try !isIsolated("https://a.example/", cache) && !cache.received(request).isIsolated)
    cache.isolateHosts { $0 == "a.example" }
    #expect(try isIsolated("https://A.example:1234/x", cache) && cache.received(request).isIsolated)
    #expect(try !isIsolated("http://a.example/", cache) && !isIsolated("https://b.example/", cache))
    cache.isolate()
    #expect(try isIsolated("http://a.example/", cache) && isIsolated("https://b.example/", cache))
  }
}
