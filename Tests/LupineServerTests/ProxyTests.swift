// ProxyTests: requests through squid and microsocks: forwarded, tunneled, with credentials, refused and bypassed.

import LupineEngine
import LupineTestSupport
import Testing

@Suite("Real proxies", .timeLimit(.minutes(10)))
struct ProxyTests {
  /// Returns an engine that uses the proxy. Throws if the proxy isn't running.
  private func engine(
    _ scheme: Proxy.Scheme, _ server: Server, user: String? = nil, password: String = "pass",
    bypass: ProxyBypass = .none
  ) async throws -> Engine {
    try server.require()
    let proxy = try Proxy(
      scheme, host: "127.0.0.1", port: server.rawValue, user: user, password: user == nil ? "" : password)
    // The servers listen only on 127.0.0.1, whatever other addresses localhost has on this machine. A SOCKS proxy with local lookups
    // gets only the first address.
    let address = try #require(SocketAddress(numeric: "127.0.0.1", port: 0))
    return try Engine.forServers {
      $0.proxy = .fixed(proxy, bypass: bypass)
      $0.resolver.overrides = [HostOverride(host: "localhost", addresses: [address])]
    }
  }

  private func cause(_ error: EngineError) throws -> ProxyError.Cause {
    guard case .proxy(let cause) = error.cause else {
      Issue.record("The error isn't a proxy error: \(error)")
      throw error
    }
    return cause.cause
  }

  // MARK: HTTP

  @Test("squid adds a Via field to a forwarded http request, and keeps the connection to the client open")
  func forward() async throws {
    let engine = try await engine(.http, .squid)
    for round in 0..<20 {
      let response = try await engine.collect(.nginx, "/small.txt")
      #expect(response.text == "small\n")
      #expect(response.field("Via")?.contains("squid") == true)
      let metric = try response.metric
      #expect(metric.connectionID == 1)
      #expect(metric.isReusedConnection == (round > 0))
      #expect(metric.remoteAddress?.port == Server.squid.rawValue)
      #expect(metric.proxy?.port == Server.squid.rawValue)
      #expect(metric.proxyStart == nil)
    }
  }

  @Test("squid passes all fields on to the origin except the proxy's credentials")
  func nothingLeaks() async throws {
    let engine = try await engine(.http, .squidLogin, user: "user")
    let response = try await engine.collect(
      .httpbin, "/anything?q=1", method: "POST",
      fields: [
        "Authorization": "Bearer mine", "Proxy-Authorization": "Basic bm90OnRoaXM=", "Content-Type": "text/plain",
      ],
      body: RequestBody("through a proxy"))
    #expect(response.status == 200)
    #expect(response.text.contains("\"Authorization\": \"Bearer mine\""))
    #expect(response.text.contains("\"data\": \"through a proxy\""))
    #expect(response.text.contains("\"Host\": \"127.0.0.1:28080\""))
    #expect(!response.text.lowercased().contains("proxy-auth"))
    #expect(!response.text.contains("dXNlcjpwYXNz") && !response.text.contains("bm90OnRoaXM="))
  }

  @Test("squid passes https to the origin through a tunnel, without a Via field")
  func connect() async throws {
    let engine = try await engine(.http, .squid)
    for server in [Server.nginxTLS, .caddyTLS] {
      for round in 0..<5 {
        let response = try await engine.collect(server, "/text.txt")
        #expect(response.text == TextPage.text)
        #expect(response.field("Via")?.contains("squid") != true)
        let metric = try response.metric
        #expect(metric.isReusedConnection == (round > 0))
        #expect((metric.proxyEnd != nil) == (round == 0))
        #expect(metric.tls?.protocolVersion == "TLSv1.3")
        #expect(metric.remoteAddress?.port == Server.squid.rawValue)
      }
    }
    #expect(try await engine.failure(.expired, "/").code == .tlsFailed)
  }

  @Test(
    "without proxy credentials, an http request gets squid's 407 response, and an https request fails with a proxy error"
  )
  func credentialsMissing() async throws {
    let engine = try await engine(.http, .squidLogin)
    let response = try await engine.collect(.nginx, "/small.txt")
    #expect(response.status == 407)
    #expect(response.field("Proxy-Authenticate")?.hasPrefix("Basic realm=") == true)
    let error = try await engine.failure(.nginxTLS, "/small.txt")
    #expect(error.code == .proxyFailed)
    #expect(error.phase == .proxy)
    #expect(error.progress == .nothingSent)
    #expect(error.proxy?.port == Server.squidLogin.rawValue)
    #expect(try cause(error) == .credentialsRequired(schemes: ["Basic"], hadCredentials: false))
    #expect(error.description.contains("http://user:password@host:port"))
  }

  @Test("http and https requests succeed with correct proxy credentials, and fail with wrong credentials")
  func credentials() async throws {
    let right = try await engine(.http, .squidLogin, user: "user")
    #expect(try await right.collect(.nginx, "/small.txt").text == "small\n")
    #expect(try await right.collect(.nginxTLS, "/small.txt").text == "small\n")
    let wrong = try await engine(.http, .squidLogin, user: "user", password: "wrong")
    #expect(try await wrong.collect(.nginx, "/small.txt").status == 407)
    let error = try await wrong.failure(.nginxTLS, "/small.txt")
    #expect(try cause(error) == .credentialsRequired(schemes: ["Basic"], hadCredentials: true))
    #expect(!error.description.contains("wrong"))
  }

  @Test(
    "if squid refuses a host, an http request gets a 403 response, and an https request fails with a proxy error")
  func hostRefused() async throws {
    let engine = try await engine(.http, .squid)
    let response = try await engine.collect(EngineRequest(uri: try URI("http://refused.example/")))
    #expect(response.status == 403)
    let error = try await engine.failure(EngineRequest(uri: try URI("https://refused.example/")))
    #expect(error.code == .proxyFailed)
    #expect(error.phase == .proxy)
    #expect(try cause(error) == .refused(status: 403))
    #expect(error.description.hasPrefix("https://refused.example through http://127.0.0.1:28128: "))
  }

  @Test("if nothing listens at the origin, squid responds to the request with 503")
  func originDown() async throws {
    let engine = try await engine(.http, .squid)
    #expect(try await engine.collect(EngineRequest(uri: try URI("http://127.0.0.1:1/"))).status == 503)
    let error = try await engine.failure(EngineRequest(uri: try URI("https://127.0.0.1:1/")))
    #expect(try cause(error) == .refused(status: 503))
  }

  @Test(
    "large bodies pass through squid in both directions, whether forwarded or tunneled",
    arguments: [Server.nginx, .nginxTLS])
  func large(server: Server) async throws {
    let engine = try await engine(.http, .squid)
    let path = "/uploads/through-squid-\(server.rawValue)"
    let body = PatternBytes.make(5_000_000)
    let put = try await engine.collect(server, path, method: "PUT", body: RequestBody(body))
    #expect([201, 204].contains(put.status))
    #expect(try await engine.collect(server, path).body == body)
    #expect(try await engine.collect(server, path, method: "DELETE").status == 204)
    let chunked = try await engine.collect(
      .apache, "/count", method: "POST",
      body: RequestBody { writer in
        for _ in 0..<10 { try await writer.write([UInt8](repeating: 1, count: 10_000)) }
      })
    #expect(chunked.text.hasPrefix("POST 100000 "))
  }

  // MARK: SOCKS

  @Test(
    "http and https requests pass through a SOCKS proxy, with local and with remote name lookups",
    arguments: [Proxy.Scheme.socks5, .socks5h])
  func socks(scheme: Proxy.Scheme) async throws {
    let engine = try await engine(scheme, .socks)
    for round in 0..<5 {
      let plain = try await engine.collect(EngineRequest(uri: try await Server.httpbin.uri("/get", host: "localhost")))
      #expect(plain.status == 200)
      #expect(plain.text.contains("\"url\": \"http://localhost:28080/get\""))
      let secure = try await engine.collect(.nginxTLS, "/small.txt")
      #expect(secure.text == "small\n")
      for metric in [try plain.metric, try secure.metric] {
        #expect(metric.isReusedConnection == (round > 0))
        #expect((metric.proxyEnd != nil) == (round == 0))
        #expect(metric.remoteAddress?.port == Server.socks.rawValue)
        #expect(round > 0 || (metric.resolveStart != nil) == (scheme == .socks5))
      }
    }
  }

  @Test("a SOCKS proxy accepts correct credentials and refuses others", arguments: [Proxy.Scheme.socks5, .socks5h])
  func socksLogin(scheme: Proxy.Scheme) async throws {
    let right = try await engine(scheme, .socksLogin, user: "user")
    #expect(try await right.collect(.nginx, "/small.txt").text == "small\n")
    #expect(try await right.collect(.nginxTLS, "/small.txt").text == "small\n")

    let wrong = try await engine(scheme, .socksLogin, user: "user", password: "wrong")
    let refused = try await wrong.failure(.nginx, "/small.txt")
    #expect(refused.code == .proxyFailed)
    #expect(refused.phase == .proxy)
    #expect(refused.progress == .nothingSent)
    guard case .credentialsRefused = try cause(refused) else {
      Issue.record("\(refused)")
      return
    }
    #expect(!refused.description.contains("wrong"))

    let missing = try await engine(scheme, .socksLogin).failure(.nginx, "/small.txt")
    #expect(missing.phase == .proxy)
    #expect(try cause(missing) == .noAcceptableMethod(hasCredentials: false))
  }

  @Test("if the destination refuses the SOCKS proxy's connection, the request fails with a SOCKS error")
  func socksRefused() async throws {
    let engine = try await engine(.socks5h, .socks)
    let error = try await engine.failure(EngineRequest(uri: try URI("http://127.0.0.1:1/")))
    #expect(error.code == .proxyFailed)
    #expect(error.phase == .proxy)
    #expect(try cause(error) == .refusedBySOCKS(.connectionRefused))
    #expect(error.description.contains("the destination refused the proxy's connection"))
  }

  @Test("a body is the same after passing through a SOCKS proxy")
  func socksLarge() async throws {
    let engine = try await engine(.socks5h, .socksLogin, user: "user")
    let body = PatternBytes.make(5_000_000)
    _ = try await engine.collect(.nginx, "/uploads/through-socks", method: "PUT", body: RequestBody(body))
    #expect(try await engine.collect(.nginx, "/uploads/through-socks").body == body)
    #expect(try await engine.collect(.nginx, "/uploads/through-socks", method: "DELETE").status == 204)
  }

  // MARK: Bypass

  @Test("the client reaches a host on the proxy bypass list directly, whether by name, address or address block")
  func bypass() async throws {
    for (list, host, isDirect) in [
      ("localhost", "localhost", true), ("localhost", "127.0.0.1", false), ("127.0.0.0/8", "127.0.0.1", true),
      ("127.0.0.1, example.com", "127.0.0.1", true), ("*", "localhost", true), ("example.com", "localhost", false),
    ] {
      let engine = try await engine(.http, .squid, bypass: ProxyBypass(list))
      let response = try await engine.collect(EngineRequest(uri: try await Server.nginx.uri("/small.txt", host: host)))
      #expect(response.text == "small\n")
      #expect((response.field("Via") == nil) == isDirect, "\(host) with \(list)")
      #expect(try (response.metric.proxy == nil) == isDirect)
    }
  }

  @Test("after a redirect from a proxied host to a host on the bypass list, the client sends the request directly")
  func redirectedAround() async throws {
    let engine = try await engine(.http, .squid, bypass: ProxyBypass("localhost"))
    try Server.nginx.require()
    let response = try await engine.collect(
      .httpbin, "/redirect-to?url=http://localhost:28082/small.txt", redirects: RedirectRule())
    #expect(response.text == "small\n")
    #expect(response.metrics.map { $0.proxy != nil } == [true, false])
  }

  @Test("the error for an unreachable proxy contains the proxy's address")
  func proxyDown() async throws {
    let engine = try Engine.forServers { $0.proxy = .fixed(try Proxy("http://user:pass@127.0.0.1:1")) }
    for server in [Server.nginx, .nginxTLS] {
      let error = try await engine.failure(server, "/")
      #expect(error.code == .connectionRefused)
      #expect(error.phase == .connect)
      #expect(error.description.contains("through http://127.0.0.1:1"))
      #expect(!error.description.contains("pass"))
    }
  }
}
