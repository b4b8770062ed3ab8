// ProxyTLSTests: proxies with TLS: forwarded requests, tunnels inside, and certificates that aren't the proxy's.

import LupineEngine
import LupineLoopback
import LupineOrigin
import LupineTLS
import LupineTestSupport
import Synchronization
import Testing

@Suite("ProxyTLS", .timeLimit(.minutes(10)))
struct ProxyTLSTests {
  private func engine(_ proxy: OriginServer, trusting identities: ServerIdentity...) throws -> Engine {
    var configuration = EngineConfiguration()
    configuration.proxy = .fixed(
      try Proxy(.https, host: "127.0.0.1", port: proxy.port, user: "me", password: "pw"))
    configuration.tls = TLSConfiguration(trustRoots: identities.map { .pem($0.authorityPEM) })
    return try Engine(configuration: configuration)
  }

  @Test("over TLS to the proxy, http requests with bodies larger than any buffer are forwarded on one connection")
  func forward() async throws {
    let identity = try ServerIdentity.throwaway()
    let proxy = try OriginServer(tls: identity) { peer in
      try peer.serve { request in
        #expect(request.fields.first("Proxy-Authorization") == "Basic bWU6cHc=")
        return Reply(.bytes(Array("\(request.target) ".utf8) + request.body))
      }
    }
    defer { proxy.stop() }
    let engine = try engine(proxy, trusting: identity)
    for byteCount in [0, 1, 16_384, 65_536, 3_000_000] {
      let body = Pattern.bytes(0..<byteCount)
      let request = EngineRequest(
        method: "POST", uri: try URI("http://h.example/a"), body: RequestBody(body))
      let response = try await engine.collect(request)
      #expect(response.body == Array("http://h.example/a ".utf8) + body)
    }
    #expect(proxy.connectionCount == 1)
  }

  @Test("over TLS to the proxy, https requests with bodies larger than any buffer use a tunnel")
  func tunnel() async throws {
    let (outer, inner) = (try ServerIdentity.throwaway(), try ServerIdentity.throwaway())
    let proxy = try OriginServer(tls: outer) { peer in
      guard let request = try peer.readHead() else { return }
      #expect(request.target == "127.0.0.1:9" && request.fields.first("Proxy-Authorization") == "Basic bWU6cHc=")
      try peer.send("HTTP/1.1 200 OK\r\n\r\n")
      try peer.startTLS(inner)
      try peer.serve { Reply(.bytes($0.body)) }
    }
    defer { proxy.stop() }
    let engine = try engine(proxy, trusting: outer, inner)
    for byteCount in [0, 1, 16_384, 65_536, 3_000_000] {
      let body = Pattern.bytes(0..<byteCount)
      let request = EngineRequest(
        method: "POST", uri: try URI("https://127.0.0.1:9/a"), body: RequestBody(body))
      #expect(try await engine.collect(request).body == body)
    }
    #expect(proxy.connectionCount == 1)
    let other = try self.engine(proxy, trusting: outer)
    #expect(await other.record(EngineRequest(uri: try URI("https://127.0.0.1:9/a"))).error?.code == .tlsFailed)
  }

  @Test("over TLS to a proxy, a file in the request body is encrypted, and not sent unencrypted by the kernel")
  func file() async throws {
    let identity = try ServerIdentity.throwaway()
    let proxy = try OriginServer(tls: identity) { peer in
      try peer.serve { Reply(.bytes($0.body)) }
    }
    defer { proxy.stop() }
    let engine = try engine(proxy, trusting: identity)
    let body = Pattern.bytes(0..<1_000_000)
    let file = try TemporaryFile(body)
    var content = RequestBody()
    content.append(.file(path: file.path, byteCount: UInt64(body.count)))
    let request = EngineRequest(
      method: "POST", uri: try URI("http://h.example/a"), body: content)
    #expect(try await engine.collect(request).body == body)
  }

  @Test("a TLS proxy receives no request if its certificate isn't trusted or is for another host")
  func certificates() async throws {
    let requests = Atomic(0)
    let other = try ServerIdentity.throwaway(addresses: [])
    for (identity, trusted) in [(try ServerIdentity.throwaway(), try ServerIdentity.throwaway()), (other, other)] {
      let proxy = try OriginServer(tls: identity) { peer in
        try peer.serve { _ in
          requests.add(1, ordering: .relaxed)
          return .text("in")
        }
      }
      defer { proxy.stop() }
      let engine = try engine(proxy, trusting: trusted)
      for uri in ["http://h.example/", "https://h.example/"] {
        let error = await engine.record(EngineRequest(uri: try URI(uri))).error
        #expect(error?.code == .tlsFailed && error?.phase == .proxy && error?.proxy?.scheme == .https)
      }
    }
    #expect(requests.load(ordering: .relaxed) == 0)
  }

  @Test(
    "a TLS proxy that isn't trusted receives no login, unless verification is turned off for proxies, not for origins")
  func verification() async throws {
    let identity = try ServerIdentity.throwaway()
    let logins = Atomic(0)
    let proxy = try OriginServer.serving(tls: identity) { request in
      if request.fields.first("Proxy-Authorization") == "Basic bWU6cHc=" { logins.add(1, ordering: .relaxed) }
      return .text("in")
    }
    defer { proxy.stop() }
    var configuration = EngineConfiguration()
    configuration.proxy = .fixed(
      try Proxy(.https, host: "127.0.0.1", port: proxy.port, user: "me", password: "pw"))
    configuration.tls.verification = .none
    let refused = try await Engine(configuration: configuration).record("http://h.example/")
    #expect(refused.error?.code == .tlsFailed && refused.error?.phase == .proxy)
    #expect(logins.load(ordering: .relaxed) == 0)
    // The settings for origins that need verification don't prevent it.
    configuration.tls = TLSConfiguration(
      ocspStapling: .required, verifier: CertificateVerifier { _ in .refuse(reason: "never") })
    configuration.proxyVerification = .none
    #expect(try await Engine(configuration: configuration).record("http://h.example/").text == "in")
    #expect(logins.load(ordering: .relaxed) == 1)
  }

  @Test("a TLS proxy receives no client certificate, even if it requires one")
  func identity() async throws {
    let authority = try ThrowawayAuthority()
    let server = try ServerIdentity(
      try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"]), authorityPEM: authority.certificatePEM,
      clientAuthorityPEM: authority.certificatePEM)
    let proxy = try OriginServer.serving(tls: server) { _ in .text("in") }
    defer { proxy.stop() }
    let client = try authority.issue(commonName: "A client", purpose: .client)
    var configuration = EngineConfiguration()
    configuration.proxy = .fixed(try Proxy(.https, host: "127.0.0.1", port: proxy.port))
    configuration.tls = TLSConfiguration(trustRoots: [.pem(authority.certificatePEM)])
    configuration.tls.identity = try TLSIdentity(
      certificatePEM: client.certificatePEM, privateKeyPEM: client.privateKeyPEM)
    let record = try await Engine(configuration: configuration).record("http://h.example/")
    #expect(record.error != nil && proxy.requestCount == 0)
  }

  @Test("a TLS proxy's certificate must be for the proxy's host, even if the TLS settings name another server")
  func serverName() async throws {
    let identity = try ServerIdentity.throwaway()
    let proxy = try OriginServer.serving(tls: identity) { _ in .text("in") }
    defer { proxy.stop() }
    var configuration = EngineConfiguration()
    configuration.proxy = .fixed(try Proxy(.https, host: "127.0.0.1", port: proxy.port))
    configuration.tls = TLSConfiguration(trustRoots: [.pem(identity.authorityPEM)])
    configuration.tls.serverName = "origin.example"
    let record = try await Engine(configuration: configuration).record("http://h.example/")
    #expect(record.text == "in" && record.error == nil)
  }
}
